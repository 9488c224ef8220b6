// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/evaluation_models.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QGridLayout;
class QLabel;

namespace kernelwright::ui
{

class EmptyHint;

/// Counters of the selected candidate beside its parent's and the best one's; below each what it says in a
/// plain sentence, with what usually improves it.
class MetricsPane : public QWidget
{
    Q_OBJECT
public:
    explicit MetricsPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best);

    const std::vector<MetricRow> &rows() const { return rows_; }

private:
    void addHeader();
    void addRow(const MetricRow &row);
    void emptyGrid();

    std::vector<MetricRow> rows_;
    QGridLayout *grid_;
    QLabel *note_;
    std::string catalogueProblem_; ///< why metrics cannot be explained
    MetricCatalogue catalogue_;
    EmptyHint *hint_;
};

} // namespace kernelwright::ui
