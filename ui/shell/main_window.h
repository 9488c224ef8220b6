// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "action_registry.h"

#include <QMainWindow>
#include <QSettings>

class QDockWidget;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace kernelwright::ui
{

class AgentPane;
class CandidatesModel;
class CandidatesPane;
class ChartsPane;
class CommandPalette;
class DeviceBadge;
class EditorPane;
class GraphPane;
class LogPane;
class MessageBar;
class MetricsPane;
class OperatorsPane;
class ResultPane;
class StagesPane;
class ThemeController;
class WelcomePage;

/// The window: welcome page or panes in docks, menus, tool bar, status bar. Holds widgets and layout, no
/// behaviour: what happens when is Workbench's.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    MainWindow(ThemeController &themes, QSettings &settings);
    ~MainWindow() override;

    // The panes, owned by the window.
    GraphPane *graph;
    OperatorsPane *operators;
    AgentPane *agent;
    EditorPane *editor;
    CandidatesModel *candidatesModel;
    CandidatesPane *candidates;
    ChartsPane *charts;
    StagesPane *stages;
    MetricsPane *metrics;
    ResultPane *result;
    LogPane *log;
    WelcomePage *welcome;
    MessageBar *messages;
    DeviceBadge *device;

    ActionRegistry &actions() { return *actions_; }
    CommandPalette &palette() { return *palette_; }
    ThemeController &themes() { return themes_; }
    QSettings &settings() { return settings_; }

    void showWelcome();
    void showPanes();
    bool isShowingWelcome() const;
    void raisePane(const QString &name); ///< "graph", "operators", "agent" …
    QDockWidget *dock(const QString &name) const;

    /// Fills menus and tool bar from the registry; called once, when all actions are there.
    void buildMenus();

    void setProgress(const QString &text, double fraction, bool running);
    void setStatus(const QString &text);

    QByteArray layoutState() const;
    bool restoreLayoutState(const QByteArray &state);
    void restoreDefaultLayout();
    void saveSettings();

signals:
    void filesDropped(const QStringList &paths);
    void cancelRequested();
    void closing();

protected:
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void closeEvent(QCloseEvent *event) override;

private:
    void makePanes();
    void makeDocks();
    void makeStatusBar();
    QDockWidget *addDock(const QString &name, const QString &title, QWidget *widget);
    void giveDefaultSizes();
    void updateTitleBars();

    ThemeController &themes_;
    QSettings &settings_;
    ActionRegistry *actions_;
    CommandPalette *palette_;
    bool hasOwnLayout_ = false; ///< the person's, or the default once it has been given its sizes
    QStackedWidget *pages_;
    QMainWindow *workspace_; ///< holds the docks, so that the welcome page can take the whole window
    QLabel *progressText_, *status_;
    QProgressBar *progress_;
    QToolButton *cancel_;
};

} // namespace kernelwright::ui
