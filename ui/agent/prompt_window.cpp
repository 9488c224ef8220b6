// SPDX-License-Identifier: GPL-3.0-or-later
#include "prompt_window.h"

#include "base/text.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>

namespace kernelwright::ui
{

PromptWindow::PromptWindow(const AgentPrompt &prompt, const QString &target, QWidget *parent)
    : QDialog(parent)
    , size_(new QLabel)
{
    setWindowTitle(target.isEmpty() ? tr("Prompt") : tr("Prompt, going on from %1").arg(target));
    auto *tabs = new QTabWidget;
    const auto add = [&](const QString &title, const QString &name, const std::string &text) {
        auto *edit = new QPlainTextEdit(fromText(text));
        edit->setObjectName(name);
        edit->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        tabs->addTab(edit, title);
        connect(edit, &QPlainTextEdit::textChanged, this, &PromptWindow::showSize);
        return edit;
    };
    step_ = add(tr("This step"), QStringLiteral("step"), prompt.step);
    task_ = add(tr("The task"), QStringLiteral("task"), prompt.task);
    system_ = add(tr("Always"), QStringLiteral("system"), prompt.system);
    setRole(size_, "muted");
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton *send = buttons->addButton(tr("Send"), QDialogButtonBox::AcceptRole);
    send->setObjectName(QStringLiteral("send"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(send, &QPushButton::clicked, this, [this] {
        emit sendRequested(this->prompt());
        accept();
    });
    auto *below = new QHBoxLayout;
    below->addWidget(size_, 1);
    below->addWidget(buttons);
    auto *column = new QVBoxLayout(this);
    column->addWidget(tabs, 1);
    column->addLayout(below);
    resize(820, 640);
    showSize();
}

AgentPrompt PromptWindow::prompt() const
{
    return {system_->toPlainText().toStdString(), task_->toPlainText().toStdString(),
            step_->toPlainText().toStdString()};
}

void PromptWindow::showSize()
{
    constexpr double bytesPerToken = 4;
    const AgentPrompt now = prompt();
    const auto bytes = static_cast<double>(now.system.size() + now.task.size() + now.step.size());
    size_->setText(
        tr("%1, about %2 tokens. Parts that stay the same from prompt to prompt come first, so that "
           "providers can keep them in their cache.")
            .arg(fromText(formatBytes(bytes)), fromText(formatCount(bytes / bytesPerToken))));
    size_->setWordWrap(true);
}

} // namespace kernelwright::ui
