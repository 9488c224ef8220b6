// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics_pane.h"

#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStringList>

#include <cmath>

namespace kernelwright::ui
{

namespace
{

enum Column { Name, Selected, Parent, Best, ColumnCount };

/// "good" or "bad" where the selected candidate's number differs from its parent's by more than a hundredth.
const char *roleOf(const MetricRow &row)
{
    if (!row.selected || !row.parent || row.better == 0) return "";
    const double change = (*row.selected - *row.parent) * row.better;
    if (std::abs(change) < 0.01 * std::abs(*row.parent)) return "";
    return change > 0 ? "good" : "bad";
}

QString cellText(const MetricRow &row, const std::optional<double> &value)
{
    return value ? metricText(*value, row.unit) : QStringLiteral("–");
}

/// "SM 1980 MHz · memory 3201 MHz · 412 W · 51 °C · 3 counter passes": what is known of it.
QString conditionsText(const Evaluation &evaluation)
{
    const MeasuringConditions &conditions = evaluation.conditions;
    QStringList parts;
    const auto add = [&](const char *before, const std::optional<double> &number, const char *unit) {
        if (number)
            parts += QString::fromUtf8(before) + QString::number(*number, 'f', 0) + QString::fromUtf8(unit);
    };
    add("SM ", conditions.smClockMhz, " MHz");
    add("memory ", conditions.memoryClockMhz, " MHz");
    add("", conditions.powerWatts, " W");
    add("", conditions.temperatureCelsius, " °C");
    if (evaluation.counterPasses > 0)
        parts += MetricsPane::tr("counters in %n pass(es)", nullptr, evaluation.counterPasses);
    if (!conditions.note.empty()) parts += fromText(conditions.note);
    return parts.join(QStringLiteral(" · "));
}

QLabel *cell(const QString &text, const char *role, Qt::Alignment alignment)
{
    auto *label = new QLabel(text);
    label->setAlignment(alignment | Qt::AlignVCenter);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setRole(label, role);
    return label;
}

} // namespace

MetricsPane::MetricsPane(const ThemeController &, QWidget *parent)
    : QWidget(parent)
    , grid_(new QGridLayout)
    , note_(new QLabel)
    , catalogue_(installedMetricCatalogue(&catalogueProblem_))
{
    note_->setWordWrap(true);
    setRole(note_, "muted");
    grid_->setHorizontalSpacing(18);
    grid_->setVerticalSpacing(2);
    grid_->setColumnStretch(Name, 1);
    auto *content = new QWidget;
    setRole(content, "surface");
    content->setAttribute(Qt::WA_StyledBackground);
    // Its height follows from its width alone; a least height for a least width would leave empty space at
    // the end.
    content->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    auto *inner = new QVBoxLayout(content);
    inner->setContentsMargins(12, 8, 12, 8);
    inner->setSpacing(8);
    inner->addWidget(note_);
    inner->addLayout(grid_);
    inner->addStretch(1);
    auto *scroll = new QScrollArea;
    scroll->setWidget(content);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("Metrics of the selected candidate"));
    hint_ =
        new EmptyHint(scroll, tr("What the device counted while a candidate ran is shown here.\nSelect an "
                                 "evaluated candidate."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);
}

void MetricsPane::emptyGrid()
{
    while (QLayoutItem *item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void MetricsPane::clear()
{
    rows_.clear();
    emptyGrid();
    hint_->setEmpty(true);
}

void MetricsPane::addHeader()
{
    const QString titles[] = {QString(), tr("selected"), tr("parent"), tr("best")};
    for (int column = Name; column < ColumnCount; ++column)
        grid_->addWidget(cell(titles[column], "muted", column == Name ? Qt::AlignLeft : Qt::AlignRight), 0,
                         column);
}

void MetricsPane::addRow(const MetricRow &row)
{
    const int at = grid_->rowCount();
    grid_->addWidget(cell(row.label, "heading", Qt::AlignLeft), at, Name);
    grid_->addWidget(cell(cellText(row, row.selected), roleOf(row), Qt::AlignRight), at, Selected);
    grid_->addWidget(cell(cellText(row, row.parent), "", Qt::AlignRight), at, Parent);
    grid_->addWidget(cell(cellText(row, row.best), "", Qt::AlignRight), at, Best);
    QLabel *sentence = cell(row.sentence, "muted", Qt::AlignLeft);
    sentence->setWordWrap(true);
    sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    sentence->setContentsMargins(0, 0, 0, 6);
    grid_->addWidget(sentence, at + 1, Name, 1, ColumnCount);
}

void MetricsPane::setCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best)
{
    rows_ = metricRows(candidate, parent, best, catalogue_);
    emptyGrid();
    hint_->setEmpty(rows_.empty());
    if (rows_.empty()) return;
    addHeader();
    for (const MetricRow &row : rows_)
        addRow(row);
    QString note = timeSourceText(candidate.evaluation->timeSource);
    if (!candidate.evaluation->device.empty())
        note = fromText(candidate.evaluation->device) + QStringLiteral(" · ") + note;
    if (!candidate.evaluation->metricsNote.empty())
        note += QStringLiteral("\n") + fromText(candidate.evaluation->metricsNote);
    for (const QString &line : {conditionsText(*candidate.evaluation), fromText(catalogueProblem_)})
        if (!line.isEmpty()) note += QStringLiteral("\n") + line;
    note_->setText(note);
}

} // namespace kernelwright::ui
