// SPDX-License-Identifier: GPL-3.0-or-later
#include "operators_pane.h"

#include "base/text.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>

namespace kernelwright::ui
{

OperatorsPane::OperatorsPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
    , operators_(makeOperatorsModel())
    , tasks_(makeTasksModel())
{
    operatorsProxy_.setSourceModel(operators_.get());
    tasksProxy_.setSourceModel(tasks_.get());
    tasksView_ = makeTable(tasksProxy_, tr("Suggested tasks"));
    operatorsView_ = makeTable(operatorsProxy_, tr("Operators"));
    operatorsView_->setMouseTracking(true);
    operatorsView_->viewport()->installEventFilter(this);

    filter_ = new QLineEdit;
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setAccessibleName(tr("Filter operators"));
    filter_->setClearButtonEnabled(true);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString &text) {
        operatorsProxy_.setFilterFixedString(text);
        tasksProxy_.setFilterFixedString(text);
    });
    summary_ = new QLabel;
    setRole(summary_, "muted");
    optimise_ = new QPushButton(tr("Optimise this task"));
    connect(optimise_, &QPushButton::clicked, this, [this] {
        const QModelIndex at = tasksView_->currentIndex();
        emit optimiseRequested(at.data(IdRole).toStringList());
    });

    auto *bar = new QWidget;
    setRole(bar, "bar");
    bar->setAttribute(Qt::WA_StyledBackground);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 4, 8, 4);
    row->addWidget(filter_, 1);
    row->addWidget(summary_);
    row->addWidget(optimise_);

    auto *split = new QSplitter(Qt::Vertical);
    split->addWidget(tasksView_);
    split->addWidget(operatorsView_);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    hint_ = new EmptyHint(split, tr("Open a model to see its operators and where their time goes."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(bar);
    column->addWidget(hint_, 1);

    connect(tasksView_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &at) {
                optimise_->setEnabled(at.isValid());
                if (!settingSelection_ && at.isValid()) emit nodesSelected(at.data(IdRole).toStringList());
            });
    connect(tasksView_, &QTableView::doubleClicked, this,
            [this](const QModelIndex &at) { emit optimiseRequested(at.data(IdRole).toStringList()); });
    connect(operatorsView_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (settingSelection_) return;
        QStringList names;
        for (const QModelIndex &at : operatorsView_->selectionModel()->selectedRows())
            names << at.data(IdRole).toString();
        emit nodesSelected(names);
    });
    optimise_->setEnabled(false);
}

QTableView *OperatorsPane::makeTable(UnknownLastProxy &proxy, const QString &name)
{
    auto *view = new QTableView;
    view->setAccessibleName(name);
    view->setModel(&proxy);
    view->setSortingEnabled(true);
    view->sortByColumn(-1, Qt::DescendingOrder);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setAlternatingRowColors(true);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 8);
    view->horizontalHeader()->setHighlightSections(false);
    view->setContextMenuPolicy(Qt::CustomContextMenu);
    view->installEventFilter(this);
    connect(view, &QTableView::customContextMenuRequested, this, [this, view](const QPoint &at) {
        QMenu menu;
        menu.addAction(tr("Copy table as text"), this, [this, view] { copy(*view->model(), false); });
        menu.addAction(tr("Copy table as CSV"), this, [this, view] { copy(*view->model(), true); });
        menu.exec(view->viewport()->mapToGlobal(at));
    });
    return view;
}

void OperatorsPane::copy(const QAbstractItemModel &model, bool commas)
{
    QApplication::clipboard()->setText(commas ? tableAsCsv(model) : tableAsText(model));
}

void OperatorsPane::clear()
{
    graph_ = {};
    profile_ = {};
    operators_->setRows({});
    tasks_->setRows({});
    hint_->setEmpty(true);
    updateSummary();
}

void OperatorsPane::setGraph(const OperatorGraph &graph)
{
    clear();
    graph_ = graph;
    operators_->setRows(operatorRows(graph_, nullptr));
    hint_->setEmpty(graph_.nodes.empty());
    fitColumns();
    updateSummary();
}

void OperatorsPane::setProfile(const ModelProfile &profile)
{
    profile_ = profile;
    operators_->setRows(operatorRows(graph_, &profile_));
    tasks_->setRows(profile_.tasks);
    hint_->setEmpty(operators_->rows().empty());
    operatorsView_->sortByColumn(1, Qt::DescendingOrder);
    fitColumns();
    tasksView_->resizeColumnsToContents();
    tasksView_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    updateSummary();
}

void OperatorsPane::fitColumns()
{
    constexpr int widestName = 130;
    operatorsView_->resizeColumnsToContents();
    operatorsView_->setColumnWidth(0, std::min(operatorsView_->columnWidth(0), widestName));
}

void OperatorsPane::updateSummary()
{
    if (operators_->rows().empty()) {
        summary_->clear();
        return;
    }
    QString text = tr("%1 operators").arg(operators_->rows().size());
    if (profile_.totalUs > 0) {
        text += QStringLiteral(" · ") + fromText(formatMicroseconds(profile_.totalUs));
        if (profile_.timeSource == "model") text += tr(" modelled");
    }
    summary_->setText(text);
    summary_->setToolTip(timeSourceText(profile_.timeSource));
}

void OperatorsPane::highlightNodes(const QStringList &nodes)
{
    if (nodes.isEmpty()) return;
    for (int row = 0; row < operatorsProxy_.rowCount(); ++row)
        if (nodes.contains(operatorsProxy_.index(row, 0).data(IdRole).toString())) {
            operatorsView_->scrollTo(operatorsProxy_.index(row, 0));
            return;
        }
}

void OperatorsPane::selectNodes(const QStringList &nodes)
{
    settingSelection_ = true;
    QItemSelection selection;
    for (int row = 0; row < operatorsProxy_.rowCount(); ++row)
        if (nodes.contains(operatorsProxy_.index(row, 0).data(IdRole).toString()))
            selection.select(operatorsProxy_.index(row, 0),
                             operatorsProxy_.index(row, operators_->columnCount() - 1));
    operatorsView_->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
    settingSelection_ = false;
    highlightNodes(nodes);
}

void OperatorsPane::focusSearch()
{
    filter_->setFocus();
    filter_->selectAll();
}

bool OperatorsPane::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == operatorsView_->viewport() && event->type() == QEvent::MouseMove) {
        const QModelIndex at = operatorsView_->indexAt(static_cast<QMouseEvent *>(event)->pos());
        emit nodesHovered(at.isValid() ? QStringList{at.data(IdRole).toString()} : QStringList());
    }
    if (watched == operatorsView_->viewport() && event->type() == QEvent::Leave) emit nodesHovered({});
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent *>(event)->matches(QKeySequence::Copy))
        if (const auto *view = qobject_cast<QTableView *>(watched)) {
            copy(*view->model(), false);
            return true;
        }
    return QWidget::eventFilter(watched, event);
}

} // namespace kernelwright::ui
