// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/llm/make_agent.h"
#include "backend.h"
#include "postbox.h"
#include "work_thread.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace kernelwright::ui
{

/// The real backend: an engine behind a Workspace and the search, on a thread of their own; a session file
/// that is written as things happen.
class SearchBackend : public Backend
{
    Q_OBJECT
public:
    struct Settings
    {
        QString sessionFolder;                ///< where new sessions are made; created when needed
        AgentChoice agent{.wordDelayMs = 12}; ///< the built-in one speaks so that one can read along
        EngineCommand engine;
    };
    explicit SearchBackend(Settings settings, QObject *parent = nullptr);
    ~SearchBackend() override; ///< cancels what runs and waits for it

    void openModel(const QString &path, const QString &device) override;
    void openSession(const QString &path) override;
    void useDevice(const QString &device) override;
    void optimise(const SearchOptions &options) override;
    void pause() override;
    void resume() override;
    void stop() override;
    void prompt(const std::string &taskId, CandidateId parent, const QString &words,
                const std::optional<AgentPrompt> &edited = {}) override;
    void preparePrompt(const std::string &taskId, CandidateId parent, const QString &words) override;
    void setAgent(const AgentChoice &choice) override;
    void evaluateEdit(const std::string &taskId, CandidateId parent, const QString &source) override;
    void accept(CandidateId candidate) override;
    void setLabels(CandidateId candidate, const QString &name, const QString &note, bool pinned) override;
    void measureWholeModel() override;
    Job job() const override { return job_; }
    bool isPaused() const override { return paused_; }
    QString agentName() const override;

private:
    // On the engine's thread.
    Result<void> openDevice(const std::string &device);
    Result<void> loadModel(const SessionModel &model);
    Result<void> profile(const CancelToken &cancel);
    Result<void> prepareAgent(const AgentChoice &choice);
    Result<Task> taskOf(const std::string &taskId) const;
    Result<void> startSession(const QString &modelPath, const SessionModel &model);
    Result<SessionContent> readSession() const;
    void runJob(Job job, const std::string &text,
                const std::function<Result<void>(const CancelToken &)> &work);
    void note(const std::string &text, double fraction = -1);
    void setJob(Job job);

    /// Runs on the thread that only writes to the session.
    void changeCandidate(CandidateId candidate, const std::function<Result<void>(Session &)> &change);

    // On the window's thread.
    void enqueue(Job job, const std::string &text, std::function<Result<void>(const CancelToken &)> work,
                 bool duringSearch = false);

    Settings settings_;
    Postbox postbox_;
    std::unique_ptr<Workspace> workspace_; ///< engine thread
    std::shared_ptr<Session> session_;     ///< set on the engine thread, read under mutex_ elsewhere
    AgentChoice choice_;                   ///< window's thread
    std::unique_ptr<Agent> agent_;         ///< engine thread
    std::vector<DeviceInfo> devices_;      ///< engine thread
    Job running_ = Job::None;              ///< engine thread
    std::string runningText_;              ///< engine thread
    CancelToken jobCancel_;                ///< engine thread
    mutable std::mutex mutex_;
    std::shared_ptr<SearchControl> control_; ///< of the running search; under mutex_
    CancelToken cancel_; ///< of all jobs not finished; replaced by stop(); window's thread
    std::atomic<bool> paused_ = false;
    Job job_ = Job::None; ///< window's thread
    WorkThread writer_;
    WorkThread engine_; ///< last, so that it is joined before what its jobs use goes away
};

} // namespace kernelwright::ui
