// SPDX-License-Identifier: GPL-3.0-or-later
#include "message_bar.h"

#include "ui/theme/empty_hint.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace kernelwright::ui
{

MessageBar::MessageBar(const ThemeController &themes, QWidget *parent)
    : QFrame(parent)
    , themes_(themes)
    , icon_(new QLabel)
    , text_(new QLabel)
    , action_(new QPushButton)
    , close_(new QToolButton)
{
    setObjectName(QStringLiteral("messageBar"));
    setAccessibleName(tr("Message"));
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    close_->setAccessibleName(tr("Close the message"));
    connect(close_, &QToolButton::clicked, this, &MessageBar::dismiss);
    connect(action_, &QPushButton::clicked, this, [this] {
        const auto run = run_;
        dismiss();
        if (run) run();
    });
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 8, 6);
    row->setSpacing(10);
    row->addWidget(icon_);
    row->addWidget(text_, 1);
    row->addWidget(action_);
    row->addWidget(close_);
    connect(&themes, &ThemeController::changed, this, &MessageBar::applyTheme);
    applyTheme();
    hide();
}

void MessageBar::applyTheme()
{
    const Theme &theme = themes_.theme();
    QColor colour = theme.information;
    QString icon = QStringLiteral("info");
    switch (level_) {
    case Level::Information:
        break;
    case Level::Success:
        colour = theme.good;
        icon = QStringLiteral("passed");
        break;
    case Level::Warning:
        colour = theme.warning;
        icon = QStringLiteral("warning");
        break;
    case Level::Error:
        colour = theme.bad;
        icon = QStringLiteral("error");
        break;
    }
    icon_->setPixmap(themedIcon(icon, colour).pixmap(20, 20));
    close_->setIcon(themedIcon(theme, QStringLiteral("close")));
    setStyleSheet(QStringLiteral("#messageBar { background: %1; border: none; border-bottom: 1px solid %2; "
                                 "border-left: 4px solid %3; }")
                      .arg(theme.raised.name(), theme.border.name(), colour.name()));
}

void MessageBar::show(Level level, const QString &text, const QString &action, std::function<void()> run)
{
    if (isVisibleTo(parentWidget()) && level_ == Level::Error && level == Level::Information) return;
    level_ = level;
    text_->setText(text);
    action_->setText(action);
    action_->setVisible(!action.isEmpty());
    setRole(action_, level == Level::Success ? "primary" : "");
    run_ = std::move(run);
    applyTheme();
    QFrame::show();
}

void MessageBar::dismiss()
{
    run_ = {};
    hide();
}

QString MessageBar::text() const
{
    return isVisibleTo(parentWidget()) ? text_->text() : QString();
}

} // namespace kernelwright::ui
