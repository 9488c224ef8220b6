// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "action_registry.h"

#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QTreeWidget;

namespace kernelwright::ui
{

/// Lists every command with its shortcut, and lets it be changed.
class ShortcutsWindow : public QDialog
{
    Q_OBJECT
public:
    ShortcutsWindow(ActionRegistry &registry, QWidget *parent);

private:
    void refill();
    void change();

    ActionRegistry &registry_;
    QTreeWidget *list_;
    QKeySequenceEdit *edit_;
    QLabel *note_;
};

} // namespace kernelwright::ui
