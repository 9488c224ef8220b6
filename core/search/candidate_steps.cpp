// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidate_steps.h"

#include "base/text.h"
#include "strategy.h"

#include <algorithm>

namespace kernelwright
{

Result<Task> openTask(SearchContext &context, const std::string &taskId)
{
    const auto tasks = context.session.tasks();
    if (!tasks) return forward(tasks.error());
    const auto known =
        std::find_if(tasks->begin(), tasks->end(), [&](const Task &task) { return task.id == taskId; });
    if (known == tasks->end()) return fail(ErrorCode::BadInput, "the session has no task '" + taskId + "'");
    if (context.workspace.hasTask(taskId)) return *known;

    const auto cut = context.workspace.cutTask(known->nodes);
    if (!cut) return forward(cut.error(), "'" + known->title + "' cannot be cut from the model");
    if (cut->id != taskId)
        return fail(ErrorCode::BadInput, "the model has changed since the session was made: '" +
                                             known->title + "' is another task now; start a new session");
    return *known;
}

AgentRequest agentRequest(const Workspace &workspace, const Task &task, const Candidate *parent,
                          const std::vector<Candidate> &history, const std::string &instruction)
{
    AgentRequest request;
    request.task = task;
    request.device = workspace.device();
    request.floorUs = floorMicroseconds(task.cost, request.device.ceilings);
    if (parent) request.parent = *parent;
    std::copy_if(history.begin(), history.end(), std::back_inserter(request.history), wasJudged);
    request.instruction = instruction;
    return request;
}

Asked askAgent(SearchContext &context, Agent &agent, const AgentRequest &request)
{
    constexpr std::size_t mostKept = 256 * 1024;
    std::string said;
    Usage spent;
    AgentStream stream;
    const auto keep = [&said](std::string_view text) {
        said += text.substr(0, std::min(text.size(), mostKept - said.size()));
    };
    stream.onReasoning = [&](std::string_view text) {
        keep(text);
        context.observer.reasoning(text);
    };
    stream.onSource = [&](std::string_view text) {
        keep(text);
        context.observer.source(text);
    };
    stream.onNote = [&](const std::string &sentence) { context.journal.choice(request.task.id, sentence); };
    stream.onSpent = [&](const Usage &usage) {
        spent += usage;
        context.observer.spent(usage);
    };
    Asked asked{agent.propose(request, stream, context.cancel), spent};
    if (asked.proposal && trimText(asked.proposal->source).empty())
        asked.proposal = fail(ErrorCode::BadInput, agent.name() + " answered without any code");
    // An agent without a stream of costs tells them with its proposal.
    if (asked.proposal && asked.spent.isNothing()) asked.spent = asked.proposal->usage;
    if (!asked.proposal) context.journal.unused(request.task.id, agent.name(), said, asked.spent);
    return asked;
}

Candidate candidateOf(const Proposal &proposal, const Agent &agent, const Task &task, const Candidate *parent,
                      const std::string &instruction)
{
    Candidate candidate;
    candidate.taskId = task.id;
    candidate.parent = parent ? parent->id : noCandidate;
    candidate.author = agent.name();
    candidate.summary = proposal.summary;
    candidate.instruction = instruction;
    candidate.reasoning = proposal.reasoning;
    candidate.source = proposal.source;
    return candidate;
}

Result<Candidate> storeCandidate(SearchContext &context, Candidate candidate)
{
    auto stored = context.session.addCandidate(std::move(candidate));
    if (!stored) return stored;
    context.journal.reasoning(*stored);
    context.observer.candidateAdded(*stored);
    return stored;
}

Result<Candidate> evaluateCandidate(SearchContext &context, Candidate candidate,
                                    std::optional<Error> *engineStart)
{
    Evaluation evaluation;
    // A candidate before this one may have taken the engine down; that it cannot come up again is not this
    // one's fault.
    if (const auto awake = context.workspace.engine().start(); !awake) {
        evaluation.reason = "not evaluated: " + awake.error().message;
        context.journal.failed(candidate.taskId, candidate.id, awake.error());
        if (engineStart) *engineStart = awake.error();
    } else {
        const CandidateId id = candidate.id;
        evaluation = context.workspace.evaluate(
            candidate.taskId, candidate.source, {}, {},
            [&context, id](const StageResult &stage) { context.observer.stage(id, stage); }, context.cancel);
    }
    candidate.evaluation = std::move(evaluation);
    if (auto stored = context.session.setEvaluation(candidate.id, *candidate.evaluation); !stored)
        return forward(stored.error());
    context.observer.candidateEvaluated(candidate);
    return candidate;
}

} // namespace kernelwright
