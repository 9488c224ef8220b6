// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts_pane.h"

#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QLabel>
#include <QSaveFile>
#include <QToolButton>

namespace kernelwright::ui
{

ChartsPane::ChartsPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
{
    latency_ = new IterationChart(themes, &Theme::seriesLatency, tr("Latency"));
    occupancy_ = new IterationChart(themes, &Theme::seriesOccupancy, tr("Achieved occupancy"));
    throughput_ = new IterationChart(themes, &Theme::seriesThroughput, tr("Memory throughput"));
    title_ = new QLabel;
    setRole(title_, "muted");
    title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    key_ = new QLabel;
    key_->setToolTip(tr("The step line is the best so far; × marks candidates without a time"));
    auto *save = new QToolButton;
    save->setAccessibleName(tr("Export the charts"));
    save->setToolTip(tr("Export the charts as PNG or CSV"));
    connect(save, &QToolButton::clicked, this, &ChartsPane::exportRequested);
    const auto applyTheme = [this, save] {
        const Theme &theme = themes_.theme();
        save->setIcon(themedIcon(theme, QStringLiteral("export")));
        key_->setText(
            QStringLiteral("<span style='color:%1'>━</span> %2 &nbsp; <span style='color:%3'>✕</span> %4")
                .arg(theme.seriesBest.name(), tr("best so far"), theme.bad.name(), tr("not timed")));
    };
    connect(&themes, &ThemeController::changed, this, applyTheme);
    applyTheme();

    charts_ = new QWidget;
    auto *stack = new QVBoxLayout(charts_);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(0);
    stack->addWidget(latency_, 4);
    stack->addWidget(occupancy_, 3);
    stack->addWidget(throughput_, 3);
    hint_ = new EmptyHint(charts_,
                          tr("Latency, occupancy and memory throughput of each candidate appear here as the "
                             "search goes on.\nPress Optimise to start it."));
    auto *bar = new QWidget;
    setRole(bar, "bar");
    bar->setAttribute(Qt::WA_StyledBackground);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 3, 6, 3);
    row->addWidget(title_, 1);
    row->addWidget(key_);
    row->addWidget(save);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(bar);
    column->addWidget(hint_, 1);
    for (IterationChart *chart : {latency_, occupancy_, throughput_})
        connect(chart, &IterationChart::candidateClicked, this, &ChartsPane::candidateClicked);
}

void ChartsPane::setCandidates(const QString &taskTitle, const std::vector<Candidate> &candidates)
{
    candidates_ = candidates;
    title_->setText(taskTitle);
    title_->setToolTip(taskTitle);
    latency_->setSeries(latencySeries(candidates_));
    occupancy_->setSeries(metricSeries(candidates_, "achieved_occupancy", tr("Achieved occupancy")));
    throughput_->setSeries(metricSeries(candidates_, "dram_throughput", tr("Memory throughput")));
    hint_->setEmpty(taskTitle.isEmpty() && candidates_.empty());
}

void ChartsPane::setSelected(CandidateId candidate)
{
    for (IterationChart *chart : {latency_, occupancy_, throughput_})
        chart->setSelected(candidate);
}

Result<void> ChartsPane::exportPicture(const QString &path)
{
    if (!charts_->grab().save(path, "PNG"))
        return fail(ErrorCode::Io, "the charts could not be written to '" + path.toStdString() +
                                       "': check that the folder exists and can be written to");
    return {};
}

Result<void> ChartsPane::exportNumbers(const QString &path) const
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(iterationsAsCsv(candidates_).toUtf8()) < 0 ||
        !file.commit())
        return fail(ErrorCode::Io, "the numbers could not be written to '" + path.toStdString() +
                                       "': " + file.errorString().toStdString());
    return {};
}

} // namespace kernelwright::ui
