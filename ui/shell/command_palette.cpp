// SPDX-License-Identifier: GPL-3.0-or-later
#include "command_palette.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>

#include <algorithm>

namespace kernelwright::ui
{

bool matchesLoosely(const QString &text, const QString &wanted)
{
    qsizetype at = 0;
    for (const QChar letter : wanted) {
        if (letter.isSpace()) continue;
        at = text.indexOf(letter, at, Qt::CaseInsensitive);
        if (at < 0) return false;
        ++at;
    }
    return true;
}

CommandPalette::CommandPalette(const ActionRegistry &registry, QWidget *window)
    : QFrame(window, Qt::Popup)
    , registry_(registry)
    , input_(new QLineEdit)
    , list_(new QListWidget)
{
    setAccessibleName(tr("Command palette"));
    setProperty("role", "card");
    setFrameShape(StyledPanel);
    input_->setPlaceholderText(tr("What do you want to do?"));
    input_->setAccessibleName(tr("Find a command"));
    list_->setAccessibleName(tr("Commands"));
    list_->setFocusPolicy(Qt::NoFocus);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->addWidget(input_);
    column->addWidget(list_);
    input_->installEventFilter(this);
    connect(input_, &QLineEdit::textChanged, this, &CommandPalette::refill);
    connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(list_, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
}

void CommandPalette::open()
{
    const QWidget *window = parentWidget();
    const int width = std::min(560, window->width() - 40);
    resize(width, std::min(420, window->height() - 80));
    move(window->mapToGlobal(QPoint((window->width() - width) / 2, 60)));
    input_->clear();
    refill();
    show();
    input_->setFocus();
}

void CommandPalette::refill()
{
    list_->clear();
    shown_.clear();
    for (const ActionRegistry::Entry &entry : registry_.entries()) {
        const QString text =
            entry.category + QStringLiteral(": ") + entry.action->text().remove(QLatin1Char('&'));
        if (!entry.action->isEnabled() || !matchesLoosely(text, input_->text())) continue;
        const QString shortcut = entry.action->shortcut().toString(QKeySequence::NativeText);
        list_->addItem(shortcut.isEmpty() ? text : text + QStringLiteral("    ") + shortcut);
        shown_.push_back(entry.action);
    }
    list_->setCurrentRow(0);
}

QStringList CommandPalette::shownCommands() const
{
    QStringList commands;
    for (const QAction *action : shown_)
        commands << action->text().remove(QLatin1Char('&'));
    return commands;
}

void CommandPalette::runCurrent()
{
    const int row = list_->currentRow();
    hide();
    if (row >= 0 && row < static_cast<int>(shown_.size())) shown_[static_cast<std::size_t>(row)]->trigger();
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == input_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0 && list_->count() > 0) {
            list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
            return true;
        }
        if (key == Qt::Key_Escape) {
            hide();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace kernelwright::ui
