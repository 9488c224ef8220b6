// SPDX-License-Identifier: GPL-3.0-or-later
#include "iteration_chart.h"

#include <QGraphicsLayout>
#include <QMouseEvent>
#include <QToolTip>
#include <QtCharts/QChart>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>

#include <algorithm>
#include <cmath>

namespace kernelwright::ui
{

namespace
{
constexpr double pointRadius = 4.5;
constexpr double catchRadius = 11;

/// 1, 2 or 5 times a power of ten, at least `step`.
double niceStep(double step)
{
    const double power = std::pow(10, std::floor(std::log10(std::max(step, 1e-12))));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= step) return factor * power;
    return 10 * power;
}

/// A wide range with the ticks of a narrow one, even for a moment, would be drawn with very many of them.
void setScale(QValueAxis *axis, double from, double to, double step)
{
    if (step > axis->tickInterval()) axis->setTickInterval(step);
    axis->setRange(from, to);
    axis->setTickInterval(step);
}

} // namespace

IterationChart::IterationChart(const ThemeController &themes, PointColour colour, const QString &title,
                               QWidget *parent)
    : QChartView(parent)
    , themes_(themes)
    , colour_(colour)
    , across_(new QValueAxis)
    , up_(new QValueAxis)
{
    series_.title = title;
    setRenderHint(QPainter::Antialiasing);
    setMouseTracking(true);
    setFrameShape(NoFrame);
    setMinimumHeight(96);
    setAccessibleName(tr("Chart: %1 per iteration").arg(title));
    chart()->legend()->hide();
    chart()->setMargins({0, 0, 8, 0});
    chart()->layout()->setContentsMargins(0, 0, 0, 0);
    chart()->setBackgroundRoundness(0);
    for (QValueAxis *axis : {across_, up_}) {
        axis->setTickType(QValueAxis::TicksDynamic);
        axis->setTickAnchor(0);
    }
    across_->setLabelFormat(QStringLiteral("%.0f"));
    across_->setGridLineVisible(false);
    chart()->addAxis(across_, Qt::AlignBottom); // the chart owns them from here on
    chart()->addAxis(up_, Qt::AlignLeft);
    connect(&themes, &ThemeController::changed, this, &IterationChart::applyTheme);
    applyTheme();
}

void IterationChart::setSeries(const IterationSeries &series)
{
    series_ = series;
    rebuild();
}

void IterationChart::setSelected(CandidateId candidate)
{
    selected_ = candidate;
    viewport()->update();
}

void IterationChart::addLine(const std::vector<std::pair<double, double>> &points, const QColor &colour,
                             Qt::PenStyle style, double width)
{
    auto *line = new QLineSeries;
    for (const auto &[iteration, value] : points)
        line->append(iteration, value);
    line->setPen(QPen(colour, width, style));
    chart()->addSeries(line);
    line->attachAxis(across_);
    line->attachAxis(up_);
}

void IterationChart::applyTheme()
{
    const Theme &theme = themes_.theme();
    chart()->setBackgroundBrush(theme.surface);
    chart()->setTitleBrush(theme.text);
    QFont titleFont = font();
    titleFont.setWeight(QFont::DemiBold);
    chart()->setTitleFont(titleFont);
    QFont small = font();
    small.setPointSizeF(std::max(6.0, font().pointSizeF() * 0.85));
    QPen grid(theme.border, 1);
    grid.setStyle(Qt::DotLine);
    for (QValueAxis *axis : {across_, up_}) {
        axis->setLabelsColor(theme.mutedText);
        axis->setLinePenColor(theme.border);
        axis->setGridLinePen(grid);
        axis->setLabelsFont(small);
    }
    rebuild();
}

void IterationChart::rebuild()
{
    const Theme &theme = themes_.theme();
    chart()->removeAllSeries();
    chart()->setTitle(series_.unit.isEmpty() ? series_.title
                                             : series_.title + QStringLiteral(", ") + series_.unit);
    scaleAxes();
    const double end = lastPlace();
    for (const auto &[name, value] : series_.baselines)
        addLine({{0.5, value}, {end, value}}, theme.seriesBaseline, Qt::DashLine, 1.4);
    if (series_.floor)
        addLine({{0.5, *series_.floor}, {end, *series_.floor}}, theme.seriesFloor, Qt::DotLine, 1.8);
    addLine(series_.bestSoFar, theme.seriesBest, Qt::SolidLine, 2);
    viewport()->update();
}

double IterationChart::lastPlace() const
{
    return std::max(series_.lastIteration, 4) + 0.5;
}

void IterationChart::scaleAxes()
{
    largest_ = series_.floor.value_or(0);
    for (const IterationPoint &point : series_.points)
        largest_ = std::max(largest_, point.value + point.spread / 2);
    for (const auto &baseline : series_.baselines)
        largest_ = std::max(largest_, baseline.second);
    if (largest_ <= 0) largest_ = 1;
    // Labels closer than about two lines would be cut to dots.
    shownTicks_ = ticksForHeight();
    double step = niceStep(largest_ * 1.12 / shownTicks_);
    largest_ = step * std::ceil(largest_ * 1.12 / step);
    if (series_.unit == QStringLiteral("%") && largest_ > 50) {
        largest_ = 100; // of a whole: the axis ends where the value must
        step = 100.0 / shownTicks_;
    }
    setScale(across_, 0.5, lastPlace(), std::max(1.0, niceStep(lastPlace() / 12)));
    setScale(up_, 0, largest_, step);
    up_->setLabelFormat(step >= 1     ? QStringLiteral("%.0f")
                        : step >= 0.1 ? QStringLiteral("%.1f")
                                      : QStringLiteral("%.2f"));
}

