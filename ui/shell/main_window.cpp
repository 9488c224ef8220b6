// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "command_palette.h"
#include "device_badge.h"
#include "message_bar.h"
#include "ui/agent/agent_pane.h"
#include "ui/candidates/candidates_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/metrics_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/log/log_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "ui/theme/empty_hint.h"
#include "ui/theme/theme.h"
#include "ui/welcome/welcome_page.h"

#include <QBoxLayout>
#include <QCloseEvent>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMimeData>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>

namespace kernelwright::ui
{

MainWindow::MainWindow(ThemeController &themes, QSettings &settings)
    : themes_(themes)
    , settings_(settings)
    , actions_(new ActionRegistry(themes, settings, this))
    , palette_(new CommandPalette(*actions_, this))
    , pages_(new QStackedWidget)
    , workspace_(new QMainWindow)
{
    setObjectName(QStringLiteral("kernelwright"));
    setWindowTitle(tr("Kernelwright"));
    setAcceptDrops(true);
    resize(1600, 1000);
    makePanes();
    makeDocks();
    pages_->addWidget(welcome);
    pages_->addWidget(workspace_);
    auto *centre = new QWidget;
    auto *column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages);
    column->addWidget(pages_, 1);
    setCentralWidget(centre);
    makeStatusBar();
    restoreGeometry(settings_.value(QStringLiteral("window/geometry")).toByteArray());
    restoreDefaultLayout();
    hasOwnLayout_ = restoreLayoutState(settings_.value(QStringLiteral("window/layout")).toByteArray());
}

MainWindow::~MainWindow() = default;

void MainWindow::makePanes()
{
    graph = new GraphPane(themes_);
    operators = new OperatorsPane(themes_);
    agent = new AgentPane(themes_);
    editor = new EditorPane(themes_);
    candidatesModel = new CandidatesModel(this);
    candidates = new CandidatesPane(themes_, *candidatesModel);
    charts = new ChartsPane(themes_);
    stages = new StagesPane(themes_);
    metrics = new MetricsPane(themes_);
    result = new ResultPane(themes_);
    log = new LogPane(themes_);
    welcome = new WelcomePage(themes_);
    messages = new MessageBar(themes_);
    device = new DeviceBadge(themes_);
}

QDockWidget *MainWindow::addDock(const QString &name, const QString &title, QWidget *widget)
{
    auto *dock = new QDockWidget(title);
    dock->setObjectName(name);
    dock->setAccessibleName(title);
    dock->setWidget(widget);
    workspace_->addDockWidget(Qt::LeftDockWidgetArea, dock);
    // A dock that stands behind a tab needs no second title below it.
    const auto later = [this] {
        QMetaObject::invokeMethod(this, &MainWindow::updateTitleBars, Qt::QueuedConnection);
    };
    connect(dock, &QDockWidget::dockLocationChanged, this, later);
    connect(dock, &QDockWidget::topLevelChanged, this, later);
    connect(dock, &QDockWidget::visibilityChanged, this, later);
    return dock;
}

void MainWindow::makeDocks()
{
    workspace_->setWindowFlags(Qt::Widget);
    workspace_->setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    workspace_->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    addDock(QStringLiteral("agent"), tr("Agent"), agent);
    addDock(QStringLiteral("graph"), tr("Operator graph"), graph);
    addDock(QStringLiteral("editor"), tr("Editor"), editor);
    addDock(QStringLiteral("operators"), tr("Operators"), operators);
    addDock(QStringLiteral("charts"), tr("Charts"), charts);
    addDock(QStringLiteral("candidates"), tr("Candidates"), candidates);
    addDock(QStringLiteral("stages"), tr("Correctness"), stages);
    addDock(QStringLiteral("metrics"), tr("Metrics"), metrics);
    addDock(QStringLiteral("result"), tr("Whole model"), result);
    addDock(QStringLiteral("log"), tr("Log"), log);
}

QDockWidget *MainWindow::dock(const QString &name) const
{
    return workspace_->findChild<QDockWidget *>(name);
}

void MainWindow::restoreDefaultLayout()
{
    const auto all = workspace_->findChildren<QDockWidget *>();
    for (QDockWidget *each : all) {
        each->setFloating(false);
        workspace_->removeDockWidget(each);
    }
    QDockWidget *agentDock = dock(QStringLiteral("agent"));
    QDockWidget *graphDock = dock(QStringLiteral("graph"));
    QDockWidget *editorDock = dock(QStringLiteral("editor"));
    QDockWidget *operatorsDock = dock(QStringLiteral("operators"));
    QDockWidget *chartsDock = dock(QStringLiteral("charts"));
    QDockWidget *candidatesDock = dock(QStringLiteral("candidates"));
    QDockWidget *stagesDock = dock(QStringLiteral("stages"));
    workspace_->addDockWidget(Qt::LeftDockWidgetArea, agentDock);
    workspace_->splitDockWidget(agentDock, graphDock, Qt::Horizontal);
    workspace_->splitDockWidget(graphDock, chartsDock, Qt::Horizontal);
    workspace_->splitDockWidget(graphDock, editorDock, Qt::Vertical);
    workspace_->splitDockWidget(chartsDock, candidatesDock, Qt::Vertical);
    workspace_->splitDockWidget(candidatesDock, stagesDock, Qt::Vertical);
    workspace_->tabifyDockWidget(chartsDock, operatorsDock);
    for (const char *name : {"metrics", "result", "log"})
        workspace_->tabifyDockWidget(stagesDock, dock(QString::fromLatin1(name)));
    for (QDockWidget *each : all)
        each->show();
    operatorsDock->raise();
    stagesDock->raise();
    giveDefaultSizes();
    updateTitleBars();
}

