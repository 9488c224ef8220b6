// SPDX-License-Identifier: GPL-3.0-or-later
#include "proposal_text.h"

#include "base/text.h"

#include <cmath>

namespace kernelwright::playbook
{

namespace
{

std::string signedPercent(double factor)
{
    const double percent = 100 * (factor - 1);
    return (percent < 0 ? "−" : "+") + formatFixed(std::fabs(percent), 0) + " %";
}

std::string candidateName(const Attempt &attempt)
{
    return "candidate " + std::to_string(attempt.candidate->id);
}

int computingOperators(const OperatorGraph &graph)
{
    int count = 0;
    for (const Node &node : graph.nodes)
        count += !isViewOperator(node.op) && node.op.find("assert") == std::string::npos &&
                 node.op != "prim::getitem";
    return count;
}

// What the operators move when each runs on its own.
double separateBytes(const OperatorGraph &graph)
{
    double bytes = 0;
    for (const Node &node : graph.nodes)
        if (const std::optional<Cost> cost = nodeCost(graph, node)) bytes += cost->bytes();
    return bytes;
}

std::string stageThatFailed(const Evaluation &evaluation)
{
    for (const StageResult &stage : evaluation.stages)
        if (stage.status == StageStatus::Failed) return " in the stage '" + stage.name + "'";
    return "";
}

} // namespace

std::string describeTask(const Situation &s)
{
    const OperatorGraph &graph = s.composition->task.subgraph;
    const int count = computingOperators(graph);
    const double separate = separateBytes(graph);
    std::string text = "The task is " + std::to_string(count) + (count == 1 ? " operator" : " operators") +
                       " that " + (count == 1 ? "has" : "together have") + " to read and write " +
                       formatBytes(s.taskBytes) + ".";
    if (count > 1 && separate > s.taskBytes)
        text += " Run one by one they move " + formatBytes(separate) +
                ", because each writes its result to memory and the next one reads it "
                "back, and each pays a launch of its own.";
    if (s.floorUs > 0)
        text += " One kernel that moves everything once needs at least " + formatMicroseconds(s.floorUs) +
                " on this device" +
                (s.overheadUs > s.floorUs ? ", less than the " + formatMicroseconds(s.overheadUs) +
                                                " that an empty launch takes: here launches are what costs."
                                          : ".");
    return text;
}

std::string describeShape(const Situation &s)
{
    const KernelDomain &kernel = s.composition->main();
    if (!kernel.reduces)
        return "one thread per element, " + std::to_string(s.schedule.lanes) + " threads per block";
    return std::to_string(s.schedule.lanes) + " threads per row, " + std::to_string(kernel.passes()) +
           (kernel.passes() == 1 ? " pass" : " passes") + " over " + std::to_string(s.columns) + " columns";
}

std::string describeFirstKernel(const Situation &s)
{
    const KernelDomain &kernel = s.composition->main();
    std::string text = "I begin with the simplest kernel that can be right, so that later ones have "
                       "something to be measured against: ";
    if (kernel.reduces) {
        text += "a block of " + std::to_string(s.schedule.lanes) + " threads for each of the " +
                std::to_string(s.rows) + " rows, " + std::to_string(kernel.passes()) +
                (kernel.passes() == 1 ? " pass" : " passes") + " over its " + std::to_string(s.columns) +
                " columns, sums combined by shuffles and shared memory in a fixed order.";
        if (kernel.passes() > 1)
            text += " Each pass reads the row again; whether that costs anything, the counters will tell.";
    } else {
        text += "one thread for each of the " + std::to_string(s.columns * s.rows) +
                " elements, which it loads, computes and stores alone.";
    }
    text += " Intermediate results stay in registers and never see memory.";
    if (s.composition->kernels.size() > 1)
        text += " The outputs do not share their rows, so there are " +
                std::to_string(s.composition->kernels.size()) + " kernels.";
    const double separate = separateBytes(s.composition->task.subgraph);
    if (separate > 1.05 * s.taskBytes)
        text += " Against running the operators one by one I expect up to " +
                formatFixed(separate / s.taskBytes, 1) + "× from the traffic alone.";
    else
        text += " With one operator there is nothing to fuse; any gain has to come from how it is run.";
    return text;
}

std::string describeResult(const Attempt &attempt)
{
    if (!attempt.candidate->evaluation) return "has not been evaluated";
    const Evaluation &e = *attempt.candidate->evaluation;
    if (attempt.hasFailed)
        return std::string("was ") + verdictName(e.verdict) + stageThatFailed(e) +
               (e.reason.empty() ? "" : ": " + e.reason);
    if (attempt.latencyUs <= 0) return "was not measured";
    std::string text = "took " + formatMicroseconds(attempt.latencyUs);
    const Baseline *baseline = strongestBaseline(e);
    if (baseline && e.speedup > 0) text += ", " + formatSpeedup(e.speedup) + " as fast as " + baseline->name;
    return text;
}

std::string describeOutcome(const Attempt &attempt, const History &history,
                            const std::map<std::string, TacticText> &texts)
{
    if (!attempt.candidate->evaluation) return "";
    const auto tactic = texts.find(attempt.tactic);
    const std::string name = tactic == texts.end()
                                 ? "Candidate " + std::to_string(attempt.candidate->id)
                                 : "'" + tactic->second.title + "' (" + candidateName(attempt) + ")";
    if (attempt.hasFailed) {
        const Evaluation &e = *attempt.candidate->evaluation;
        std::string text =
            name + " " + describeResult(attempt) + (e.reason.empty() || e.reason.back() == '.' ? "" : ".");
        if (e.verdict == Verdict::CompileError && !e.compile.diagnostics.empty()) {
            const Diagnostic &first = e.compile.diagnostics.front();
            text += " The compiler's first complaint is at line " + std::to_string(first.line) + ": " +
                    first.message + ".";
        }
        return text + " So I leave that change alone.";
    }
    const Attempt *parent = history.find(attempt.candidate->parent);
    if (attempt.latencyUs <= 0) return "";
    if (!parent || parent->latencyUs <= 0 || attempt.expectedFactor <= 0)
        return name + " " + describeResult(attempt) + ".";
    const double factor = attempt.latencyUs / parent->latencyUs;
    std::string text = "From " + name + " I expected about " + signedPercent(attempt.expectedFactor) +
                       " and got " + signedPercent(factor) + " (" + formatMicroseconds(parent->latencyUs) +
                       " → " + formatMicroseconds(attempt.latencyUs) + ").";
    const double hoped = 1 - attempt.expectedFactor, got = 1 - factor;
    if (got < -0.01)
        text += " So it was slower: what it saved was not what held the kernel up, and what it cost was.";
    else if (got < 0.01)
        text += " So that was not what held it up.";
    else if (got >= 0.6 * hoped)
        text += " So the reason was right.";
    else
        text += " So it was a part of the reason, and something else holds it up now.";
    return text;
}

std::string describeForeignBase(const Attempt &base, const History &history)
{
    CandidateId from = noCandidate;
    if (history.scheduleNear(base.candidate->id, &from))
        return "Candidate " + std::to_string(base.candidate->id) +
               " has no schedule of mine; its nearest relative that has one is candidate " +
               std::to_string(from) +
               ", so I go on from that one's settings and write the kernel anew. Edits of the code itself "
               "are not carried over.";
    return "Candidate " + std::to_string(base.candidate->id) +
           " is not one of mine and none of its ancestors is, so I cannot build on its code: "
           "I write the kernel anew from the task's operators, beginning with the simplest settings.";
}

std::string describeExpectation(const std::string &what, const Situation &s, double factor)
{
    if (s.latencyUs <= 0) return what + ".";
    return what + ": I expect about " + signedPercent(factor) + ", from " + formatMicroseconds(s.latencyUs) +
           " to " + formatMicroseconds(s.latencyUs * factor) + ".";
}

std::string describeTrust(double trust)
{
    if (trust > 0.75) return "";
    return "My estimates for this task have come true by " + formatFixed(100 * trust, 0) +
           " % on average, and this one is already cut to that.";
}

std::string describeConsequences(const Situation &s, const Schedule &schedule)
{
    const std::int64_t perBlock =
        schedule.reduces ? schedule.rows : std::int64_t{schedule.lanes} * schedule.vector;
    std::int64_t blocks = ((schedule.reduces ? s.rows : s.rows * s.columns) + perBlock - 1) / perBlock;
    const std::int64_t processors = s.request->device.limits.smCount;
    if (schedule.blocksPerSm) blocks = std::min(blocks, schedule.blocksPerSm * processors);
    std::string text = "That makes " + std::to_string(blocks) + " blocks of " +
                       std::to_string(schedule.threads()) + " threads on " + std::to_string(processors) +
                       " multiprocessors";
    if (blocks < processors)
        return text + ": " + std::to_string(processors - blocks) +
               " of them get no block, so I expect it to be slower unless a block has too little to do now.";
    const std::int64_t useful = (s.columns + schedule.vector - 1) / schedule.vector;
    if (schedule.reduces && useful < schedule.lanes)
        return text + ", with work for " + std::to_string(useful) + " of the " +
               std::to_string(schedule.lanes) + " threads of a row; I expect little from it.";
    return text + ", enough for all of them; the measurement will show whether the shape fits better.";
}

std::string describeEnd(const Situation &s, bool isNearFloor)
{
    const std::string candidate = s.base ? "Candidate " + std::to_string(s.base->id) : "The kernel";
    if (isNearFloor) {
        const bool isLaunch = s.overheadUs >= s.floorUs;
        return candidate + " takes " + formatMicroseconds(s.latencyUs) +
               ", within a tenth of the least possible " + formatMicroseconds(s.leastUs()) +
               (isLaunch ? " (what an empty launch takes)" : " (moving its bytes once)") +
               ", so the playbook stops here: only a larger group of operators could give more.";
    }
    return candidate + " takes " + formatMicroseconds(s.latencyUs) +
           " and every change that its numbers speak for has been tried, so the playbook has nothing left; "
           "a language-model agent or a person may see more.";
}

} // namespace kernelwright::playbook
