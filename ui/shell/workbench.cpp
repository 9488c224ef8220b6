// SPDX-License-Identifier: GPL-3.0-or-later
#include "workbench.h"

#include "device_badge.h"
#include "message_bar.h"
#include "ui/agent/agent_pane.h"
#include "ui/candidates/candidates_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/log/log_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/models/display_text.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "ui/theme/theme.h"
#include "ui/welcome/welcome_page.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

namespace kernelwright::ui
{

namespace
{

bool isSessionFile(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) && file.read(15) == "SQLite format 3";
}

} // namespace

Workbench::Workbench(MainWindow &window, Backend &backend, QObject *parent)
    : QObject(parent)
    , window_(window)
    , backend_(backend)
{
    loadSettings();
    loadAgentSettings();
    makeActions();
    window_.buildMenus();
    connectPanes();
    connectBackend();
    clock_.setInterval(1000);
    connect(&clock_, &QTimer::timeout, this, &Workbench::updateBudget);
    onJobChanged();
    updatePromptTarget();
}

void Workbench::loadSettings()
{
    QSettings &settings = window_.settings();
    ThemeController &themes = window_.themes();
    if (const int size = settings.value(QStringLiteral("window/fontSize")).toInt(); size > 0)
        themes.setFontSize(size);
    const int choice =
        settings.value(QStringLiteral("window/theme"), static_cast<int>(themes.choice())).toInt();
    if (choice >= 0 && choice <= static_cast<int>(ThemeChoice::Light))
        themes.setChoice(static_cast<ThemeChoice>(choice));
    window_.welcome->setRecentFiles(settings.value(QStringLiteral("recentFiles")).toStringList());
}

void Workbench::connectPanes()
{
    MainWindow &w = window_;
    connect(&w, &MainWindow::filesDropped, this,
            [this](const QStringList &paths) { openFile(paths.front()); });
    connect(&w, &MainWindow::cancelRequested, &backend_, &Backend::stop);
    connect(w.welcome, &WelcomePage::fileChosen, this, &Workbench::openFile);
    connect(w.welcome, &WelcomePage::openRequested, this, &Workbench::showOpenDialog);
    connect(w.device, &DeviceBadge::deviceChosen, &backend_, &Backend::useDevice);

    connect(w.graph, &GraphPane::optimiseRequested, this, &Workbench::optimise);
    connect(w.operators, &OperatorsPane::optimiseRequested, this, &Workbench::optimise);
    connect(w.graph, &GraphPane::nodesHovered, w.operators, &OperatorsPane::highlightNodes);
    connect(w.operators, &OperatorsPane::nodesHovered, w.graph, &GraphPane::highlightNodes);
    connect(w.graph, &GraphPane::nodesSelected, w.operators, &OperatorsPane::selectNodes);
    connect(w.operators, &OperatorsPane::nodesSelected, w.graph, &GraphPane::selectNodes);
    connect(w.graph, &GraphPane::failed, this, [this](const QString &sentence) {
        window_.messages->show(MessageBar::Level::Warning, sentence);
    });
    connect(w.graph, &GraphPane::nodesSelected, this, &Workbench::updateActions);
    connect(w.operators, &OperatorsPane::nodesSelected, this, &Workbench::updateActions);

    connect(w.agent, &AgentPane::promptSubmitted, this, &Workbench::prompt);
    connect(w.agent, &AgentPane::promptShowRequested, this, &Workbench::showPrompt);
    connect(w.agent, &AgentPane::agentChoiceRequested, this, [this] { chooseAgent({}); });
    connect(w.agent, &AgentPane::promptTargetCleared, this, [this] {
        promptTarget_ = noCandidate;
        updatePromptTarget();
    });
    connect(w.agent, &AgentPane::pauseRequested, &backend_, &Backend::pause);
    connect(w.agent, &AgentPane::resumeRequested, &backend_, &Backend::resume);
    connect(w.agent, &AgentPane::stopRequested, &backend_, &Backend::stop);
    connect(w.agent, &AgentPane::candidateActivated, this, [this](CandidateId id) { select(id, true); });

    connect(w.candidates, &CandidatesPane::candidateSelected, this, [this](CandidateId id) {
        if (!syncing_) select(id, true);
    });
    connect(w.candidates, &CandidatesPane::acceptRequested, this, &Workbench::accept);
    connect(w.candidates, &CandidatesPane::repromptRequested, this, [this](CandidateId id) {
        promptTarget_ = id;
        updatePromptTarget();
        window_.raisePane(QStringLiteral("agent"));
        window_.agent->focusPrompt();
    });
    connect(w.candidates, &CandidatesPane::labelsChanged, &backend_, &Backend::setLabels);
    connect(w.charts, &ChartsPane::candidateClicked, this, [this](CandidateId id) { select(id, true); });
    connect(w.charts, &ChartsPane::exportRequested, this, [this] { exportCharts(true); });
    connect(w.editor, &EditorPane::evaluateRequested, this, &Workbench::evaluateEditor);
    connect(w.editor, &EditorPane::acceptRequested, this, &Workbench::accept);
    connect(w.editor, &EditorPane::stateChanged, this, &Workbench::updateActions);
    connect(w.editor, &EditorPane::streamShown, this, [this] { following_ = true; });
    connect(w.result, &ResultPane::measureRequested, &backend_, &Backend::measureWholeModel);
}

