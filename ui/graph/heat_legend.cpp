// SPDX-License-Identifier: GPL-3.0-or-later
#include "heat_legend.h"

#include <QPainter>

namespace kernelwright::ui
{

namespace
{
constexpr int stripWidth = 48;
constexpr int gap = 6;
} // namespace

HeatLegend::HeatLegend(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
{
    connect(&themes, &ThemeController::changed, this, qOverload<>(&QWidget::update));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
}

void HeatLegend::setEnds(const QString &cold, const QString &hot)
{
    cold_ = cold;
    hot_ = hot;
    setAccessibleName(tr("Colours from %1 to %2").arg(cold, hot));
    updateGeometry();
    update();
}

QSize HeatLegend::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    return {metrics.horizontalAdvance(cold_) + metrics.horizontalAdvance(hot_) + stripWidth + 2 * gap,
            metrics.height() + 4};
}

void HeatLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme &theme = themes_.theme();
    painter.setPen(theme.mutedText);
    const int coldWidth = fontMetrics().horizontalAdvance(cold_);
    painter.drawText(QRect(0, 0, coldWidth, height()), Qt::AlignVCenter, cold_);
    const QRect strip(coldWidth + gap, height() / 2 - 4, stripWidth, 8);
    QLinearGradient gradient(strip.topLeft(), strip.topRight());
    for (int i = 0; i <= 8; ++i)
        gradient.setColorAt(i / 8.0, theme.heat(i / 8.0));
    painter.setPen(Qt::NoPen);
    painter.setBrush(gradient);
    painter.drawRoundedRect(strip, 4, 4);
    painter.setPen(theme.mutedText);
    painter.drawText(QRect(strip.right() + gap, 0, width(), height()), Qt::AlignVCenter, hot_);
}

} // namespace kernelwright::ui
