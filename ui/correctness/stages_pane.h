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

/// The stages of the selected candidate's evaluation as they pass or fail, the verdict in a sentence, and the
/// worst element of a comparison that failed.
class StagesPane : public QWidget
{
    Q_OBJECT
public:
    explicit StagesPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setCandidate(const Candidate &candidate);
    /// A stage of this candidate has begun or ended; ignored when another candidate is shown.
    void setStage(CandidateId candidate, const StageResult &stage);

    StagesModel &model() { return *model_; }

private:
    void showStages(const std::vector<StageResult> &stages);

    const ThemeController &themes_;
    std::unique_ptr<StagesModel> model_;
    CandidateId candidate_ = noCandidate;
    std::vector<StageResult> known_;
    QTableView *view_;
    QLabel *verdict_, *worst_;
    EmptyHint *hint_;
};

} // namespace kernelwright::ui