int IterationChart::ticksForHeight() const
{
    const int line = fontMetrics().height();
    const int plot = height() - 4 * line; // title and the other axis take the rest
    return plot > 8 * line ? 4 : plot > 3 * line ? 2 : 1;
}

QPointF IterationChart::place(double iteration, double value) const
{
    const QRectF plot = chart()->plotArea();
    return {plot.left() + plot.width() * (iteration - 0.5) / (lastPlace() - 0.5),
            plot.bottom() - plot.height() * value / largest_};
}

QPointF IterationChart::positionOf(CandidateId candidate) const
{
    for (const IterationPoint &point : series_.points)
        if (point.candidate == candidate) return place(point.iteration, point.value);
    return {};
}

void IterationChart::drawForeground(QPainter *painter, const QRectF &)
{
    const QRectF plot = chart()->plotArea();
    if (plot.width() < 40 || plot.height() < 20) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    drawLabels(*painter, plot);
    drawPoints(*painter, plot);
    painter->restore();
}

void IterationChart::drawLabels(QPainter &painter, const QRectF &plot) const
{
    const Theme &theme = themes_.theme();
    QFont small = font();
    small.setPointSizeF(std::max(6.0, font().pointSizeF() * 0.8));
    painter.setFont(small);
    const QFontMetricsF metrics(small);
    std::vector<double> taken;
    const auto label = [&](const QString &text, double value, const QColor &colour) {
        double y = place(1, value).y() - 2;
        for (const double other : taken)
            if (std::abs(other - y) < metrics.height())
                y = other - metrics.height(); // baselines that nearly coincide are written above each other
        if (y - metrics.height() < plot.top() - 2) y = place(1, value).y() + metrics.height();
        taken.push_back(y);
        painter.setPen(colour);
        painter.drawText(
            QPointF(plot.right() - metrics.horizontalAdvance(text) - 3, y - metrics.descent() + 1), text);
    };
    for (const auto &[name, value] : series_.baselines)
        label(name, value, theme.seriesBaseline);
    if (series_.floor) label(tr("floor"), *series_.floor, theme.seriesFloor);
    if (series_.points.empty() && series_.failures.empty()) {
        painter.setPen(theme.mutedText);
        painter.drawText(plot, Qt::AlignCenter, tr("one point per evaluated candidate"));
    }
}

void IterationChart::drawPoints(QPainter &painter, const QRectF &plot) const
{
    const Theme &theme = themes_.theme();
    const QColor colour = theme.*colour_;
    for (const IterationPoint &failure : series_.failures) {
        const QPointF at(place(failure.iteration, 0).x(), plot.top() + 8);
        painter.setPen(QPen(failure.candidate == selected_ ? theme.text : theme.bad, 1.8));
        painter.drawLine(at + QPointF(-3.5, -3.5), at + QPointF(3.5, 3.5));
        painter.drawLine(at + QPointF(-3.5, 3.5), at + QPointF(3.5, -3.5));
    }
    for (const IterationPoint &point : series_.points) {
        const QPointF at = place(point.iteration, point.value);
        if (point.spread > 0) {
            const double up = place(point.iteration, point.value + point.spread / 2).y();
            const double down = place(point.iteration, point.value - point.spread / 2).y();
            painter.setPen(QPen(colour, 1.4));
            painter.drawLine(QPointF(at.x(), up), QPointF(at.x(), down));
            painter.drawLine(QPointF(at.x() - 4, up), QPointF(at.x() + 4, up));
            painter.drawLine(QPointF(at.x() - 4, down), QPointF(at.x() + 4, down));
        }
        painter.setPen(QPen(point.candidate == selected_ ? theme.text : theme.surface,
                            point.candidate == selected_ ? 2 : 1.2));
        painter.setBrush(colour);
        painter.drawEllipse(at, pointRadius, pointRadius);
    }
}

const IterationPoint *IterationChart::pointNear(const QPointF &position) const
{
    const IterationPoint *nearest = nullptr;
    double least = catchRadius;
    const auto consider = [&](const IterationPoint &point, const QPointF &at) {
        const double distance = std::hypot(at.x() - position.x(), at.y() - position.y());
        if (distance < least) {
            least = distance;
            nearest = &point;
        }
    };
    for (const IterationPoint &point : series_.points)
        consider(point, place(point.iteration, point.value));
    for (const IterationPoint &point : series_.failures)
        consider(point, {place(point.iteration, 0).x(), chart()->plotArea().top() + 8});
    return nearest;
}

void IterationChart::mouseMoveEvent(QMouseEvent *event)
{
    const IterationPoint *point = pointNear(event->position());
    viewport()->setCursor(point ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (point)
        QToolTip::showText(event->globalPosition().toPoint(), point->label, this);
    else
        QToolTip::hideText();
}

void IterationChart::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        if (const IterationPoint *point = pointNear(event->position()))
            emit candidateClicked(point->candidate);
}

void IterationChart::resizeEvent(QResizeEvent *event)
{
    QChartView::resizeEvent(event);
    if (ticksForHeight() != shownTicks_) rebuild();
    viewport()->update();
}

} // namespace kernelwright::ui
