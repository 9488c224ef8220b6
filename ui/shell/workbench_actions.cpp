// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the window.
#include "command_palette.h"
#include "message_bar.h"
#include "shortcuts_window.h"
#include "ui/agent/agent_pane.h"
#include "ui/editor/cuda_editor.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/operators/operators_pane.h"
#include "ui/theme/theme.h"
#include "workbench.h"

#include <QCoreApplication>
#include <QMessageBox>

namespace kernelwright::ui
{

void Workbench::makeActions()
{
    ActionRegistry &actions = window_.actions();
    const QString file = tr("File");
    actions.add(QStringLiteral("file.open"), file, tr("Open …"), QKeySequence::Open, QStringLiteral("open"),
                [this] { showOpenDialog(); });
    actions.add(QStringLiteral("file.welcome"), file, tr("Welcome page"), {}, {},
                [this] { window_.showWelcome(); });
    actions.add(QStringLiteral("charts.exportPicture"), file, tr("Export charts as PNG …"), {}, {},
                [this] { exportCharts(true); });
    actions.add(QStringLiteral("charts.exportNumbers"), file, tr("Export numbers as CSV …"), {}, {},
                [this] { exportCharts(false); });
    actions.add(QStringLiteral("file.quit"), file, tr("Quit"), QKeySequence::Quit, {},
                [this] { window_.close(); });
    makeSearchActions();
    makeEditorActions();
    makeViewActions();
    const QString help = tr("Help");
    actions.add(QStringLiteral("help.commands"), help, tr("Command palette"),
                QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P), QStringLiteral("commands"),
                [this] { window_.palette().open(); });
    actions.add(QStringLiteral("help.shortcuts"), help, tr("Keyboard shortcuts"),
                QKeySequence(Qt::Key_Question), {},
                [this] { (new ShortcutsWindow(window_.actions(), &window_))->show(); });
    actions.add(QStringLiteral("help.about"), help, tr("About Kernelwright"), {}, {}, [this] {
        auto *box = new QMessageBox(&window_);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->setWindowTitle(tr("About Kernelwright"));
        box->setText(
            tr("<b>Kernelwright %1</b><p>An agent and an engineer rewrite a model's slow operators as CUDA "
               "kernels together.<p>GNU General Public License, version 3 or later, with an additional "
               "permission to link NVIDIA's CUDA libraries.")
                .arg(QCoreApplication::applicationVersion()));
        box->open();
    });
}

void Workbench::makeSearchActions()
{
    ActionRegistry &actions = window_.actions();
    const QString search = tr("Search");
    QAction *run = actions.add(QStringLiteral("search.run"), search, tr("Optimise"), QKeySequence(Qt::Key_F5),
                               QStringLiteral("run"), [this] { optimise(); });
    run->setToolTip(tr("Let the agent write faster kernels for what costs most (F5)"));
    actions.add(QStringLiteral("search.pause"), search, tr("Pause"), QKeySequence(Qt::Key_F6),
                QStringLiteral("pause"), [this] { backend_.pause(); });
    actions.add(QStringLiteral("search.stop"), search, tr("Stop"), QKeySequence(Qt::SHIFT | Qt::Key_F5),
                QStringLiteral("stop"), [this] { backend_.stop(); });
    actions.add(QStringLiteral("search.optimiseSelection"), search, tr("Optimise selected operators"),
                QKeySequence(Qt::CTRL | Qt::Key_F5), {},
                [this] { optimise(window_.graph->selectedNodes()); });
    actions.add(QStringLiteral("search.prompt"), search, tr("Write to the agent"),
                QKeySequence(Qt::CTRL | Qt::Key_K), QStringLiteral("prompt"), [this] {
                    window_.raisePane(QStringLiteral("agent"));
                    window_.agent->focusPrompt();
                });
    actions.add(QStringLiteral("search.agent"), search, tr("Choose the agent …"), {}, {},
                [this] { chooseAgent({}); });
    actions.add(QStringLiteral("search.showPrompt"), search, tr("Show the prompt …"), {}, {},
                [this] { showPrompt(); });
    QAction *accept = actions.add(QStringLiteral("search.accept"), search, tr("Accept"),
                                  QKeySequence(Qt::ALT | Qt::Key_Return), QStringLiteral("accept"),
                                  [this] { this->accept(selected_); });
    accept->setToolTip(tr("Accept the selected candidate into the model (Alt+Enter)"));
    QAction *measure = actions.add(QStringLiteral("search.measure"), search, tr("Measure model"), {},
                                   QStringLiteral("measure"), [this] { backend_.measureWholeModel(); });
    measure->setToolTip(
        tr("Swap the accepted kernels into the model, check its outputs and time it as a whole"));
}

