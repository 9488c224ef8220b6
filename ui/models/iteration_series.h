// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts draw: one value per iteration of a task.
#pragma once

#include "kernel/candidate.h"

#include <QString>

#include <optional>
#include <utility>
#include <vector>

namespace kernelwright::ui
{

struct IterationPoint
{
    CandidateId candidate = noCandidate;
    int iteration = 0;
    double value = 0;
    double spread = 0; ///< interquartile range; 0 where the value has none
    QString label;     ///< for the tooltip
};

struct IterationSeries
{
    QString title; ///< "Latency"
    QString unit;  ///< "µs", "%"
    std::vector<IterationPoint> points;
    std::vector<IterationPoint> failures; ///< candidates without a value; `value` is unused
    /// Best value so far, as the corners of a step line (iteration, value).
    std::vector<std::pair<double, double>> bestSoFar;
    std::vector<std::pair<QString, double>> baselines; ///< horizontal lines by name
    std::optional<double> floor;
    int lastIteration = 0;
};

/// Latency of one task's candidates with baselines and floor, in the unit (µs, ms) that suits the largest
/// value.
IterationSeries latencySeries(const std::vector<Candidate> &candidates);

/// A metric of Evaluation::metrics; its best is the value of the fastest candidate so far.
IterationSeries metricSeries(const std::vector<Candidate> &candidates, const std::string &key,
                             const QString &title);

/// All series side by side: iteration, candidate, verdict, latency_us, iqr_us, one column per metric.
QString iterationsAsCsv(const std::vector<Candidate> &candidates);

} // namespace kernelwright::ui
