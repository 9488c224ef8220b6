// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"

#include <QFrame>
#include <QString>

class QLabel;
class QToolButton;

namespace kernelwright::ui
{

/// One proposal of the agent: reasoning while it streams; folded to its summary and verdict when done. A
/// click on the header shows the candidate, the triangle folds and unfolds.
class IterationCard : public QFrame
{
    Q_OBJECT
public:
    IterationCard(const QString &title, const QString &origin, QWidget *parent = nullptr);

    void appendReasoning(const QString &text);
    void setCandidate(const Candidate &candidate); ///< summary, and the verdict once there is one
    void setFailure(const QString &sentence);      ///< the proposal came to nothing
    void setFolded(bool folded);
    bool isFolded() const { return folded_; }
    CandidateId candidate() const { return candidate_; }
    QString reasoning() const { return reasoning_; }
    QString verdict() const;

signals:
    void activated(kernelwright::CandidateId candidate);

protected:
    void mouseReleaseEvent(QMouseEvent *event) override;

private:
    CandidateId candidate_ = noCandidate;
    QString reasoning_;
    bool folded_ = false;
    QToolButton *fold_;
    QLabel *title_, *verdict_, *summary_, *text_;
};

} // namespace kernelwright::ui
