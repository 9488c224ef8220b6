// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidates_pane.h"

#include "ui/models/candidate_set.h"
#include "ui/models/candidates_model.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"
#include "verdict_delegate.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QTreeView>

#include <algorithm>

namespace kernelwright::ui
{

CandidatesPane::CandidatesPane(const ThemeController &themes, CandidatesModel &model, QWidget *parent)
    : QWidget(parent)
    , model_(model)
    , view_(new QTreeView)
{
    proxy_.setSourceModel(&model_);
    view_->setModel(&proxy_);
    view_->setItemDelegate(new VerdictDelegate(themes, view_));
    view_->setAccessibleName(tr("Candidates"));
    view_->setIndentation(12);
    view_->setUniformRowHeights(true);
    view_->setSortingEnabled(true);
    view_->sortByColumn(CandidatesModel::Title, Qt::AscendingOrder);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    view_->header()->setStretchLastSection(false);
    fitColumns();
    connect(&themes, &ThemeController::changed, this, &CandidatesPane::fitColumns);
    hint_ = new EmptyHint(
        view_, tr("Every kernel the agent or you write is listed here with its verdict.\nPress Optimise "
                  "to get the first."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);

    connect(&model_, &QAbstractItemModel::rowsInserted, this, [this] {
        hint_->setEmpty(false);
        view_->expandAll();
    });
    connect(&model_, &QAbstractItemModel::modelReset, this,
            [this] { hint_->setEmpty(model_.rowCount() == 0); });
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &at) {
                const auto id = at.data(IdRole).toLongLong();
                if (id != noCandidate) emit candidateSelected(id);
            });
    connect(view_, &QTreeView::customContextMenuRequested, this, &CandidatesPane::openMenu);
}

void CandidatesPane::fitColumns()
{
    // By the longest text of each, so that columns do not jump while a search fills them; the title takes
    // what is left.
    static const char *const longest[] = {"", "compile error", "888.8 µs", "88.88×", "±88.8 %", "playbook"};
    QHeaderView *header = view_->header();
    header->setMinimumSectionSize(40);
    header->setSectionResizeMode(CandidatesModel::Title, QHeaderView::Stretch);
    for (int column = CandidatesModel::VerdictColumn; column < CandidatesModel::ColumnCount; ++column) {
        const QString title = model_.headerData(column, Qt::Horizontal).toString();
        const int text = std::max(fontMetrics().horizontalAdvance(QString::fromUtf8(longest[column])),
                                  fontMetrics().horizontalAdvance(title));
        header->setSectionResizeMode(column, QHeaderView::Interactive);
        header->resizeSection(column, text + 12);
    }
}

void CandidatesPane::select(CandidateId id)
{
    const QModelIndex at = proxy_.mapFromSource(model_.indexOf(id));
    if (!at.isValid()) return;
    view_->setCurrentIndex(at);
    view_->scrollTo(at);
}

CandidateId CandidatesPane::selected() const
{
    return view_->currentIndex().data(IdRole).toLongLong();
}

void CandidatesPane::openMenu(const QPoint &position)
{
    const Candidate *found = model_.candidateAt(proxy_.mapToSource(view_->indexAt(position)));
    if (!found) return;
    const Candidate candidate = *found;
    const QString name = fromText(candidate.name);
    const QString note = fromText(candidate.note);
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction *accept = menu->addAction(tr("Accept into the model"), this,
                                      [this, candidate] { emit acceptRequested(candidate.id); });
    accept->setEnabled(isTimed(candidate) && !candidate.accepted);
    menu->addAction(tr("Re-prompt from here …"), this,
                    [this, candidate] { emit repromptRequested(candidate.id); });
    menu->addSeparator();
    menu->addAction(candidate.pinned ? tr("Unpin") : tr("Pin"), this,
                    [=, this] { emit labelsChanged(candidate.id, name, note, !candidate.pinned); });
    menu->addAction(tr("Name …"), this, [=, this] {
        ask(tr("Name %1").arg(candidateTitle(candidate)), tr("Name"), name, [=, this](const QString &text) {
            emit labelsChanged(candidate.id, text, note, candidate.pinned);
        });
    });
    menu->addAction(tr("Note …"), this, [=, this] {
        ask(tr("Note on %1").arg(candidateTitle(candidate)), tr("Note"), note,
            [=, this](const QString &text) {
                emit labelsChanged(candidate.id, name, text, candidate.pinned);
            });
    });
    menu->addSeparator();
    menu->addAction(tr("Copy source"), this,
                    [candidate] { QApplication::clipboard()->setText(fromText(candidate.source)); });
    menu->popup(view_->viewport()->mapToGlobal(position));
}

void CandidatesPane::ask(const QString &title, const QString &label, const QString &text,
                         const std::function<void(const QString &)> &done)
{
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->setLabelText(label);
    dialog->setTextValue(text);
    connect(dialog, &QInputDialog::textValueSelected, this,
            [done](const QString &value) { done(value.trimmed()); });
    dialog->open();
}

} // namespace kernelwright::ui
