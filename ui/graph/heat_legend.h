// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

namespace kernelwright::ui
{

/// A strip from cold to hot with a word at each end.
class HeatLegend : public QWidget
{
    Q_OBJECT
public:
    explicit HeatLegend(const ThemeController &themes, QWidget *parent = nullptr);
    void setEnds(const QString &cold, const QString &hot);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    const ThemeController &themes_;
    QString cold_, hot_;
};

} // namespace kernelwright::ui
