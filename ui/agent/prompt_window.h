// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/agent.h"

#include <QDialog>

class QLabel;
class QPlainTextEdit;

namespace kernelwright::ui
{

/// What a language model will be asked, to be read and changed before it is sent.
class PromptWindow : public QDialog
{
    Q_OBJECT
public:
    PromptWindow(const AgentPrompt &prompt, const QString &target, QWidget *parent = nullptr);

    AgentPrompt prompt() const; ///< as edited

signals:
    void sendRequested(const kernelwright::AgentPrompt &prompt);

private:
    void showSize();

    QPlainTextEdit *system_, *task_, *step_;
    QLabel *size_;
};

} // namespace kernelwright::ui
