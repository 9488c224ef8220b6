// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "iteration_chart.h"

#include <QWidget>

class QLabel;

namespace kernelwright::ui
{

class EmptyHint;

/// Latency, occupancy and memory throughput per iteration of one task.
class ChartsPane : public QWidget
{
    Q_OBJECT
public:
    explicit ChartsPane(const ThemeController &themes, QWidget *parent = nullptr);

    void setCandidates(const QString &taskTitle, const std::vector<Candidate> &candidates);
    void setSelected(CandidateId candidate);

    /// All charts as one picture, as PNG; and their numbers as CSV. The error says what the system said.
    Result<void> exportPicture(const QString &path);
    Result<void> exportNumbers(const QString &path) const;

    IterationChart *latency() { return latency_; }
    IterationChart *occupancy() { return occupancy_; }
    IterationChart *throughput() { return throughput_; }

signals:
    void candidateClicked(kernelwright::CandidateId candidate);
    void exportRequested();

private:
    const ThemeController &themes_;
    QLabel *title_, *key_;
    QWidget *charts_;
    EmptyHint *hint_;
    IterationChart *latency_, *occupancy_, *throughput_;
    std::vector<Candidate> candidates_;
};

} // namespace kernelwright::ui
