// SPDX-License-Identifier: GPL-3.0-or-later
#include "action_registry.h"

#include "ui/theme/theme.h"

#include <QWidget>

namespace kernelwright::ui
{

namespace
{
QString settingsKey(const QString &id)
{
    return QStringLiteral("shortcuts/") + id;
}
} // namespace

ActionRegistry::ActionRegistry(const ThemeController &themes, QSettings &settings, QWidget *window)
    : QObject(window)
    , themes_(themes)
    , settings_(settings)
    , window_(window)
{
    connect(&themes, &ThemeController::changed, this, &ActionRegistry::applyIcons);
}

QAction *ActionRegistry::add(const QString &id, const QString &category, const QString &text,
                             const QKeySequence &shortcut, const QString &icon, std::function<void()> run)
{
    auto *action = new QAction(text, window_);
    const QVariant changed = settings_.value(settingsKey(id));
    action->setShortcut(changed.isValid() ? QKeySequence(changed.toString()) : shortcut);
    action->setShortcutContext(Qt::WindowShortcut);
    if (!icon.isEmpty()) action->setIcon(themedIcon(themes_.theme(), icon));
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    window_->addAction(action);
    entries_.push_back({id, category, action, icon, shortcut});
    return action;
}

QAction *ActionRegistry::find(const QString &id) const
{
    for (const Entry &entry : entries_)
        if (entry.id == id) return entry.action;
    return nullptr;
}

QAction *ActionRegistry::setShortcut(const QString &id, const QKeySequence &shortcut)
{
    for (const Entry &entry : entries_)
        if (entry.id != id && !shortcut.isEmpty() && entry.action->shortcut() == shortcut)
            return entry.action;
    if (QAction *action = find(id)) {
        action->setShortcut(shortcut);
        settings_.setValue(settingsKey(id), shortcut.toString());
    }
    return nullptr;
}

void ActionRegistry::restoreShortcuts()
{
    for (const Entry &entry : entries_) {
        entry.action->setShortcut(entry.standardShortcut);
        settings_.remove(settingsKey(entry.id));
    }
}

void ActionRegistry::setPrimary(const QString &id)
{
    primary_ = id;
    if (QAction *action = find(id)) action->setIconVisibleInMenu(false);
    applyIcons();
}

void ActionRegistry::applyIcons()
{
    const Theme &theme = themes_.theme();
    for (const Entry &entry : entries_)
        if (!entry.icon.isEmpty())
            entry.action->setIcon(
                themedIcon(entry.icon, entry.id == primary_ ? theme.accentText : theme.text));
}

} // namespace kernelwright::ui
