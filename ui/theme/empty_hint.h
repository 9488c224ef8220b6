// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStackedLayout>
#include <QWidget>

class QLabel;

namespace kernelwright::ui
{

/// Shows `content`, or, while the pane has nothing to show, a sentence that says what to do next.
class EmptyHint : public QWidget
{
public:
    EmptyHint(QWidget *content, const QString &hint, QWidget *parent = nullptr);
    void setEmpty(bool empty);
    void setHint(const QString &hint);
    bool isShowingHint() const;

private:
    QStackedLayout *stack_;
    QLabel *label_;
};

/// Sets the dynamic property that the style sheet selects by, and restyles.
void setRole(QWidget *widget, const char *role);

} // namespace kernelwright::ui
