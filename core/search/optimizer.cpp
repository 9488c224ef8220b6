// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimizer.h"

#include "search_run.h"

namespace kernelwright
{

Result<std::vector<TaskOutcome>> optimize(Workspace &workspace, Session &session, Agent &agent,
                                          const SearchOptions &options, SearchControl &control,
                                          SearchObserver &observer)
{
    SearchRun search(workspace, session, agent, options, control, observer);
    if (!search.mayGoOn()) return search.outcome();
    const auto profile = search.profile();
    if (!profile) return control.cancelToken().isCancelled() ? search.outcome() : forward(profile.error());

    for (const SuggestedTask &suggestion : tasksToConsider(*profile, options)) {
        if (search.enoughTasks() || !search.mayGoOn()) break;
        if (!search.beginTask(suggestion)) continue;
        while (search.mayGoOn() && search.worthAnotherIteration()) {
            const StartingPoint start = search.chooseStart();
            if (auto candidate = search.propose(start)) search.evaluate(std::move(*candidate));
        }
        search.finishTask();
    }
    return search.outcome();
}

Result<Candidate> evaluateEdit(Workspace &workspace, Session &session, const std::string &taskId,
                               CandidateId parent, const std::string &source, const CancelToken &cancel,
                               SearchObserver &observer)
{
    Journal journal(session, observer);
    SearchContext context{workspace, session, observer, journal, cancel};
    const auto task = openTask(context, taskId);
    if (!task) return forward(task.error());

    Candidate edit;
    edit.taskId = taskId;
    edit.parent = parent;
    edit.author = "person";
    edit.summary =
        parent == noCandidate ? "Written by hand" : "Edited from candidate " + std::to_string(parent);
    edit.source = source;
    auto stored = storeCandidate(context, std::move(edit));
    if (!stored) return stored;
    return evaluateCandidate(context, std::move(*stored));
}

Result<Candidate> proposeOnce(Workspace &workspace, Session &session, Agent &agent, const Task &task,
                              CandidateId parent, const std::string &instruction, const CancelToken &cancel,
                              SearchObserver &observer, const std::optional<AgentPrompt> &prompt)
{
    Journal journal(session, observer);
    SearchContext context{workspace, session, observer, journal, cancel};
    if (auto stored = session.putTask(task); !stored) return forward(stored.error());
    if (const auto opened = openTask(context, task.id); !opened) return forward(opened.error());
    const auto history = session.candidates(task.id);
    if (!history) return forward(history.error());
    const Candidate *from = nullptr;
    for (const Candidate &candidate : *history)
        if (candidate.id == parent) from = &candidate;
    if (parent != noCandidate && !from)
        return fail(ErrorCode::BadInput,
                    "'" + task.title + "' has no candidate " + std::to_string(parent) + " to go on from");

    if (!instruction.empty()) journal.prompt(task.id, parent, instruction);
    observer.proposalStarted(task, parent, static_cast<int>(history->size()) + 1);
    AgentRequest request = agentRequest(workspace, task, from, *history, instruction);
    request.prompt = prompt;
    const auto proposal = askAgent(context, agent, request).proposal;
    if (!proposal) return forward(proposal.error());
    if (const Candidate *same = findSameSource(*history, proposal->source); same && wasJudged(*same))
        return fail(ErrorCode::NotSupported,
                    agent.name() + " proposes the same code as " + describeCandidate(*same) + " again");
    auto stored = storeCandidate(context, candidateOf(*proposal, agent, task, from, instruction));
    if (!stored) return stored;
    journal.usage(*stored, proposal->usage);
    return evaluateCandidate(context, std::move(*stored));
}

Result<AgentPrompt> promptFor(Workspace &workspace, const Session &session, const Agent &agent,
                              const Task &task, CandidateId parent, const std::string &instruction)
{
    const auto history = session.candidates(task.id);
    if (!history) return forward(history.error());
    std::vector<Candidate> judged;
    std::copy_if(history->begin(), history->end(), std::back_inserter(judged), wasJudged);
    const Candidate *from = parent == noCandidate ? chooseParent(judged).parent : nullptr;
    for (const Candidate &candidate : *history)
        if (candidate.id == parent) from = &candidate;
    if (parent != noCandidate && !from)
        return fail(ErrorCode::BadInput,
                    "'" + task.title + "' has no candidate " + std::to_string(parent) + " to go on from");
    return agent.prompt(agentRequest(workspace, task, from, *history, instruction));
}

} // namespace kernelwright
