// SPDX-License-Identifier: GPL-3.0-or-later
// Menus and tool bar, from the action registry.
#include "device_badge.h"
#include "main_window.h"
#include "ui/theme/empty_hint.h"
#include "ui/theme/theme.h"

#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

namespace kernelwright::ui
{

namespace
{

/// "" is a separator.
void fill(QMenu *menu, const ActionRegistry &actions, const QStringList &ids)
{
    for (const QString &id : ids) {
        if (id.isEmpty())
            menu->addSeparator();
        else if (QAction *action = actions.find(id))
            menu->addAction(action);
    }
}

QStringList list(std::initializer_list<const char *> ids)
{
    QStringList result;
    for (const char *id : ids)
        result << QString::fromLatin1(id);
    return result;
}

} // namespace

void MainWindow::buildMenus()
{
    fill(menuBar()->addMenu(tr("&File")), *actions_,
         list({"file.open", "file.welcome", "", "charts.exportPicture", "charts.exportNumbers", "",
               "file.quit"}));
    fill(menuBar()->addMenu(tr("&Search")), *actions_,
         list({"search.run", "search.pause", "search.stop", "", "search.optimiseSelection", "search.prompt",
               "search.showPrompt", "search.agent", "", "search.accept", "search.measure"}));
    fill(menuBar()->addMenu(tr("&Editor")), *actions_,
         list({"editor.evaluate", "", "editor.find", "editor.replace", "editor.goToLine",
               "editor.nextOccurrence", "", "editor.compareParent", "editor.compareBest"}));
    QMenu *view = menuBar()->addMenu(tr("&View"));
    fill(view, *actions_, list({"view.fitGraph", "view.findOperator", ""}));
    QMenu *panes = view->addMenu(tr("Panes"));
    for (QDockWidget *each : workspace_->findChildren<QDockWidget *>())
        panes->addAction(each->toggleViewAction());
    fill(view, *actions_,
         list({"view.defaultLayout", "", "view.themeSystem", "view.themeLight", "view.themeDark", "",
               "view.largerFont", "view.smallerFont"}));
    fill(menuBar()->addMenu(tr("&Help")), *actions_, list({"help.commands", "help.shortcuts", "help.about"}));

    auto *bar = new QToolBar(tr("Tool bar"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setMovable(false);
    bar->setIconSize({18, 18});
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    addToolBar(bar);
    const auto button = [&](const char *id, const char *role = "") {
        bar->addAction(actions_->find(QString::fromLatin1(id)));
        QWidget *widget = bar->widgetForAction(actions_->find(QString::fromLatin1(id)));
        widget->setObjectName(QString::fromLatin1(id));
        setRole(widget, role);
        return static_cast<QToolButton *>(widget);
    };
    button("file.open");
    bar->addSeparator();
    button("search.run", "primary");
    actions_->setPrimary(QStringLiteral("search.run"));
    button("search.pause")->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button("search.stop")->setToolButtonStyle(Qt::ToolButtonIconOnly);
    bar->addSeparator();
    button("editor.evaluate");
    button("search.accept");
    button("search.measure");
    auto *space = new QWidget;
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(space);
    bar->addWidget(device);
    button("view.toggleTheme")->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button("help.commands")->setToolButtonStyle(Qt::ToolButtonIconOnly);
}

} // namespace kernelwright::ui
