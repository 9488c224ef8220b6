// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_fixtures.h"

#include <QFile>

#include <algorithm>

namespace kernelwright::test
{

Result<void> ScriptedAgent::canWrite(const Task &task) const
{
    for (const std::string &node : task.nodes)
        if (cannotWrite.contains(node)) return fail(ErrorCode::NotSupported, "cannot write " + node);
    return {};
}

Result<Proposal> ScriptedAgent::propose(const AgentRequest &request, const AgentStream &stream,
                                        const CancelToken &)
{
    requests.push_back(request);
    if (script_.empty()) return fail(ErrorCode::NotSupported, "nothing left to try");
    const Step step = script_.front();
    script_.pop_front();
    auto proposal = step(request);
    if (!proposal) return proposal;
    stream.onReasoning("because ");
    stream.onSource(proposal->source);
    proposal->reasoning = "because ";
    proposal->usage = {.inputTokens = 100, .outputTokens = 50, .costUsd = costUsd};
    return proposal;
}

ScriptedAgent &ScriptedAgent::then(const std::string &source)
{
    return thenDo(
        [source](const AgentRequest &) { return Proposal{.source = source, .summary = "idea: " + source}; });
}

ScriptedAgent &ScriptedAgent::thenFail(ErrorCode code, const std::string &message)
{
    return thenDo([=](const AgentRequest &) -> Result<Proposal> { return fail(code, message); });
}

ScriptedAgent &ScriptedAgent::thenDo(Step step)
{
    script_.push_back(std::move(step));
    return *this;
}

void RecordingObserver::taskFinished(const Task &task, const std::string &why)
{
    note("finished " + task.id);
    whyFinished.push_back(why);
}

void RecordingObserver::proposalStarted(const Task &, CandidateId parent, int iteration)
{
    note("proposal " + std::to_string(iteration) + " from " + std::to_string(parent));
}

void RecordingObserver::candidateAdded(const Candidate &candidate)
{
    note("added " + std::to_string(candidate.id));
    if (onAdded) onAdded(candidate);
}

void RecordingObserver::stage(CandidateId id, const StageResult &stage)
{
    note("stage " + std::to_string(id) + " " + stage.name + " " + stageStatusName(stage.status));
}

void RecordingObserver::candidateEvaluated(const Candidate &candidate)
{
    note("evaluated " + std::to_string(candidate.id) + " " + verdictName(candidate.evaluation->verdict));
    if (onEvaluated) onEvaluated(candidate);
}

bool RecordingObserver::hasChoice(const std::string &part) const
{
    return std::any_of(choices.begin(), choices.end(),
                       [&](const std::string &sentence) { return sentence.find(part) != std::string::npos; });
}

SearchFixture::SearchFixture()
    : workspace(EngineCommand{.program = SCRIPTED_ENGINE, .arguments = {folder.path()}})
{
    reopenSession();
    (void)valueOf(workspace.openDevice("simt:test"));
    (void)valueOf(workspace.openModel("/models/relus.pt2", {}));
}

void SearchFixture::reopenSession()
{
    session.reset();
    session = valueOf(Session::open(folder.filePath("s.session")));
}

Result<std::vector<TaskOutcome>> SearchFixture::search(const SearchOptions &options)
{
    return optimize(workspace, *session, agent, options, control, observer);
}

void SearchFixture::endAllEngines()
{
    QFile mark(folder.filePath("no-more-engines"));
    if (!mark.open(QIODevice::WriteOnly)) qFatal("cannot write into the test's folder");
    workspace.engine().kill();
}

SearchOptions SearchFixture::only(const std::string &node, int iterations)
{
    SearchOptions options;
    options.tasks = {{node}};
    options.iterationsPerTask = iterations;
    return options;
}

std::vector<std::string> SearchFixture::eventsOfKind(const std::string &kind) const
{
    std::vector<std::string> texts;
    for (const SessionEvent &event : valueOf(session->events()))
        if (event.kind == kind) texts.push_back(event.text);
    return texts;
}

} // namespace kernelwright::test
