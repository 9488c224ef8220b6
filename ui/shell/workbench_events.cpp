// SPDX-License-Identifier: GPL-3.0-or-later
// What the backend tells, brought to the panes.
#include "base/text.h"
#include "device_badge.h"
#include "message_bar.h"
#include "ui/agent/agent_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/log/log_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/models/display_text.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "workbench.h"

#include <QFileInfo>

namespace kernelwright::ui
{

void Workbench::connectBackend()
{
    const Backend *b = &backend_;
    connect(b, &Backend::jobChanged, this, &Workbench::onJobChanged);
    connect(b, &Backend::progressed, this, [this](const QString &text, double fraction) {
        window_.setProgress(text, fraction, backend_.job() != Job::None);
        if (!text.isEmpty()) window_.log->add(LogPane::Level::Information, text);
    });
    connect(b, &Backend::devicesFound, window_.device, &DeviceBadge::setDevices);
    connect(b, &Backend::deviceOpened, this, [this](const DeviceInfo &device) {
        window_.device->setDevice(device);
        window_.log->add(LogPane::Level::Information,
                         tr("Device %1, %2").arg(fromText(device.id), fromText(device.name)));
        if (!device.countersAvailable && !device.countersReason.empty() && !device.isSimulated)
            window_.log->add(LogPane::Level::Warning, fromText(device.countersReason));
    });
    connect(b, &Backend::sessionOpened, this, &Workbench::onSessionOpened);
    connect(b, &Backend::modelOpened, this, &Workbench::onModelOpened);
    connect(b, &Backend::profiled, this, &Workbench::onProfiled);
    connect(b, &Backend::taskStarted, this, &Workbench::onTaskStarted);
    connect(b, &Backend::taskFinished, this, [this](const Task &, const QString &why) {
        window_.agent->endIteration(why);
        endStream();
    });
    connect(b, &Backend::proposalStarted, this, &Workbench::onProposalStarted);
    connect(b, &Backend::reasoned, window_.agent, &AgentPane::appendReasoning);
    connect(b, &Backend::wrote, window_.editor, &EditorPane::stream);
    connect(b, &Backend::candidateAdded, this, &Workbench::onCandidateAdded);
    connect(b, &Backend::stageReached, window_.stages, &StagesPane::setStage);
    connect(b, &Backend::candidateEvaluated, this, &Workbench::onCandidateEvaluated);
    connect(b, &Backend::candidateChanged, this, &Workbench::onCandidateChanged);
    connect(b, &Backend::chose, window_.agent, &AgentPane::addChoice);
    connect(b, &Backend::spent, this, &Workbench::onSpent);
    connect(b, &Backend::promptPrepared, this, &Workbench::onPromptPrepared);
    connect(b, &Backend::searchFinished, this, &Workbench::onSearchFinished);
    connect(b, &Backend::wholeModelMeasured, this, &Workbench::onWholeModelMeasured);
    connect(b, &Backend::failed, this, &Workbench::onFailed);
    connect(b, &Backend::engineLine, this,
            [this](const QString &line) { window_.log->add(LogPane::Level::Engine, line); });
}

void Workbench::onJobChanged()
{
    const Job job = backend_.job();
    const bool searching = job == Job::Searching || job == Job::Proposing;
    window_.agent->setActivity(backend_.isPaused()                   ? AgentPane::Activity::Paused
                               : searching || job == Job::Evaluating ? AgentPane::Activity::Running
                                                                     : AgentPane::Activity::Idle);
    window_.result->setBusy(job == Job::Measuring);
    if (job == Job::None) {
        clock_.stop();
        window_.agent->endIteration(tr("It was ended before there was code."));
        endStream();
        window_.editor->draftFailed();
    } else if (!clock_.isActive()) {
        clock_.start();
        if (!elapsed_.isValid()) elapsed_.start();
    }
    window_.setProgress(job == Job::None ? QString() : tr("Working"), -1, job != Job::None);
    updateBudget();
    updateActions();
}

void Workbench::onSessionOpened(const SessionContent &content)
{
    sessionPath_ = content.path;
    window_.setStatus(tr("Session %1").arg(QFileInfo(content.path).fileName()));
    window_.log->add(LogPane::Level::Information, tr("Session file %1").arg(content.path));
    remember(content.candidates.empty() ? fromText(content.model.path) : content.path);
    for (const Task &task : content.tasks) {
        tasks_[task.id] = task;
        window_.candidatesModel->putTask(task.id, fromText(task.title));
    }
    for (const Candidate &candidate : content.candidates) {
        set_.put(candidate);
        window_.candidatesModel->putCandidate(candidate);
    }
    if (content.profile) window_.operators->setProfile(*content.profile);
    if (content.candidates.empty()) return;
    showConversation(content);
    const Candidate *show = &content.candidates.back();
    for (const Candidate &candidate : content.candidates)
        if (candidate.accepted) show = &candidate;
    select(show->id, false);
    if (content.report) {
        report_ = content.report;
        window_.result->setReport(*report_);
    }
    window_.raisePane(QStringLiteral("charts"));
    window_.messages->show(MessageBar::Level::Information,
                           tr("This session has %1 candidates for %2 tasks; nothing of it was lost.")
                               .arg(content.candidates.size())
                               .arg(content.tasks.size()),
                           tr("Go on"), [this] { optimise(); });
}

void Workbench::showConversation(const SessionContent &content)
{
    std::string task;
    for (const SessionEvent &event : content.events) {
        if (!event.taskId.empty() && event.taskId != task) {
            task = event.taskId;
            window_.agent->beginTask(tasks_.contains(task) ? fromText(tasks_[task].title) : fromText(task));
        }
        if (event.kind == "prompt")
            window_.agent->addPrompt(fromText(event.text), titleOf(event.candidate));
        else if (event.kind == "choice")
            window_.agent->addChoice(fromText(event.text));
        else if (event.kind == "accepted" || event.kind == "whole model")
            window_.agent->addMilestone(fromText(event.text));
        else if (event.kind == "reasoning" && set_.find(event.candidate))
            window_.agent->putCandidate(*set_.find(event.candidate), originOf(*set_.find(event.candidate)));
    }
    // Candidates without a word of reasoning in the file (edits by hand) still have their card.
    for (const Candidate &candidate : content.candidates)
        window_.agent->putCandidate(candidate, originOf(candidate));
}

void Workbench::onModelOpened(const ModelSummary &model)
{
    graph_ = model.graph;
    modelPath_ = fromText(model.path);
    window_.setWindowTitle(tr("%1 – Kernelwright").arg(QFileInfo(modelPath_).fileName()));
    window_.graph->setGraph(graph_);
    window_.operators->setGraph(graph_);
    window_.log->add(LogPane::Level::Information,
                     tr("%1: %2 operators, %3 parameters (%4), %5")
                         .arg(QFileInfo(modelPath_).fileName())
                         .arg(graph_.nodes.size())
                         .arg(fromText(formatCount(static_cast<double>(model.parameterCount))),
                              fromText(formatBytes(static_cast<double>(model.parameterBytes))),
                              fromText(model.format)));
    for (const std::string &note : model.notes)
        window_.log->add(LogPane::Level::Information, fromText(note));
    updateActions();
}

void Workbench::onProfiled(const ModelProfile &profile)
{
    window_.graph->setProfile(profile);
    window_.operators->setProfile(profile);
    window_.device->setTimeSource(fromText(profile.timeSource));
    if (set_.isEmpty() && backend_.job() != Job::Searching && !profile.tasks.empty())
        window_.messages->show(
            MessageBar::Level::Information,
            tr("Most can be gained from “%1”: at its floor the whole model would run %2 as fast.")
                .arg(fromText(profile.tasks.front().title),
                     fromText(formatSpeedup(profile.tasks.front().amdahlGain))),
            tr("Optimise"), [this] { optimise(); });
    updateActions();
}

void Workbench::onTaskStarted(const Task &task)
{
    tasks_[task.id] = task;
    currentTask_ = task.id;
    iteration_ = 0;
    window_.candidatesModel->putTask(task.id, fromText(task.title));
    window_.agent->beginTask(fromText(task.title));
    QStringList nodes;
    for (const std::string &node : task.nodes)
        nodes << fromText(node);
    window_.graph->setCurrentTask(nodes);
    showCharts();
    updatePromptTarget();
}

void Workbench::onProposalStarted(const Task &task, CandidateId parent, int iteration)
{
    iteration_ = iteration;
    tasks_.try_emplace(task.id, task);
    int number = 1;
    for (const Candidate &candidate : set_.ofTask(task.id))
        number = std::max(number, candidate.iteration + 1);
    const QString title = QStringLiteral("#%1").arg(number);
    window_.agent->beginIteration(title, parent == noCandidate
                                             ? backend_.agentName()
                                             : tr("from %1 · %2").arg(titleOf(parent), backend_.agentName()));
    window_.editor->beginStream(title, following_);
    if (parent == promptTarget_) {
        promptTarget_ = noCandidate; // taken up
        updatePromptTarget();
    }
    updateBudget();
}

void Workbench::onCandidateAdded(const Candidate &candidate)
{
    if (set_.isEmpty()) remember(sessionPath_); // there is something in it to come back to
    set_.put(candidate);
    window_.candidatesModel->putCandidate(candidate);
    window_.agent->putCandidate(candidate, originOf(candidate));
    if (candidate.author == "person")
        window_.editor->draftBecame(candidate);
    else
        window_.editor->endStream(candidate);
    if (following_) select(candidate.id, false);
    updateActions();
}

void Workbench::onCandidateEvaluated(const Candidate &candidate)
{
    set_.put(candidate);
    window_.candidatesModel->putCandidate(candidate);
    window_.agent->putCandidate(candidate);
    if (candidate.evaluation) {
        window_.device->setTimeSource(fromText(candidate.evaluation->timeSource));
        window_.log->add(LogPane::Level::Information,
                         tr("%1: %2 – %3")
                             .arg(candidateTitle(candidate), verdictText(candidate),
                                  fromText(candidate.evaluation->reason)));
    }
    if (candidate.id == selected_) showSelected();
    if (candidate.taskId == currentTask_) showCharts();
    announceIfBest(candidate);
    updateActions();
}

void Workbench::announceIfBest(const Candidate &candidate)
{
    if (!candidate.evaluation || candidate.evaluation->verdict != Verdict::Faster) return;
    const Candidate *best = set_.best(candidate.taskId);
    double &announced = announced_[candidate.taskId];
    if (!best || best->id != candidate.id || candidate.evaluation->speedup <= announced) return;
    const bool first = announced == 0;
    announced = candidate.evaluation->speedup;
    const Baseline *baseline = strongestBaseline(*candidate.evaluation);
    const auto task = tasks_.find(candidate.taskId);
    const QString where =
        task == tasks_.end() ? QString() : tr(" for “%1”").arg(fromText(task->second.title));
    const QString sentence =
        tr("%1%2 is correct and %3 as fast as %4%5.")
            .arg(candidateTitle(candidate), where, fromText(formatSpeedup(candidate.evaluation->speedup)),
                 baseline ? fromText(baseline->name) : tr("the baseline"),
                 candidate.evaluation->timeSource == "model" ? tr(" (modelled)") : QString());
    if (first) window_.agent->addMilestone(tr("First faster candidate: %1").arg(sentence));
    const CandidateId id = candidate.id;
    window_.messages->show(MessageBar::Level::Success, sentence, tr("Accept"), [this, id] { accept(id); });
}

void Workbench::onCandidateChanged(const Candidate &candidate)
{
    const Candidate *before = set_.find(candidate.id);
    const bool newlyAccepted = candidate.accepted && (!before || !before->accepted);
    set_.put(candidate);
    window_.candidatesModel->putCandidate(candidate);
    window_.agent->putCandidate(candidate);
    if (candidate.id == selected_) showSelected();
    if (newlyAccepted) {
        window_.messages->dismiss();
        window_.agent->addMilestone(
            tr("Accepted %1; the whole model is measured with it.").arg(candidateTitle(candidate)));
        backend_.measureWholeModel();
    }
    updateActions();
}

void Workbench::onSearchFinished(const std::vector<TaskOutcome> &outcomes)
{
    int faster = 0;
    for (const TaskOutcome &outcome : outcomes)
        faster += outcome.speedup > 1 ? 1 : 0;
    const QString sentence =
        tr("The search has ended: faster kernels for %1 of %2 tasks.").arg(faster).arg(outcomes.size());
    window_.agent->addChoice(sentence);
    window_.log->add(LogPane::Level::Information, sentence);
}

void Workbench::onWholeModelMeasured(const WholeModelReport &report)
{
    report_ = report;
    window_.result->setReport(report);
    window_.raisePane(QStringLiteral("result"));
    const QString sentence = tr("Whole model: %1 as fast (predicted %2), largest error %3, allowed %4.")
                                 .arg(fromText(formatSpeedup(report.speedupMeasured)),
                                      fromText(formatSpeedup(report.speedupPredicted)))
                                 .arg(report.maxAbsError, 0, 'g', 3)
                                 .arg(report.allowedAbsError, 0, 'g', 3);
    window_.agent->addMilestone(sentence);
    window_.messages->show(report.withinTolerance ? MessageBar::Level::Success : MessageBar::Level::Warning,
                           sentence);
}

void Workbench::onFailed(Job during, const Error &error)
{
    const QString text = fromText(error.message);
    window_.log->add(LogPane::Level::Error, text);
    if (during == Job::Evaluating) window_.editor->draftFailed();
    if (during == Job::Opening && graph_.nodes.empty() && set_.isEmpty()) window_.showWelcome();
    const bool ending = error.code == ErrorCode::NotSupported && during != Job::Opening;
    if (ending) window_.agent->endIteration(text);
    window_.messages->show(ending ? MessageBar::Level::Warning : MessageBar::Level::Error, text);
}

} // namespace kernelwright::ui
