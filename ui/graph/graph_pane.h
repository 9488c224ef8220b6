// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "dot_layout.h"
#include "graph/model_profile.h"
#include "graph_view.h"

#include <QStringList>
#include <QWidget>

#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace kernelwright::ui
{

class EmptyHint;
class HeatLegend;

/// The operator graph with its tool row. Speaks in names of the model's nodes.
class GraphPane : public QWidget
{
    Q_OBJECT
public:
    explicit GraphPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setGraph(const OperatorGraph &graph);
    void setProfile(const ModelProfile &profile);
    void setCurrentTask(const QStringList &nodes); ///< outlined solidly; empty for none
    void highlightNodes(const QStringList &nodes); ///< as the pointer does; empty for none
    void selectNodes(const QStringList &nodes);
    QStringList selectedNodes() const;
    void openModule(const std::string &path, bool open);
    void focusSearch();
    void fit();

    bool isDrawn() const { return drawn_; }
    GraphView *view() { return view_; }
    const VisibleGraph &visible() const { return visible_; }
    QPushButton *optimiseButton() { return optimise_; }

signals:
    void drawn();
    void failed(const QString &sentence);
    void optimiseRequested(const QStringList &nodes);
    void nodesHovered(const QStringList &nodes);
    void nodesSelected(const QStringList &nodes);

private:
    QWidget *makeTools();
    void layOut();
    void onPlaced(const VisibleGraph &graph, const GraphPlacement &placement);
    void recolour();
    void updateOutlines();
    void updateSelectionTools();
    void search(const QString &text);
    void toggleModule(const std::string &path);
    void applyIcons();
    QStringList namesOf(const std::vector<int> &boxes) const;
    std::set<int> boxesOf(const QStringList &nodes) const;

    const ThemeController &themes_;
    OperatorGraph graph_;
    std::optional<ModelProfile> profile_;
    std::set<std::string> open_;
    VisibleGraph visible_;
    QStringList currentTask_;
    bool drawn_ = false;
    DotLayout layout_;
    GraphView *view_;
    EmptyHint *hint_;
    QLineEdit *search_;
    QComboBox *colouring_;
    QPushButton *optimise_;
    HeatLegend *legend_;
    QToolButton *fit_, *zoomIn_, *zoomOut_;
};

} // namespace kernelwright::ui
