// SPDX-License-Identifier: GPL-3.0-or-later
// What the Correctness and Metrics panes show.
#pragma once

#include "kernel/candidate.h"
#include "kernel/metric_catalogue.h"
#include "table_model.h"

#include <memory>

namespace kernelwright::ui
{

/// The stages of an evaluation in order, those not reached yet as pending.
std::vector<StageResult> allStages(const std::vector<StageResult> &known);

/// What a stage checks, in one plain sentence; "" for a stage this program does not know.
QString stageExplanation(const std::string &stage);

using StagesModel = TableModel<StageResult>;
std::unique_ptr<StagesModel>
makeStagesModel(); ///< IdRole: the stage's name; Qt::DecorationRole: an icon's name

/// One counter of the selected candidate beside its parent's and the best one's.
struct MetricRow
{
    QString key;      ///< as in Evaluation::metrics
    QString label;    ///< "Achieved occupancy"
    QString unit;     ///< "%"
    QString sentence; ///< what it says and what usually improves it
    std::optional<double> selected, parent, best;
    int better = 0; ///< +1: higher is better, -1: lower is better, 0: depends
};

/// Latency first, then the metrics in the catalogue's order, then those the catalogue does not know, by name.
std::vector<MetricRow> metricRows(const Candidate &selected, const Candidate *parent, const Candidate *best,
                                  const MetricCatalogue &catalogue);

/// "61.2 %", "1.23 TB/s" …: a metric's number with its unit, the number kept short.
QString metricText(double value, const QString &unit);

} // namespace kernelwright::ui
