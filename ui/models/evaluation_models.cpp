// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation_models.h"

#include "base/text.h"
#include "display_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelwright::ui
{

namespace
{

struct StageText
{
    const char *name;
    const char *sentence;
};

constexpr std::array stageTexts{
    StageText{"compile", "NVRTC turns the source into device code"},
    StageText{"smoke", "The model's own input at this place gives the reference's output"},
    StageText{"shapes", "Other sizes, odd ones among them, give the reference's output"},
    StageText{"dtypes", "Every element type the task names is within tolerance"},
    StageText{"numerics", "Large, tiny, equal, infinite and NaN inputs behave as in the reference"},
    StageText{"determinism", "Repeated runs agree"},
    StageText{"memory", "Nothing outside the buffers is written, inputs stay, outputs are fully written"},
    StageText{"measure", "The candidate and its baselines are timed in turn"},
    StageText{"recheck", "What was timed is compared once more, on inputs nobody has seen"},
};

QVariant stageDecoration(const StageResult &stage, int role)
{
    if (role == Qt::ToolTipRole) {
        const QString what = stageExplanation(stage.name);
        return stage.message.empty() ? what : what + QStringLiteral("\n") + fromText(stage.message);
    }
    if (role != Qt::DecorationRole) return {};
    return QString::fromLatin1(stageStatusName(stage.status));
}

std::optional<double> metricOf(const Candidate *candidate, const std::string &key)
{
    if (!candidate || !candidate->evaluation) return std::nullopt;
    const auto found = candidate->evaluation->metrics.find(key);
    return found == candidate->evaluation->metrics.end() ? std::nullopt : std::optional(found->second.value);
}

std::optional<double> latencyOf(const Candidate *candidate)
{
    if (!candidate || !candidate->evaluation || candidate->evaluation->latency.medianUs <= 0)
        return std::nullopt;
    return candidate->evaluation->latency.medianUs;
}

std::optional<double> energyOf(const Candidate *candidate)
{
    return candidate && candidate->evaluation ? candidate->evaluation->energyMillijoules : std::nullopt;
}

/// How near a candidate is to a roof, in percent; nothing where the roof or its place under it is not known.
template <double Roofline::*Achieved, double Roofline::*Ceiling>
std::optional<double> shareOfRoof(const Candidate *candidate)
{
    if (!candidate || !candidate->evaluation || !candidate->evaluation->roofline) return std::nullopt;
    const Roofline &roofline = *candidate->evaluation->roofline;
    if (roofline.*Ceiling <= 0 || roofline.*Achieved <= 0) return std::nullopt;
    return 100 * roofline.*Achieved / roofline.*Ceiling;
}

/// What is measured or follows from measured times, beside the device's counters.
void addMeasuredRows(const Candidate &selected, const Candidate *parent, const Candidate *best,
                     std::vector<MetricRow> &rows)
{
    const auto add = [&](const char *key, const char *label, const char *unit, const char *sentence,
                         auto valueOf, int better) {
        if (const std::optional<double> value = valueOf(&selected))
            rows.push_back({key, label, unit, sentence, value, valueOf(parent), valueOf(best), better});
    };
    add("bandwidth_share", "Share of the bandwidth", "%",
        "The bytes this task has to move, over the time taken, of what the device's memory was measured to "
        "move. Near "
        "100 % only another task would be faster.",
        shareOfRoof<&Roofline::bytesPerSecond, &Roofline::bandwidthCeiling>, +1);
    add("arithmetic_share", "Share of the arithmetic", "%",
        "The operations this task has to do, over the time taken, of what the device can do in this type.",
        shareOfRoof<&Roofline::flopsPerSecond, &Roofline::arithmeticCeiling>, +1);
    add("energy", "Energy per run", "mJ",
        "By the GPU's own meter, run after run without pauses and with warm caches. Fewer bytes moved and "
        "fewer "
        "instructions lower it.",
        energyOf, -1);
}

} // namespace

std::vector<StageResult> allStages(const std::vector<StageResult> &known)
{
    std::vector<StageResult> stages;
    for (const StageText &text : stageTexts) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const auto &s) { return s.name == text.name; });
        stages.push_back(found != known.end() ? *found : StageResult{text.name});
    }
    for (const StageResult &stage : known)
        if (std::none_of(stageTexts.begin(), stageTexts.end(),
                         [&](const auto &t) { return stage.name == t.name; }))
            stages.push_back(stage);
    return stages;
}

