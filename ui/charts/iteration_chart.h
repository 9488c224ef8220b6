// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/iteration_series.h"
#include "ui/theme/theme.h"

#include <QtCharts/QChartView>

class QValueAxis;

namespace kernelwright::ui
{

/// One value over the iterations of a task: points with their spread, the best-so-far step line, baselines,
/// the floor, and a cross for each candidate that gave no value. Hover explains a point, a click selects its
/// candidate.
class IterationChart : public QChartView
{
    Q_OBJECT
public:
    using PointColour = QColor Theme::*;
    IterationChart(const ThemeController &themes, PointColour colour, const QString &title,
                   QWidget *parent = nullptr);

    void setSeries(const IterationSeries &series);
    const IterationSeries &series() const { return series_; }
    void setSelected(CandidateId candidate);
    /// Where a candidate's point is drawn, in the widget's coordinates; a null point where it has none.
    QPointF positionOf(CandidateId candidate) const;

signals:
    void candidateClicked(kernelwright::CandidateId candidate);

protected:
    void drawForeground(QPainter *painter, const QRectF &rect) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void applyTheme();
    void rebuild();
    void scaleAxes();
    double lastPlace() const; ///< right end of the iteration axis
    int ticksForHeight() const;
    void addLine(const std::vector<std::pair<double, double>> &points, const QColor &colour,
                 Qt::PenStyle style, double width);
    void drawLabels(QPainter &painter, const QRectF &plot) const;
    void drawPoints(QPainter &painter, const QRectF &plot) const;
    QPointF place(double iteration, double value) const;
    const IterationPoint *pointNear(const QPointF &position) const;

    const ThemeController &themes_;
    PointColour colour_;
    QValueAxis *across_, *up_;
    IterationSeries series_;
    CandidateId selected_ = noCandidate;
    double largest_ = 1; ///< top of the value axis
    int shownTicks_ = 0;
};

} // namespace kernelwright::ui
