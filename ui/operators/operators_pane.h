// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/operators_model.h"
#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace kernelwright::ui
{

class EmptyHint;

/// Suggested tasks above, every operator below; both sort, filter, and copy as text or CSV.
class OperatorsPane : public QWidget
{
    Q_OBJECT
public:
    explicit OperatorsPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setGraph(const OperatorGraph &graph);
    void setProfile(const ModelProfile &profile);
    void highlightNodes(const QStringList &nodes);
    void selectNodes(const QStringList &nodes); ///< emits nothing
    void focusSearch();

    OperatorsModel &operators() { return *operators_; }
    TasksModel &tasks() { return *tasks_; }
    QTableView *operatorsView() { return operatorsView_; }
    QTableView *tasksView() { return tasksView_; }

signals:
    void nodesHovered(const QStringList &nodes);
    void nodesSelected(const QStringList &nodes);
    void optimiseRequested(const QStringList &nodes);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QTableView *makeTable(UnknownLastProxy &proxy, const QString &name);
    void copy(const QAbstractItemModel &model, bool commas);
    void fitColumns();
    void updateSummary();

    const ThemeController &themes_;
    OperatorGraph graph_;
    ModelProfile profile_;
    std::unique_ptr<OperatorsModel> operators_;
    std::unique_ptr<TasksModel> tasks_;
    UnknownLastProxy operatorsProxy_, tasksProxy_;
    QTableView *operatorsView_, *tasksView_;
    QLineEdit *filter_;
    QLabel *summary_;
    QPushButton *optimise_;
    EmptyHint *hint_;
    bool settingSelection_ = false;
};

} // namespace kernelwright::ui