QString stageExplanation(const std::string &stage)
{
    for (const StageText &text : stageTexts)
        if (stage == text.name) return QString::fromUtf8(text.sentence);
    return {};
}

std::unique_ptr<StagesModel> makeStagesModel()
{
    using Row = StageResult;
    std::vector<Column<Row>> columns{
        {"Stage",
         "Stages run in this order; the first failure ends the evaluation",
         [](const Row &s) { return fromText(s.name); },
         {},
         stageDecoration},
        {"Result",
         "What was found",
         [](const Row &s) {
             if (!s.message.empty()) return fromText(s.message);
             return s.status == StageStatus::Pending ? stageExplanation(s.name)
                                                     : QString::fromLatin1(stageStatusName(s.status));
         },
         {},
         [](const Row &s, int role) {
             return role == Qt::DecorationRole ? QVariant() : stageDecoration(s, role);
         }},
        {"Time", "How long the stage took",
         [](const Row &s) {
             return s.seconds > 0 ? QStringLiteral("%1 s").arg(s.seconds, 0, 'f', 2) : QString();
         },
         [](const Row &s) { return QVariant(s.seconds); }},
    };
    return std::make_unique<StagesModel>(std::move(columns), [](const Row &s) { return fromText(s.name); });
}

std::vector<MetricRow> metricRows(const Candidate &selected, const Candidate *parent, const Candidate *best,
                                  const MetricCatalogue &catalogue)
{
    std::vector<MetricRow> rows;
    if (!selected.evaluation) return rows;
    rows.push_back({"latency", "Latency", "µs",
                    "Median time of one run with a cold cache; the floor for this task is " +
                        fromText(formatMicroseconds(selected.evaluation->floorUs)) + ".",
                    latencyOf(&selected), latencyOf(parent), latencyOf(best), -1});
    std::map<std::string, Metric> rest = selected.evaluation->metrics;
    addMeasuredRows(selected, parent, best, rows);
    const auto add = [&](const std::string &key, const QString &label, const QString &sentence, int better) {
        const auto found = rest.find(key);
        if (found == rest.end()) return;
        rows.push_back({fromText(key), label, fromText(found->second.unit), sentence, found->second.value,
                        metricOf(parent, key), metricOf(best, key), better});
        rest.erase(found);
    };
    for (const MetricExplanation &metric : catalogue.all())
        add(metric.name, fromText(metric.label), fromText(metric.says + " " + metric.improve), metric.better);
    const std::map<std::string, Metric> others = rest;
    for (const auto &[key, metric] : others) {
        QString label = fromText(key).replace(QLatin1Char('_'), QLatin1Char(' '));
        if (!label.isEmpty()) label[0] = label[0].toUpper();
        add(key, label, QString(), 0);
    }
    return rows;
}

QString metricText(double value, const QString &unit)
{
    if (unit == QStringLiteral("µs")) return fromText(formatMicroseconds(value));
    if (unit == QStringLiteral("B")) return fromText(formatBytes(value));
    const QString number = std::abs(value) >= 10000 ? fromText(formatCount(value))
                           : std::abs(value) >= 1000
                               ? QString::number(value, 'f', 0)
                               : QString::number(value, 'f', std::abs(value) >= 100 ? 0 : 1);
    return unit.isEmpty() || unit == QStringLiteral("1") ? number : number + QLatin1Char(' ') + unit;
}

} // namespace kernelwright::ui
