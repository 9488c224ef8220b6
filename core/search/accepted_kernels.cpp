// SPDX-License-Identifier: GPL-3.0-or-later
#include "accepted_kernels.h"

#include "base/text.h"
#include "strategy.h"

#include <algorithm>
#include <map>

namespace kernelwright
{

namespace
{
AcceptedKernel kernelOf(const Candidate &candidate, const Task &task)
{
    AcceptedKernel kernel;
    kernel.taskId = task.id;
    kernel.taskTitle = task.title;
    kernel.source = candidate.source;
    kernel.places.push_back(task.nodes);
    kernel.places.insert(kernel.places.end(), task.others.begin(), task.others.end());
    if (!candidate.evaluation) return kernel;
    kernel.tuning = candidate.evaluation->tuning;
    kernel.speedup = candidate.evaluation->speedup;
    if (const Baseline *baseline = strongestBaseline(*candidate.evaluation))
        kernel.savedUs = baseline->latency.medianUs - candidate.evaluation->latency.medianUs;
    return kernel;
}

double savedEverywhere(const AcceptedKernel &kernel)
{
    return kernel.savedUs * static_cast<double>(kernel.places.size());
}
} // namespace

PlacedKernels placeKernels(std::vector<AcceptedKernel> kernels)
{
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const AcceptedKernel &one, const AcceptedKernel &other) {
                         return savedEverywhere(one) > savedEverywhere(other);
                     });
    PlacedKernels placed;
    std::set<std::string> taken;
    for (AcceptedKernel &kernel : kernels) {
        const auto isTaken = [&](const std::vector<std::string> &place) { return overlaps(taken, place); };
        const std::size_t before = kernel.places.size();
        kernel.places.erase(std::remove_if(kernel.places.begin(), kernel.places.end(), isTaken),
                            kernel.places.end());
        if (kernel.places.size() < before)
            placed.conflicts.push_back("'" + kernel.taskTitle + "' is not used in " +
                                       std::to_string(before - kernel.places.size()) + " of its " +
                                       std::to_string(before) +
                                       " places: a kernel that saves more replaces operators there.");
        for (const std::vector<std::string> &place : kernel.places)
            taken.insert(place.begin(), place.end());
        if (!kernel.places.empty()) placed.kernels.push_back(std::move(kernel));
    }
    return placed;
}

Result<PlacedKernels> placeAcceptedKernels(const Session &session)
{
    const auto tasks = session.tasks();
    if (!tasks) return forward(tasks.error());
    const auto candidates = session.candidates();
    if (!candidates) return forward(candidates.error());
    std::map<std::string, const Task *> byId;
    for (const Task &task : *tasks)
        byId[task.id] = &task;

    std::vector<AcceptedKernel> kernels;
    for (const Candidate &candidate : *candidates)
        if (const auto task = byId.find(candidate.taskId); candidate.accepted && task != byId.end())
            kernels.push_back(kernelOf(candidate, *task->second));
    return placeKernels(std::move(kernels));
}

Result<std::vector<AcceptedKernel>> acceptedKernels(const Session &session)
{
    auto placed = placeAcceptedKernels(session);
    if (!placed) return forward(placed.error());
    return std::move(placed->kernels);
}

Result<WholeModelReport> applyAccepted(Workspace &workspace, Session &session, const CancelToken &cancel)
{
    const auto placed = placeAcceptedKernels(session);
    if (!placed) return forward(placed.error());
    if (placed->kernels.empty())
        return fail(ErrorCode::BadInput, "no candidate is accepted in '" + session.path().toStdString() +
                                             "': accept one, or let a search find a faster one");
    for (const std::string &conflict : placed->conflicts)
        if (auto noted = session.addEvent({.kind = "note", .text = conflict}); !noted)
            return forward(noted.error());

    const auto report = workspace.apply(placed->kernels, cancel);
    if (!report) return report;
    if (auto stored = session.setWholeModelReport(*report); !stored) return forward(stored.error());
    const std::string sentence =
        "The whole model takes " + formatMicroseconds(report->optimizedUs) + " instead of " +
        formatMicroseconds(report->baselineUs) + " (" + formatSpeedup(report->speedupMeasured) +
        ", predicted " + formatSpeedup(report->speedupPredicted) + ", " + report->timeSource + ") and is " +
        (report->withinTolerance ? "within" : "outside") + " its tolerance.";
    if (auto noted = session.addEvent({.kind = "whole model", .text = sentence}); !noted)
        return forward(noted.error());
    return report;
}

Result<WholeModelReport> applySelected(Workspace &workspace, Session &session, const OperatorGraph &graph,
                                       const KernelSelection &selection, const CancelToken &cancel)
{
    auto placed = placeAcceptedKernels(session);
    if (!placed) return forward(placed.error());
    auto chosen = selectKernels(std::move(placed->kernels), graph, selection);
    if (!chosen) return forward(chosen.error());
    return workspace.apply(*chosen, cancel);
}

} // namespace kernelwright
