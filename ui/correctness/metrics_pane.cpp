// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics_pane.h"

#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStyledItemDelegate>
#include <QTableView>

#include <cmath>

namespace kernelwright::ui
{

namespace
{

/// Colours the selected candidate's number by how it stands against its parent's.
class ComparisonDelegate : public QStyledItemDelegate
{
public:
    ComparisonDelegate(const ThemeController &themes, const MetricsModel &model, QObject *parent)
        : QStyledItemDelegate(parent)
        , themes_(themes)
        , model_(model)
    {}

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        const MetricRow &row = model_.row(index.row());
        if (!row.selected || !row.parent || row.better == 0) return;
        const double change = (*row.selected - *row.parent) * row.better;
        if (std::abs(change) < 0.01 * std::abs(*row.parent)) return;
        const QColor ink = change > 0 ? themes_.theme().good : themes_.theme().bad;
        for (const auto role : {QPalette::Text, QPalette::HighlightedText})
            option->palette.setColor(role, ink);
    }

private:
    const ThemeController &themes_;
    const MetricsModel &model_;
};

} // namespace

MetricsPane::MetricsPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , model_(makeMetricsModel())
    , view_(new QTableView)
    , note_(new QLabel)
{
    view_->setModel(model_.get());
    view_->setAccessibleName(tr("Metrics of the selected candidate"));
    view_->setItemDelegateForColumn(1, new ComparisonDelegate(themes, *model_, view_));
    view_->setShowGrid(false);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->verticalHeader()->hide();
    view_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view_->horizontalHeader()->setSectionResizeMode(4, QHeaderView::Stretch);
    view_->horizontalHeader()->setHighlightSections(false);
    view_->setWordWrap(true);
    note_->setWordWrap(true);
    note_->setContentsMargins(10, 6, 10, 6);
    setRole(note_, "muted");
    auto *content = new QWidget;
    setRole(content, "surface");
    content->setAttribute(Qt::WA_StyledBackground);
    auto *inner = new QVBoxLayout(content);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addWidget(note_);
    inner->addWidget(view_, 1);
    hint_ = new EmptyHint(
        content, tr("What the device counted while a candidate ran is shown here.\nSelect an evaluated "
                    "candidate."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);
}

void MetricsPane::clear()
{
    model_->setRows({});
    hint_->setEmpty(true);
}

void MetricsPane::setCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best)
{
    model_->setRows(metricRows(candidate, parent, best));
    hint_->setEmpty(model_->rows().empty());
    if (!candidate.evaluation) return;
    QString note = timeSourceText(candidate.evaluation->timeSource);
    if (!candidate.evaluation->device.empty())
        note = fromText(candidate.evaluation->device) + QStringLiteral(" · ") + note;
    if (!candidate.evaluation->metricsNote.empty())
        note += QStringLiteral("\n") + fromText(candidate.evaluation->metricsNote);
    note_->setText(note);
}

} // namespace kernelwright::ui
