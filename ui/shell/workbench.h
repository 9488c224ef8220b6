// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "backend.h"
#include "main_window.h"
#include "ui/models/candidate_set.h"
#include "ui/theme/theme.h"

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>

#include <map>
#include <optional>

namespace kernelwright::ui
{

class AgentDialog;

/// What happens when: carries what the person does to the backend and what the backend tells to the panes,
/// and holds the state both need. Lives on the window's thread.
class Workbench : public QObject
{
    Q_OBJECT
public:
    Workbench(MainWindow &window, Backend &backend, QObject *parent = nullptr);

    /// A model or a session, told apart by what the file holds. `device` "" leaves the choice to the engine.
    void openFile(const QString &path);
    /// Where the window was closed, or killed, with work in a session: offers to go on with it.
    void offerLastSession();
    void setDevice(const QString &device) { wantedDevice_ = device; }
    void setIterations(int iterationsPerTask) { iterations_ = iterationsPerTask; }

    /// Starts the search over the suggested tasks, or over one made of these nodes; goes on when paused.
    void optimise(const QStringList &nodes = {});
    void prompt(const QString &words);
    void accept(CandidateId id);
    void select(CandidateId id, bool byPerson);

    const CandidateSet &candidates() const { return set_; }
    CandidateId selected() const { return selected_; }
    CandidateId promptTarget() const { return promptTarget_; }
    const std::optional<WholeModelReport> &report() const { return report_; }

private:
    // Setting up (workbench.cpp).
    void makeActions();
    void makeSearchActions();
    void makeEditorActions();
    void makeViewActions();
    void connectPanes();
    void connectBackend();
    void loadSettings();

    // What the person does (workbench.cpp).
    void showOpenDialog();
    void exportCharts(bool picture);
    void chooseTheme(ThemeChoice choice);
    void evaluateEditor(CandidateId parent, const QString &source);

    // What the backend tells (workbench_events.cpp).
    void onJobChanged();
    void onSessionOpened(const SessionContent &content);
    void onModelOpened(const ModelSummary &model);
    void onProfiled(const ModelProfile &profile);
    void onTaskStarted(const Task &task);
    void onProposalStarted(const Task &task, CandidateId parent, int iteration);
    void onCandidateAdded(const Candidate &candidate);
    void onCandidateEvaluated(const Candidate &candidate);
    void onCandidateChanged(const Candidate &candidate);
    void onSearchFinished(const std::vector<TaskOutcome> &outcomes);
    void onWholeModelMeasured(const WholeModelReport &report);
    void onFailed(Job during, const Error &error);

    // The agent (workbench_agent.cpp).
    void loadAgentSettings();
    void useAgent(const AgentChoice &choice, double maximumCostUsd);
    void chooseAgent(const QString &sentence);
    void keepKey(const AgentChoice &choice);
    void listModels(AgentDialog &dialog);
    bool agentIsReady(); ///< false where the person has to give something first, which is asked for
    void showPrompt();
    void onPromptPrepared(const std::string &taskId, CandidateId parent, const AgentPrompt &prompt);
    void onSpent(const Usage &usage);
    QString spentText() const; ///< "12.3 k tokens, $0.12", "" before anything was spent

    void clearAll();
    void showConversation(const SessionContent &content);
    void announceIfBest(const Candidate &candidate);
    void showSelected();
    void showCharts();
    void endStream(); ///< shows the selected candidate again where the agent's code broke off
    void updatePromptTarget();
    void updateBudget();
    void updateActions();
    void remember(const QString &path);
    QString titleOf(CandidateId id) const;
    QString agentText() const;
    QString originOf(const Candidate &candidate) const; ///< "from #3", "" for a first one
    const std::string &taskForEdits() const;

    MainWindow &window_;
    Backend &backend_;
    QString wantedDevice_;
    int iterations_ = 8;
    AgentChoice agentChoice_; ///< its key is what was typed for this run
    double maximumCostUsd_ = 0;
    Usage spent_; ///< since the window was opened, with this agent

    OperatorGraph graph_;
    std::map<std::string, Task> tasks_;
    std::string currentTask_; ///< the one searched, or of the selected candidate
    CandidateSet set_;
    CandidateId selected_ = noCandidate;
    CandidateId promptTarget_ = noCandidate;
    bool following_ = true; ///< the selection goes with the search
    std::optional<WholeModelReport> report_;
    QString sessionPath_, modelPath_;
    int iteration_ = 0;
    QElapsedTimer elapsed_;
    QTimer clock_;                            ///< refreshes the elapsed time while a search runs
    std::map<std::string, double> announced_; ///< per task: best speed-up that was announced
    bool syncing_ = false;
};

} // namespace kernelwright::ui
