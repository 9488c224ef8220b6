// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QPlainTextEdit;

namespace kernelwright::ui
{

class EmptyHint;

/// What ran, what failed and why, the engine's own lines among it; the newest ten thousand lines.
class LogPane : public QWidget
{
    Q_OBJECT
public:
    enum class Level { Engine, Information, Warning, Error };

    explicit LogPane(const ThemeController &themes, QWidget *parent = nullptr);
    void add(Level level, const QString &line);
    QString text() const;

private:
    const ThemeController &themes_;
    QPlainTextEdit *view_;
    EmptyHint *hint_;
};

} // namespace kernelwright::ui
