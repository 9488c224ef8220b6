// SPDX-License-Identifier: GPL-3.0-or-later
#include "baselines.h"

#include "base/text.h"
#include "engine/measure/statistics.h"
#include "engine/measure/vendor_graph.h"
#include "engine/reference/torch_cuda.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelwright
{

namespace
{

/// The runs in turn, so that none finds its inputs in a cache.
TimedWork inRotation(std::string name, std::vector<PreparedRun> runs)
{
    struct Rotation
    {
        std::vector<PreparedRun> runs;
        std::size_t next = 0;
    };
    auto rotation = std::make_shared<Rotation>(Rotation{std::move(runs), 0});
    return {std::move(name), [rotation]() -> Result<void> {
                return rotation->runs[rotation->next++ % rotation->runs.size()]();
            }};
}

Result<std::vector<PreparedRun>> recordGraphs(EvaluationRun &run, const std::vector<PreparedRun> &runs)
{
    std::vector<PreparedRun> graphs;
    for (const PreparedRun &eager : runs) {
        auto graph = run.device.recordGraph([&](std::uint64_t stream) {
            return runOnTorchStream(run.references.torchDevice(), stream, eager);
        });
        if (!graph) return forward(graph.error());
        graphs.push_back(std::move(*graph));
    }
    return graphs;
}

void addNote(std::string &note, const std::string &text)
{
    note += (note.empty() ? "" : "; ") + text;
}

/// Largest difference between two runs' outputs, relative to the largest element of each output; infinite
/// where they do not correspond.
double largestDifference(const std::vector<HostTensor> &ours, const std::vector<HostTensor> &theirs)
{
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (ours.size() != theirs.size()) return infinite;
    double largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (ours[i].type.sizes != theirs[i].type.sizes || ours[i].type.dtype != theirs[i].type.dtype)
            return infinite;
        const std::vector<double> a = toDoubles(ours[i]), b = toDoubles(theirs[i]);
        double scale = 0, error = 0;
        for (std::size_t e = 0; e < a.size(); ++e) {
            if (std::isnan(a[e]) != std::isnan(b[e])) return infinite;
            if (std::isnan(a[e]) || a[e] == b[e]) continue;
            error = std::max(error, std::abs(a[e] - b[e]));
            scale = std::max(scale, std::abs(b[e]));
        }
        largest = std::max(largest, error > 0 ? error / scale : 0);
    }
    return largest;
}

/// The captured case by one call of the library, where it has such a call and that gives the same; nullopt
/// elsewhere.
std::optional<ShapeCase> findVendorCase(EvaluationRun &run)
{
    constexpr double largestAllowed = 0.01; // of the largest element: roundings of 16-bit types, nothing more
    const ShapeCase &captured = run.task().cases.front();
    for (VendorGuess &guess : guessVendorGraphs(captured.subgraph)) {
        ShapeCase shapes = captured;
        shapes.name += " by " + guess.name;
        shapes.subgraph = std::move(guess.graph);
        const auto ours = run.references.eager(shapes, run.prepared.capturedInputs, run.request.cancel);
        if (!ours) continue; // this LibTorch lacks it, or it refuses these tensors
        const auto theirs = run.references.eager(captured, run.prepared.capturedInputs, run.request.cancel);
        if (theirs && largestDifference(*ours, *theirs) <= largestAllowed) return shapes;
    }
    return std::nullopt;
}

/// Adds the library's own call to the works; what goes wrong with it costs itself only.
void addVendorCall(EvaluationRun &run, const MakeRuns &makeRuns, BaselineWorks &baselines)
{
    if (!run.vendorCase) run.vendorCase = findVendorCase(run);
    if (!*run.vendorCase) return;
    auto runs = makeRuns(**run.vendorCase);
    if (runs)
        baselines.works.push_back(
            inRotation("library's " + (*run.vendorCase)->subgraph.nodes.front().name, std::move(*runs)));
    else
        addNote(baselines.note, "the library's own call: " + runs.error().message);
}

} // namespace

Result<BaselineWorks> makeBaselines(EvaluationRun &run, const MakeRuns &makeRuns)
{
    BaselineWorks baselines;
    auto eager = makeRuns(run.task().cases.front());
    if (!eager) return forward(eager.error());
    auto graphs = recordGraphs(run, *eager);
    baselines.works.push_back(inRotation("eager", std::move(*eager)));
    if (graphs)
        baselines.works.push_back(inRotation("cuda graph", std::move(*graphs)));
    else if (graphs.error().code == ErrorCode::NotSupported)
        addNote(baselines.note, "no CUDA graph of eager: " + graphs.error().message);
    else
        return forward(graphs.error(), "recording eager as a CUDA graph");
    addVendorCall(run, makeRuns, baselines);
    return baselines;
}

Result<std::optional<CompiledTimes>> findCompiledTimes(EvaluationRun &run)
{
    constexpr double largestDifference = 0.02; // of the largest element: more is another computation
    const StepClock::Step step(run.clock, "torch.compile");
    auto times = run.compiledBaseline.timesOf({run.prepared, run.device.info(), run.request.measure.warmCache,
                                               run.request.measure.compiledBaseline, run.request.cancel,
                                               [&](const std::string &doing) { run.report(doing); }});
    if (!times && times.error().code == ErrorCode::Cancelled) return forward(times.error());
    std::string reason = times ? "" : times.error().message;
    if (times && !(times->maxDifference <= largestDifference))
        reason = "its results differ from eager's by " + std::to_string(times->maxDifference) +
                 " of the largest element";
    if (reason.empty()) return std::optional(std::move(*times));
    addNote(run.evaluation.baselineNote, "no torch.compile baseline: " + reason);
    return std::optional<CompiledTimes>();
}

void recordCompiled(EvaluationRun &run, const CompiledTimes &times)
{
    std::vector<TimeSample> samples;
    for (const double us : times.samplesUs)
        samples.push_back({us, us, 0});
    // Taken in another process, maybe on another day: eager's time there tells whether the two can be
    // compared.
    const double eagerThere = median(times.eagerUs);
    run.evaluation.baselines.push_back({"torch.compile", summarize(samples),
                                        "PyTorch " + times.torch + " max-autotune, " + times.source +
                                            ", where eager took " + formatMicroseconds(eagerThere),
                                        std::nullopt});
    const Baseline *strongest = strongestBaseline(run.evaluation);
    if (strongest == &run.evaluation.baselines.back()) run.baselineTimes = times.samplesUs;
}

void recordBaselines(EvaluationRun &run, const std::vector<TimedWork> &works,
                     std::span<const std::vector<TimeSample>> samples)
{
    const std::string source = "LibTorch " + torchVersion() + ", timed by " + run.evaluation.timeSource;
    double least = 0;
    for (std::size_t i = 0; i < works.size(); ++i) {
        if (samples[i].empty()) {
            addNote(run.evaluation.baselineNote,
                    "no time of '" + works[i].name + "': the clock saw none of its kernels");
            continue;
        }
        run.evaluation.baselines.push_back({works[i].name, summarize(samples[i]), source, std::nullopt});
        const double us = run.evaluation.baselines.back().latency.medianUs;
        if (run.baselineTimes.empty() || us < least) {
            run.baselineTimes = sumsOf(samples[i]);
            least = us;
        }
    }
}

} // namespace kernelwright
