// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QObject>
#include <QSettings>

#include <functional>
#include <vector>

namespace kernelwright::ui
{

class ThemeController;

/// Every command of the window, once: menus, tool bar, palette and the list of shortcuts all show these
/// actions. A shortcut that the person changes is remembered.
class ActionRegistry : public QObject
{
    Q_OBJECT
public:
    struct Entry
    {
        QString id;       ///< stable: shortcuts are remembered under it
        QString category; ///< "Search", "Editor" …
        QAction *action;
        QString icon;
        QKeySequence standardShortcut;
    };

    ActionRegistry(const ThemeController &themes, QSettings &settings, QWidget *window);

    QAction *add(const QString &id, const QString &category, const QString &text,
                 const QKeySequence &shortcut, const QString &icon, std::function<void()> run);
    QAction *find(const QString &id) const; ///< nullptr if there is none
    const std::vector<Entry> &entries() const { return entries_; }

    /// Draws this action's icon for a button in the accent colour; menus then show it without one.
    void setPrimary(const QString &id);

    /// Remembers another shortcut. Returns the action that has it already, which then keeps it; nullptr when
    /// done.
    QAction *setShortcut(const QString &id, const QKeySequence &shortcut);
    void restoreShortcuts();

private:
    void applyIcons();

    const ThemeController &themes_;
    QSettings &settings_;
    QWidget *window_;
    std::vector<Entry> entries_;
    QString primary_;
};

} // namespace kernelwright::ui
