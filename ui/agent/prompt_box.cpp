// SPDX-License-Identifier: GPL-3.0-or-later
#include "prompt_box.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace kernelwright::ui
{

PromptBox::PromptBox(QWidget *parent)
    : QPlainTextEdit(parent)
{
    setProperty("role", "input");
    setTabChangesFocus(true);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    connect(this, &QPlainTextEdit::textChanged, this, &PromptBox::fitHeight);
    fitHeight();
}

void PromptBox::fitHeight()
{
    const int lines = std::clamp(static_cast<int>(std::ceil(document()->size().height())), 2, 6);
    setFixedHeight(lines * fontMetrics().lineSpacing() + 20);
}

void PromptBox::submit()
{
    const QString text = toPlainText().trimmed();
    if (text.isEmpty()) return;
    clear();
    emit submitted(text);
}

void PromptBox::keyPressEvent(QKeyEvent *event)
{
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && event->modifiers() == Qt::NoModifier) {
        submit();
        return;
    }
    if (enter && event->modifiers() != Qt::ShiftModifier) {
        event->ignore(); // Ctrl+Enter and Alt+Enter are the window's
        return;
    }
    QPlainTextEdit::keyPressEvent(event);
}

} // namespace kernelwright::ui
