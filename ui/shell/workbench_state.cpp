// SPDX-License-Identifier: GPL-3.0-or-later
// What the workbench keeps in step: selection, charts, prompt target, budget, recent files.
#include "message_bar.h"
#include "ui/agent/agent_pane.h"
#include "ui/candidates/candidates_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/metrics_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/models/display_text.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "ui/welcome/welcome_page.h"
#include "workbench.h"

#include <QFileInfo>
#include <QTime>

namespace kernelwright::ui
{

namespace
{
constexpr int mostRecentFiles = 8;
}

void Workbench::clearAll()
{
    graph_ = {};
    tasks_.clear();
    currentTask_.clear();
    set_.clear();
    selected_ = noCandidate;
    promptTarget_ = noCandidate;
    following_ = true;
    report_.reset();
    announced_.clear();
    iteration_ = 0;
    elapsed_.invalidate();
    window_.graph->clear();
    window_.operators->clear();
    window_.agent->clear();
    window_.editor->clear();
    window_.candidatesModel->clear();
    window_.charts->setCandidates({}, {});
    window_.stages->clear();
    window_.metrics->clear();
    window_.result->clear();
    window_.raisePane(QStringLiteral("operators"));
    updatePromptTarget();
    updateActions();
}

void Workbench::select(CandidateId id, bool byPerson)
{
    const Candidate *candidate = set_.find(id);
    if (!candidate) return;
    const std::vector<Candidate> siblings = set_.ofTask(candidate->taskId);
    if (byPerson) {
        following_ = siblings.back().id == id;
        if (promptTarget_ != id && backend_.job() != Job::Searching) {
            promptTarget_ = id;
        }
    }
    selected_ = id;
    const bool otherTask = currentTask_ != candidate->taskId;
    currentTask_ = candidate->taskId;
    syncing_ = true;
    window_.candidates->select(id);
    syncing_ = false;
    const Candidate *best = set_.best(candidate->taskId);
    if (byPerson || window_.editor->state() != EditorPane::State::Draft)
        window_.editor->showCandidate(*candidate, set_.find(candidate->parent), best);
    showSelected();
    if (otherTask || byPerson) showCharts();
    updatePromptTarget();
    updateActions();
}

void Workbench::showSelected()
{
    const Candidate *candidate = set_.find(selected_);
    if (!candidate) return;
    const Candidate *parent = set_.find(candidate->parent);
    const Candidate *best = set_.best(candidate->taskId);
    window_.editor->updateCandidate(*candidate, parent, best);
    window_.stages->setCandidate(*candidate);
    window_.metrics->setCandidate(*candidate, parent, best);
    window_.charts->setSelected(selected_);
}

void Workbench::endStream()
{
    window_.editor->abandonStream();
    const Candidate *candidate = set_.find(selected_);
    if (candidate && window_.editor->state() == EditorPane::State::Empty)
        window_.editor->showCandidate(*candidate, set_.find(candidate->parent), set_.best(candidate->taskId));
}

void Workbench::showCharts()
{
    const auto task = tasks_.find(currentTask_);
    window_.charts->setCandidates(task == tasks_.end() ? QString() : fromText(task->second.title),
                                  set_.ofTask(currentTask_));
    window_.charts->setSelected(selected_);
}

void Workbench::updatePromptTarget()
{
    window_.agent->setPromptTarget(titleOf(promptTarget_));
    window_.agent->setPromptEnabled(
        !currentTask_.empty(), currentTask_.empty()
                                   ? tr("Press Optimise first; then you can steer the agent from here")
                                   : tr("Steer the agent: “more rows per block”, “use shared memory” …"));
}

void Workbench::updateBudget()
{
    const Job job = backend_.job();
    if (job == Job::Searching || job == Job::Proposing) {
        const QString time = QTime(0, 0)
                                 .addMSecs(static_cast<int>(elapsed_.isValid() ? elapsed_.elapsed() : 0))
                                 .toString(QStringLiteral("m:ss"));
        const QString spent = spentText();
        window_.agent->setBudget(tr("Iteration %1 of %2 · %3 · %4")
                                     .arg(iteration_)
                                     .arg(iterations_)
                                     .arg(time, backend_.agentName()) +
                                 (spent.isEmpty() ? QString() : QStringLiteral(" · ") + spent));
    } else {
        const QString spent = spentText();
        window_.agent->setBudget(agentText() + (spent.isEmpty() ? QString() : QStringLiteral(" · ") + spent));
    }
    window_.agent->setPromptVisible(agentChoice_.name != "playbook");
}

void Workbench::offerLastSession()
{
    const QString path = window_.settings().value(QStringLiteral("lastSession")).toString();
    if (path.isEmpty() || !QFileInfo(path).isFile()) return;
    window_.messages->show(
        MessageBar::Level::Information,
        tr("Your last session, %1, is kept with everything in it.").arg(QFileInfo(path).fileName()),
        tr("Go on"), [this, path] { openFile(path); });
}

void Workbench::remember(const QString &path)
{
    if (path.isEmpty()) return;
    QSettings &settings = window_.settings();
    if (path == sessionPath_) settings.setValue(QStringLiteral("lastSession"), path);
    QStringList recent = settings.value(QStringLiteral("recentFiles")).toStringList();
    recent.removeAll(path);
    recent.prepend(path);
    recent = recent.mid(0, mostRecentFiles);
    settings.setValue(QStringLiteral("recentFiles"), recent);
    window_.welcome->setRecentFiles(recent);
}

QString Workbench::agentText() const
{
    const QString name = backend_.agentName();
    return name == QStringLiteral("playbook") ? tr("playbook: no network, no cost") : name;
}

QString Workbench::originOf(const Candidate &candidate) const
{
    const QString parent = titleOf(candidate.parent);
    return parent.isEmpty() ? QString() : tr("from %1").arg(parent);
}

QString Workbench::titleOf(CandidateId id) const
{
    const Candidate *candidate = set_.find(id);
    return candidate ? candidateTitle(*candidate) : QString();
}

} // namespace kernelwright::ui
