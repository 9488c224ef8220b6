// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph_items.h"

#include <QGraphicsView>

#include <set>

namespace kernelwright::ui
{

/// Draws a placed graph. Drag moves it, Ctrl+wheel zooms at the pointer, click selects a box, Ctrl+click
/// several, double click opens or closes a module. Speaks in box indices of the VisibleGraph it shows.
class GraphView : public QGraphicsView
{
    Q_OBJECT
public:
    explicit GraphView(const ThemeController &themes, QWidget *parent = nullptr);
    ~GraphView() override;

    void show(const VisibleGraph &graph, const GraphPlacement &placement);
    void clear();
    void setHeats(const std::vector<BoxHeat> &heats);
    void setOutlines(const std::vector<BoxItem::Outline> &outlines);
    void setHighlighted(const std::set<int> &boxes);
    void selectBoxes(const std::set<int> &boxes); ///< emits nothing
    std::vector<int> selectedBoxes() const;
    /// Fades all boxes but these; empty shows all.
    void emphasise(const std::set<int> &boxes);
    void reveal(int box);

    void zoomBy(double factor);
    void fit();
    /// As much as fits at a size that can be read, from the top of the graph.
    void showStart();

signals:
    void boxHovered(int box); ///< -1 when none is
    void boxSelectionChanged();
    void moduleToggled(const std::string &path);

protected:
    void wheelEvent(QWheelEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    BoxItem *boxAt(const QPoint &position) const;
    void applyTheme();

    const ThemeController &themes_;
    QGraphicsScene scene_;
    std::vector<BoxItem *> boxes_;
    std::vector<ArrowItem *> arrows_;
    std::vector<FrameItem *> frames_;
    int hovered_ = -1;
    bool settingSelection_ = false;
    bool touched_ = false; ///< the person has zoomed or moved: leave the view as it is
    QPoint pressedAt_;
    bool panning_ = false;
};

} // namespace kernelwright::ui
