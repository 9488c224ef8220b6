// SPDX-License-Identifier: GPL-3.0-or-later
#include "iteration_series.h"

#include "base/text.h"
#include "candidate_set.h"
#include "display_text.h"
#include "evaluation_models.h"

#include <algorithm>
#include <set>

namespace kernelwright::ui
{

namespace
{

QString pointLabel(const Candidate &candidate)
{
    QString text = candidateTitle(candidate) + QStringLiteral(" · ") + verdictText(candidate);
    if (isTimed(candidate)) text += QStringLiteral(" · ") + latencyText(*candidate.evaluation);
    if (!candidate.summary.empty()) text += QStringLiteral("\n") + fromText(candidate.summary);
    return text;
}

IterationPoint pointOf(const Candidate &candidate, double value, double spread)
{
    return {candidate.id, candidate.iteration, value, spread, pointLabel(candidate)};
}

/// Adds the corners that carry a step line from its last value to (iteration, value).
void stepTo(std::vector<std::pair<double, double>> &line, double iteration, double value)
{
    if (!line.empty()) line.emplace_back(iteration, line.back().second);
    line.emplace_back(iteration, value);
}

void extendToEnd(IterationSeries &series)
{
    if (!series.bestSoFar.empty() && series.bestSoFar.back().first < series.lastIteration)
        series.bestSoFar.emplace_back(series.lastIteration, series.bestSoFar.back().second);
}

void scale(IterationSeries &series, double factor)
{
    for (IterationPoint &point : series.points) {
        point.value *= factor;
        point.spread *= factor;
    }
    for (auto &corner : series.bestSoFar)
        corner.second *= factor;
    for (auto &baseline : series.baselines)
        baseline.second *= factor;
    if (series.floor) *series.floor *= factor;
}

} // namespace

IterationSeries latencySeries(const std::vector<Candidate> &candidates)
{
    IterationSeries series{QStringLiteral("Latency"), QStringLiteral("µs")};
    double best = 0;
    double largest = 0;
    for (const Candidate &candidate : candidates) {
        series.lastIteration = std::max(series.lastIteration, candidate.iteration);
        if (!candidate.evaluation) continue;
        const Evaluation &evaluation = *candidate.evaluation;
        if (!evaluation.baselines.empty()) {
            series.baselines.clear();
            for (const Baseline &baseline : evaluation.baselines)
                series.baselines.emplace_back(fromText(baseline.name), baseline.latency.medianUs);
        }
        if (evaluation.floorUs > 0) series.floor = evaluation.floorUs;
        if (!isTimed(candidate)) {
            series.failures.push_back(pointOf(candidate, 0, 0));
            continue;
        }
        const double latency = evaluation.latency.medianUs;
        series.points.push_back(pointOf(candidate, latency, evaluation.latency.iqrUs));
        largest = std::max(largest, latency);
        if (best == 0 || latency < best) {
            best = latency;
            stepTo(series.bestSoFar, candidate.iteration, best);
        }
    }
    extendToEnd(series);
    for (const auto &baseline : series.baselines)
        largest = std::max(largest, baseline.second);
    if (largest >= 1000) {
        series.unit = QStringLiteral("ms");
        scale(series, 1e-3);
    }
    return series;
}

IterationSeries metricSeries(const std::vector<Candidate> &candidates, const std::string &key,
                             const QString &title)
{
    IterationSeries series{title, {}};
    double bestLatency = 0;
    for (const Candidate &candidate : candidates) {
        series.lastIteration = std::max(series.lastIteration, candidate.iteration);
        if (!candidate.evaluation) continue;
        const auto metric = candidate.evaluation->metrics.find(key);
        if (metric == candidate.evaluation->metrics.end()) {
            series.failures.push_back(pointOf(candidate, 0, 0));
            continue;
        }
        series.unit = fromText(metric->second.unit);
        IterationPoint point = pointOf(candidate, metric->second.value, 0);
        point.label += QStringLiteral("\n%1: %2").arg(title, metricText(point.value, series.unit));
        series.points.push_back(std::move(point));
        const double latency = candidate.evaluation->latency.medianUs;
        if (isTimed(candidate) && (bestLatency == 0 || latency < bestLatency)) {
            bestLatency = latency;
            stepTo(series.bestSoFar, candidate.iteration, metric->second.value);
        }
    }
    extendToEnd(series);
    return series;
}

QString iterationsAsCsv(const std::vector<Candidate> &candidates)
{
    std::set<std::string> keys;
    for (const Candidate &candidate : candidates)
        if (candidate.evaluation)
            for (const auto &[key, metric] : candidate.evaluation->metrics)
                keys.insert(key);
    QString text = QStringLiteral("iteration,candidate,verdict,latency_us,iqr_us,speedup");
    for (const std::string &key : keys)
        text += QLatin1Char(',') + fromText(key);
    text += QLatin1Char('\n');
    for (const Candidate &candidate : candidates) {
        text +=
            QStringLiteral("%1,%2,%3").arg(candidate.iteration).arg(candidate.id).arg(verdictText(candidate));
        const Evaluation evaluation = candidate.evaluation.value_or(Evaluation{});
        text += evaluation.latency.medianUs > 0 ? QStringLiteral(",%1,%2,%3")
                                                      .arg(evaluation.latency.medianUs)
                                                      .arg(evaluation.latency.iqrUs)
                                                      .arg(evaluation.speedup)
                                                : QStringLiteral(",,,");
        for (const std::string &key : keys) {
            const auto found = evaluation.metrics.find(key);
            text += QLatin1Char(',');
            if (found != evaluation.metrics.end()) text += QString::number(found->second.value);
        }
        text += QLatin1Char('\n');
    }
    return text;
}

} // namespace kernelwright::ui