void MainWindow::giveDefaultSizes()
{
    const auto docks = [this](std::initializer_list<const char *> names) {
        QList<QDockWidget *> result;
        for (const char *name : names)
            result << dock(QString::fromLatin1(name));
        return result;
    };
    workspace_->resizeDocks(docks({"agent", "graph", "charts"}), {390, 670, 540}, Qt::Horizontal);
    workspace_->resizeDocks(docks({"graph", "editor"}), {420, 470}, Qt::Vertical);
    workspace_->resizeDocks(docks({"charts", "candidates", "stages"}), {450, 190, 250}, Qt::Vertical);
}

void MainWindow::updateTitleBars()
{
    for (QDockWidget *each : workspace_->findChildren<QDockWidget *>()) {
        bool tabbed = false;
        for (const QDockWidget *other : workspace_->tabifiedDockWidgets(each))
            tabbed = tabbed || !other->isHidden() || other->toggleViewAction()->isChecked();
        tabbed = tabbed && !each->isFloating();
        if (tabbed == (each->titleBarWidget() != nullptr)) continue;
        QWidget *old = each->titleBarWidget();
        each->setTitleBarWidget(tabbed ? new QWidget(each) : nullptr);
        if (old) old->deleteLater();
    }
}

QByteArray MainWindow::layoutState() const
{
    return workspace_->saveState(1);
}

bool MainWindow::restoreLayoutState(const QByteArray &state)
{
    const bool restored = !state.isEmpty() && workspace_->restoreState(state, 1);
    updateTitleBars();
    return restored;
}

void MainWindow::makeStatusBar()
{
    progressText_ = new QLabel;
    progress_ = new QProgressBar;
    progress_->setFixedWidth(150);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("Progress"));
    cancel_ = new QToolButton;
    cancel_->setText(tr("Cancel"));
    cancel_->setAccessibleName(tr("Cancel what is running"));
    connect(cancel_, &QToolButton::clicked, this, &MainWindow::cancelRequested);
    status_ = new QLabel;
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(8, 0, 8, 0);
    statusBar()->addWidget(progress_);
    statusBar()->addWidget(progressText_);
    statusBar()->addWidget(cancel_);
    statusBar()->addPermanentWidget(status_);
    setProgress({}, 0, false);
}

void MainWindow::setProgress(const QString &text, double fraction, bool running)
{
    progress_->setVisible(running);
    cancel_->setVisible(running);
    progressText_->setText(text.isEmpty() && !running ? tr("Ready") : text);
    if (fraction < 0) {
        progress_->setRange(0, 0);
    } else {
        progress_->setRange(0, 1000);
        progress_->setValue(static_cast<int>(fraction * 1000));
    }
}

void MainWindow::setStatus(const QString &text)
{
    status_->setText(text);
}

void MainWindow::showWelcome()
{
    pages_->setCurrentWidget(welcome);
    welcome->setFocus();
}

void MainWindow::showPanes()
{
    const bool first = isShowingWelcome() && !hasOwnLayout_;
    pages_->setCurrentWidget(workspace_);
    if (first) {
        // Only now do the docks know how much room there is.
        QCoreApplication::sendPostedEvents(workspace_, QEvent::LayoutRequest);
        giveDefaultSizes();
        hasOwnLayout_ = true;
    }
    graph->view()->setFocus();
}

bool MainWindow::isShowingWelcome() const
{
    return pages_->currentWidget() == welcome;
}

void MainWindow::raisePane(const QString &name)
{
    if (QDockWidget *found = dock(name); found && !found->isHidden()) found->raise();
}

void MainWindow::saveSettings()
{
    settings_.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings_.setValue(QStringLiteral("window/layout"), layoutState());
    settings_.setValue(QStringLiteral("window/fontSize"), themes_.fontSize());
    settings_.setValue(QStringLiteral("window/theme"), static_cast<int>(themes_.choice()));
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    QStringList paths;
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    if (paths.isEmpty()) return;
    event->acceptProposedAction();
    emit filesDropped(paths);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    saveSettings();
    emit closing();
    QMainWindow::closeEvent(event);
}

} // namespace kernelwright::ui
