// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/backend.h"

#include <QStringList>

#include <deque>

namespace kernelwright::test
{

/// Plays a search over smallGraph() by itself, one event per turn of the event loop, and remembers what it
/// was asked. Candidates take 30, 24, 14, 15 … µs over a baseline of 20; the second fails in "smoke".
class ScriptedBackend : public ui::Backend
{
    Q_OBJECT
public:
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
    ui::Job job() const override { return job_; }
    bool isPaused() const override { return paused_; }
    QString agentName() const override { return QString::fromStdString(agent.name); }

    AgentChoice agent;   ///< as it was set last
    QStringList calls;   ///< "prompt #2: more rows per block" …
    QString failOpening; ///< when set, opening a model fails with this sentence

private:
    void then(std::function<void()> event);
    void playNext();
    void playProposal(CandidateId parent, const QString &instruction);
    void playEvaluation(Candidate candidate);
    void setJob(ui::Job job);
    Evaluation evaluationOf(const Candidate &candidate) const;

    std::deque<std::function<void()>> events_;
    bool scheduled_ = false;
    bool paused_ = false;
    ui::Job job_ = ui::Job::None;
    std::map<CandidateId, Candidate> candidates_;
    CandidateId lastId_ = 0;
    CandidateId steerFrom_ = noCandidate;
    QString steerWords_;
};

} // namespace kernelwright::test