void Workbench::openFile(const QString &path)
{
    const QFileInfo info(path);
    if (!info.isFile()) {
        window_.messages->show(
            MessageBar::Level::Error,
            tr("There is no file “%1”: it may have been moved or deleted. Open another with Ctrl+O.")
                .arg(path));
        return;
    }
    clearAll();
    window_.messages->dismiss();
    const QString absolute = info.absoluteFilePath();
    if (isSessionFile(absolute))
        backend_.openSession(absolute);
    else
        backend_.openModel(absolute, wantedDevice_);
    modelPath_ = absolute;
    window_.showPanes();
    window_.setWindowTitle(tr("%1 – Kernelwright").arg(info.fileName()));
}

void Workbench::showOpenDialog()
{
    auto *dialog = new QFileDialog(&window_, tr("Open a model or session"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models and sessions (*.pt2 *.pt *.pth *.session)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &Workbench::openFile);
    dialog->open();
}

void Workbench::optimise(const QStringList &nodes)
{
    if (backend_.isPaused() && nodes.isEmpty()) {
        backend_.resume();
        return;
    }
    if (graph_.nodes.empty()) {
        showOpenDialog();
        return;
    }
    if (backend_.job() == Job::Searching) {
        window_.messages->show(MessageBar::Level::Information,
                               tr("A search is running. Stop it (Shift+F5) before another begins."));
        return;
    }
    if (!agentIsReady()) return;
    SearchOptions options;
    options.iterationsPerTask = iterations_;
    options.maximumCostUsd = agentChoice_.name == "playbook" ? 0 : maximumCostUsd_;
    options.acceptBest = false; // in the window the person accepts
    if (!nodes.isEmpty()) {
        std::vector<std::string> names;
        for (const QString &node : nodes)
            names.push_back(node.toStdString());
        options.tasks.push_back(std::move(names));
    }
    following_ = true;
    promptTarget_ = noCandidate;
    updatePromptTarget();
    window_.messages->dismiss();
    window_.raisePane(QStringLiteral("charts"));
    window_.raisePane(QStringLiteral("stages"));
    elapsed_.start();
    backend_.optimise(options);
}

void Workbench::prompt(const QString &words)
{
    const Candidate *target = set_.find(promptTarget_);
    const std::string task = target ? target->taskId : currentTask_;
    if (task.empty()) {
        window_.messages->show(
            MessageBar::Level::Information,
            tr("There is no task to prompt for yet: press Optimise first, or select operators."));
        return;
    }
    if (!agentIsReady()) return;
    window_.agent->addPrompt(words, titleOf(promptTarget_));
    following_ = true;
    backend_.prompt(task, promptTarget_, words);
}

void Workbench::accept(CandidateId id)
{
    const Candidate *candidate = set_.find(id);
    if (!candidate || !isTimed(*candidate)) {
        window_.messages->show(MessageBar::Level::Information,
                               tr("Only a candidate that passed every stage can be accepted: select one."));
        return;
    }
    backend_.accept(id);
}

const std::string &Workbench::taskForEdits() const
{
    const Candidate *shown = set_.find(window_.editor->shown());
    return shown ? shown->taskId : currentTask_;
}

void Workbench::evaluateEditor(CandidateId parent, const QString &source)
{
    const std::string task = taskForEdits();
    if (task.empty()) {
        window_.editor->draftFailed();
        window_.messages->show(
            MessageBar::Level::Information,
            tr("There is no task this source could belong to: press Optimise, or select a candidate."));
        return;
    }
    following_ = true;
    backend_.evaluateEdit(task, parent, source);
}

void Workbench::exportCharts(bool picture)
{
    auto *dialog = new QFileDialog(&window_, picture ? tr("Export the charts") : tr("Export the numbers"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    const QString png = tr("Picture (*.png)");
    const QString csv = tr("Comma-separated values (*.csv)");
    dialog->setNameFilters(picture ? QStringList{png, csv} : QStringList{csv, png});
    dialog->setDefaultSuffix(picture ? QStringLiteral("png") : QStringLiteral("csv"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        const auto written = path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)
                                 ? window_.charts->exportNumbers(path)
                                 : window_.charts->exportPicture(path);
        if (!written)
            window_.messages->show(MessageBar::Level::Error, fromText(written.error().message));
        else
            window_.messages->show(MessageBar::Level::Information, tr("Written to %1").arg(path));
    });
    dialog->open();
}

void Workbench::chooseTheme(ThemeChoice choice)
{
    window_.themes().setChoice(choice);
    window_.saveSettings();
}

} // namespace kernelwright::ui
