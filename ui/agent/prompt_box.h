// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

namespace kernelwright::ui
{

/// A small text field that grows with what is typed; Enter sends, Shift+Enter makes a new line.
class PromptBox : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit PromptBox(QWidget *parent = nullptr);

signals:
    void submitted(const QString &text);

public:
    void submit();

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void fitHeight();
};

} // namespace kernelwright::ui
