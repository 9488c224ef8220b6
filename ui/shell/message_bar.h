// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace kernelwright::ui
{

class ThemeController;

/// One message above the panes, with at most one thing to do about it. Never modal; a newer message takes its
/// place, but an error is not pushed aside by a mere piece of information.
class MessageBar : public QFrame
{
    Q_OBJECT
public:
    enum class Level { Information, Success, Warning, Error };

    explicit MessageBar(const ThemeController &themes, QWidget *parent = nullptr);

    void show(Level level, const QString &text, const QString &action = {}, std::function<void()> run = {});
    void dismiss();
    QString text() const;
    Level level() const { return level_; }
    QPushButton *actionButton() { return action_; }

private:
    void applyTheme();

    const ThemeController &themes_;
    Level level_ = Level::Information;
    QLabel *icon_, *text_;
    QPushButton *action_;
    QToolButton *close_;
    std::function<void()> run_;
};

} // namespace kernelwright::ui
