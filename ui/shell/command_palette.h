// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "action_registry.h"

#include <QFrame>

class QLineEdit;
class QListWidget;

namespace kernelwright::ui
{

/// Whether the letters of `wanted` occur in `text` in this order, case and spaces aside.
bool matchesLoosely(const QString &text, const QString &wanted);

/// Finds a command by some of its letters and runs it. Shown over the window; Escape or a click elsewhere
/// closes it.
class CommandPalette : public QFrame
{
    Q_OBJECT
public:
    CommandPalette(const ActionRegistry &registry, QWidget *window);
    void open();

    QLineEdit *input() { return input_; }
    QStringList shownCommands() const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void refill();
    void runCurrent();

    const ActionRegistry &registry_;
    QLineEdit *input_;
    QListWidget *list_;
    std::vector<QAction *> shown_;
};

} // namespace kernelwright::ui
