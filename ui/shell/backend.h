// SPDX-License-Identifier: GPL-3.0-or-later
// What the window asks for, and what it is told. The window knows engine, search and session only through
// this interface; tests put another one in its place.
#pragma once

#include "agent/llm/make_agent.h"
#include "client/workspace.h"
#include "graph/model_profile.h"
#include "kernel/candidate.h"
#include "kernel/device_info.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"
#include "search/optimizer.h"
#include "session/session.h"

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

namespace kernelwright::ui
{

/// Everything a session file holds, as read when it is opened.
struct SessionContent
{
    QString path;
    SessionModel model;
    std::optional<ModelProfile> profile;
    std::vector<Task> tasks;
    std::vector<Candidate> candidates;
    std::vector<SessionEvent> events;
    std::optional<WholeModelReport> report;
};

/// What the backend is busy with; one thing at a time, but for edits, which a search lets in between two
/// iterations.
enum class Job { None, Opening, Searching, Proposing, Evaluating, Measuring };

/// All functions return at once and are called on the window's thread; all signals are sent there.
class Backend : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    /// Opens a model in a new session; the device "" is the first GPU, else the simulator.
    virtual void openModel(const QString &path, const QString &device) = 0;
    virtual void openSession(const QString &path) = 0;
    /// Takes another device for the open model: it is profiled anew.
    virtual void useDevice(const QString &device) = 0;

    virtual void optimise(const SearchOptions &options) = 0;
    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual void stop() = 0; ///< whatever runs; what was finished stays

    /// While a search runs, its next proposal follows these words; else one proposal is made. `parent` may be
    /// noCandidate.
    virtual void prompt(const std::string &taskId, CandidateId parent, const QString &words,
                        const std::optional<AgentPrompt> &edited = {}) = 0;
    /// What the agent would be asked; promptPrepared() brings it.
    virtual void preparePrompt(const std::string &taskId, CandidateId parent, const QString &words) = 0;
    /// Who proposes from the next search or prompt on.
    virtual void setAgent(const AgentChoice &choice) = 0;
    virtual void evaluateEdit(const std::string &taskId, CandidateId parent, const QString &source) = 0;
    virtual void accept(CandidateId candidate) = 0;
    virtual void setLabels(CandidateId candidate, const QString &name, const QString &note, bool pinned) = 0;
    virtual void measureWholeModel() = 0;

    virtual Job job() const = 0;
    virtual bool isPaused() const = 0;
    virtual QString agentName() const = 0;

signals:
    void jobChanged();
    /// fraction 0 … 1, or negative where it is not known.
    void progressed(const QString &text, double fraction);
    void devicesFound(const std::vector<kernelwright::DeviceInfo> &devices);
    void deviceOpened(const kernelwright::DeviceInfo &device);
    void sessionOpened(const kernelwright::ui::SessionContent &content);
    void modelOpened(const kernelwright::ModelSummary &model);
    void profiled(const kernelwright::ModelProfile &profile);
    void taskStarted(const kernelwright::Task &task);
    void taskFinished(const kernelwright::Task &task, const QString &why);
    void proposalStarted(const kernelwright::Task &task, kernelwright::CandidateId parent, int iteration);
    void reasoned(const QString &text);
    void wrote(const QString &text);
    void candidateAdded(const kernelwright::Candidate &candidate);
    void stageReached(kernelwright::CandidateId candidate, const kernelwright::StageResult &stage);
    void candidateEvaluated(const kernelwright::Candidate &candidate);
    void candidateChanged(const kernelwright::Candidate &candidate); ///< accepted, named, pinned …
    void chose(const QString &sentence);
    void spent(const kernelwright::Usage &usage); ///< one request to the agent
    void promptPrepared(const std::string &taskId, kernelwright::CandidateId parent,
                        const kernelwright::AgentPrompt &prompt);
    void searchFinished(const std::vector<kernelwright::TaskOutcome> &outcomes);
    void wholeModelMeasured(const kernelwright::WholeModelReport &report);
    void failed(kernelwright::ui::Job during, const kernelwright::Error &error);
    void engineLine(const QString &line);
};

} // namespace kernelwright::ui
