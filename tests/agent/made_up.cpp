// SPDX-License-Identifier: GPL-3.0-or-later
#include "made_up.h"

namespace kernelwright::made_up
{

DeviceInfo device()
{
    DeviceInfo info;
    info.id = "cuda:0";
    info.name = "A made-up GPU";
    info.architecture = "sm_90";
    info.limits.smCount = 132;
    info.ceilings.dramBytesPerSecond = 4e12;
    info.ceilings.launchOverheadUs = 2.5;
    return info;
}

AgentRequest request(const Task &task, double floorUs)
{
    AgentRequest request;
    request.task = task;
    request.device = device();
    request.floorUs = floorUs;
    return request;
}

namespace
{

Candidate &append(AgentRequest &request, const std::string &source, Evaluation evaluation,
                  const std::string &author)
{
    Candidate candidate;
    candidate.id = static_cast<CandidateId>(request.history.size()) + 1;
    candidate.taskId = request.task.id;
    candidate.parent = request.parent ? request.parent->id : noCandidate;
    candidate.iteration = static_cast<int>(candidate.id);
    candidate.author = author;
    candidate.source = source;
    candidate.evaluation = std::move(evaluation);
    request.history.push_back(candidate);
    request.parent = candidate;
    return request.history.back();
}

} // namespace

Candidate &add(AgentRequest &request, const std::string &source, const Measured &measured,
               const std::string &author)
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::Faster;
    evaluation.latency.medianUs = measured.latencyUs;
    evaluation.latency.samples = 50;
    evaluation.floorUs = request.floorUs;
    evaluation.compile.registers = measured.registers;
    evaluation.compile.spillBytes = measured.spillBytes;
    for (const auto &[name, value] : measured.metrics)
        evaluation.metrics[name] = {value, ""};
    return append(request, source, std::move(evaluation), author);
}

Candidate &addFailed(AgentRequest &request, const std::string &source, Verdict verdict,
                     const std::string &reason)
{
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.reason = reason;
    return append(request, source, std::move(evaluation), "playbook");
}

} // namespace kernelwright::made_up
