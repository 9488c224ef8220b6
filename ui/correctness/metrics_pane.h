// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/evaluation_models.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace kernelwright::ui
{

class EmptyHint;

/// Counters of the selected candidate beside its parent's and the best one's, each with a plain sentence.
class MetricsPane : public QWidget
{
    Q_OBJECT
public:
    explicit MetricsPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best);

    MetricsModel &model() { return *model_; }

private:
    std::unique_ptr<MetricsModel> model_;
    QTableView *view_;
    QLabel *note_;
    EmptyHint *hint_;
};

} // namespace kernelwright::ui
