// SPDX-License-Identifier: GPL-3.0-or-later
#include "empty_hint.h"

#include <QLabel>
#include <QStyle>

namespace kernelwright::ui
{

EmptyHint::EmptyHint(QWidget *content, const QString &hint, QWidget *parent)
    : QWidget(parent)
    , stack_(new QStackedLayout(this))
    , label_(new QLabel(hint))
{
    label_->setAlignment(Qt::AlignCenter);
    label_->setWordWrap(true);
    setRole(label_, "empty");
    stack_->addWidget(content);
    stack_->addWidget(label_);
    setEmpty(true);
}

void EmptyHint::setEmpty(bool empty)
{
    stack_->setCurrentIndex(empty ? 1 : 0);
}

void EmptyHint::setHint(const QString &hint)
{
    label_->setText(hint);
}

bool EmptyHint::isShowingHint() const
{
    return stack_->currentIndex() == 1;
}

void setRole(QWidget *widget, const char *role)
{
    widget->setProperty("role", role);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

} // namespace kernelwright::ui
