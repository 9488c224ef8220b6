// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "search/optimizer.h"

#include <QTemporaryDir>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::test
{

/// The value, or the end of the test with the error's message.
template <class T>
T valueOf(Result<T> result)
{
    if (!result) qFatal("%s", result.error().message.c_str());
    return std::move(*result);
}

/// Proposes what its script says, one entry per call; when the script is used up there is nothing left to
/// try.
class ScriptedAgent : public Agent
{
public:
    using Step = std::function<Result<Proposal>(const AgentRequest &)>;

    std::string name() const override { return "scripted"; }
    Result<void> canWrite(const Task &task) const override;
    Result<Proposal> propose(const AgentRequest &request, const AgentStream &stream,
                             const CancelToken &) override;

    ScriptedAgent &then(const std::string &source);
    ScriptedAgent &thenFail(ErrorCode code, const std::string &message);
    ScriptedAgent &thenDo(Step step);

    std::set<std::string> cannotWrite; ///< node names
    double costUsd = 0;                ///< of each proposal
    std::vector<AgentRequest> requests;

private:
    std::deque<Step> script_;
};

/// Writes down what it is told, a line per call.
class RecordingObserver : public SearchObserver
{
public:
    void profiled(const ModelProfile &) override { note("profiled"); }
    void taskStarted(const Task &task) override { note("task " + task.id); }
    void taskFinished(const Task &task, const std::string &why) override;
    void proposalStarted(const Task &, CandidateId parent, int iteration) override;
    void reasoning(std::string_view text) override { reasoningText += text; }
    void source(std::string_view text) override { sourceText += text; }
    void candidateAdded(const Candidate &candidate) override;
    void stage(CandidateId id, const StageResult &stage) override;
    void candidateEvaluated(const Candidate &candidate) override;
    void candidateAccepted(const Candidate &candidate) override
    {
        note("accepted " + std::to_string(candidate.id));
    }
    void choice(const std::string &sentence) override { choices.push_back(sentence); }
    void failed(const Error &error) override { failures.push_back(error.message); }

    bool hasChoice(const std::string &part) const;

    std::vector<std::string> lines, choices, failures, whyFinished;
    std::string reasoningText, sourceText;
    std::function<void(const Candidate &)> onAdded, onEvaluated;

private:
    void note(const std::string &line) { lines.push_back(line); }
};

/// A session in a folder of its own, a workspace on a scripted engine with device and model open.
class SearchFixture
{
public:
    SearchFixture();

    Result<std::vector<TaskOutcome>> search(const SearchOptions &options = {});
    /// Options for one task alone.
    static SearchOptions only(const std::string &node, int iterations = 8);
    std::vector<std::string> eventsOfKind(const std::string &kind) const;
    void reopenSession();
    void endAllEngines(); ///< and none starts any more

    QTemporaryDir folder;
    std::unique_ptr<Session> session;
    Workspace workspace;
    ScriptedAgent agent;
    RecordingObserver observer;
    SearchControl control;
};

} // namespace kernelwright::test