void Workbench::makeEditorActions()
{
    ActionRegistry &actions = window_.actions();
    const QString editor = tr("Editor");
    QAction *evaluate = actions.add(QStringLiteral("editor.evaluate"), editor, tr("Evaluate"),
                                    QKeySequence(Qt::CTRL | Qt::Key_Return), QStringLiteral("evaluate"),
                                    [this] { window_.editor->evaluate(); });
    evaluate->setToolTip(tr("Evaluate what is in the editor as a new candidate (Ctrl+Enter)"));
    actions.add(QStringLiteral("editor.find"), editor, tr("Find"), QKeySequence::Find, {}, [this] {
        if (window_.graph->isAncestorOf(window_.focusWidget()))
            window_.graph->focusSearch();
        else if (window_.operators->isAncestorOf(window_.focusWidget()))
            window_.operators->focusSearch();
        else
            window_.editor->find(false);
    });
    actions.add(QStringLiteral("editor.replace"), editor, tr("Replace"), QKeySequence(Qt::CTRL | Qt::Key_H),
                {}, [this] { window_.editor->find(true); });
    actions.add(QStringLiteral("editor.goToLine"), editor, tr("Go to line …"),
                QKeySequence(Qt::CTRL | Qt::Key_L), {}, [this] { window_.editor->askForLine(); });
    actions.add(QStringLiteral("editor.nextOccurrence"), editor, tr("Add next occurrence to selection"),
                QKeySequence(Qt::CTRL | Qt::Key_D), {},
                [this] { window_.editor->editor()->addNextOccurrence(); });
    actions.add(QStringLiteral("editor.compareParent"), editor, tr("Compare to parent"), {},
                QStringLiteral("compare"), [this] { window_.editor->compareToParent(); });
    actions.add(QStringLiteral("editor.compareBest"), editor, tr("Compare to best"), {}, {},
                [this] { window_.editor->compareToBest(); });
}

void Workbench::makeViewActions()
{
    ActionRegistry &actions = window_.actions();
    const QString view = tr("View");
    actions.add(QStringLiteral("view.fitGraph"), view, tr("Show the whole graph"),
                QKeySequence(Qt::CTRL | Qt::Key_0), QStringLiteral("fit"), [this] { window_.graph->fit(); });
    actions.add(QStringLiteral("view.findOperator"), view, tr("Find an operator"),
                QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F), QStringLiteral("search"),
                [this] { window_.graph->focusSearch(); });
    actions.add(QStringLiteral("view.defaultLayout"), view, tr("Restore default layout"), {},
                QStringLiteral("layout"), [this] { window_.restoreDefaultLayout(); });
    actions.add(QStringLiteral("view.themeSystem"), view, tr("Theme: as the system"), {}, {},
                [this] { chooseTheme(ThemeChoice::System); });
    actions.add(QStringLiteral("view.themeLight"), view, tr("Theme: light"), {}, {},
                [this] { chooseTheme(ThemeChoice::Light); });
    actions.add(QStringLiteral("view.themeDark"), view, tr("Theme: dark"), {}, {},
                [this] { chooseTheme(ThemeChoice::Dark); });
    actions.add(QStringLiteral("view.toggleTheme"), view, tr("Switch between dark and light"), {},
                QStringLiteral("theme"), [this] {
                    chooseTheme(window_.themes().theme().isDark ? ThemeChoice::Light : ThemeChoice::Dark);
                });
    actions.add(QStringLiteral("view.largerFont"), view, tr("Larger font"), QKeySequence::ZoomIn, {},
                [this] { window_.themes().setFontSize(window_.themes().fontSize() + 1); });
    actions.add(QStringLiteral("view.smallerFont"), view, tr("Smaller font"), QKeySequence::ZoomOut, {},
                [this] { window_.themes().setFontSize(window_.themes().fontSize() - 1); });
}

void Workbench::updateActions()
{
    const auto enable = [this](const char *id, bool enabled) {
        window_.actions().find(QString::fromLatin1(id))->setEnabled(enabled);
    };
    const Job job = backend_.job();
    const bool paused = backend_.isPaused();
    const bool modelOpen = !graph_.nodes.empty();
    const Candidate *candidate = set_.find(selected_);
    bool anyAccepted = false;
    for (const Candidate &each : set_.all())
        anyAccepted = anyAccepted || each.accepted;
    enable("search.run", modelOpen && (job == Job::None || paused));
    enable("search.pause", job == Job::Searching && !paused);
    enable("search.stop", job != Job::None);
    enable("search.optimiseSelection", modelOpen && !window_.graph->selectedNodes().isEmpty());
    enable("search.accept", candidate && isTimed(*candidate) && !candidate->accepted);
    enable("search.measure", anyAccepted && job != Job::Measuring);
    const auto state = window_.editor->state();
    const bool editable = state == EditorPane::State::Draft || state == EditorPane::State::Showing;
    enable("editor.evaluate", editable);
    enable("editor.compareParent", editable);
    enable("editor.compareBest", editable);
    window_.actions().find(QStringLiteral("search.run"))->setText(paused ? tr("Continue") : tr("Optimise"));
}

} // namespace kernelwright::ui
