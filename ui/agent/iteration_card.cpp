// SPDX-License-Identifier: GPL-3.0-or-later
#include "iteration_card.h"

#include "base/text.h"
#include "ui/models/candidate_set.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QToolButton>

namespace kernelwright::ui
{

namespace
{

const char *roleOf(const Candidate &candidate)
{
    if (!candidate.evaluation) return "muted";
    switch (candidate.evaluation->verdict) {
    case Verdict::Faster:
        return "good";
    case Verdict::Slower:
    case Verdict::Ambiguous:
    case Verdict::NotRun:
        return "muted";
    case Verdict::Suspicious:
        return "warning";
    default:
        return "bad";
    }
}

QLabel *wrappedLabel()
{
    auto *label = new QLabel;
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setTextFormat(Qt::PlainText);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    return label;
}

} // namespace

IterationCard::IterationCard(const QString &title, const QString &origin, QWidget *parent)
    : QFrame(parent)
{
    setRole(this, "card");
    fold_ = new QToolButton;
    fold_->setArrowType(Qt::DownArrow);
    fold_->setAccessibleName(tr("Show or hide the reasoning"));
    fold_->setAutoRaise(true);
    connect(fold_, &QToolButton::clicked, this, [this] { setFolded(!folded_); });
    title_ = new QLabel(title);
    setRole(title_, "heading");
    auto *from = new QLabel(origin);
    setRole(from, "muted");
    verdict_ = new QLabel(tr("thinking …"));
    setRole(verdict_, "muted");
    summary_ = wrappedLabel();
    summary_->hide();
    text_ = wrappedLabel();
    setRole(text_, "muted");

    auto *head = new QHBoxLayout;
    head->setSpacing(6);
    head->addWidget(fold_);
    head->addWidget(title_);
    head->addWidget(from);
    head->addStretch(1);
    head->addWidget(verdict_);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 6, 10, 8);
    column->setSpacing(4);
    column->addLayout(head);
    column->addWidget(summary_);
    column->addWidget(text_);
}

void IterationCard::appendReasoning(const QString &text)
{
    reasoning_ += text;
    text_->setText(reasoning_.trimmed());
}

void IterationCard::setCandidate(const Candidate &candidate)
{
    candidate_ = candidate.id;
    title_->setText(candidateTitle(candidate));
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Click to show this candidate"));
    if (!candidate.summary.empty()) {
        summary_->setText(fromText(candidate.summary));
        summary_->show();
    }
    if (reasoning_.isEmpty() && !candidate.reasoning.empty()) appendReasoning(fromText(candidate.reasoning));
    QString verdict = verdictText(candidate);
    if (isTimed(candidate) && candidate.evaluation->speedup > 0)
        verdict += QStringLiteral(" ") + fromText(formatSpeedup(candidate.evaluation->speedup));
    if (candidate.accepted)
        verdict = QStringLiteral("✓ ") + tr("accepted · ") + verdict;
    else if (!candidate.evaluation)
        verdict += QStringLiteral(" …");
    verdict_->setText(verdict);
    setRole(verdict_, roleOf(candidate));
    if (candidate.evaluation) verdict_->setToolTip(fromText(candidate.evaluation->reason));
}

void IterationCard::setFailure(const QString &sentence)
{
    verdict_->setText(tr("no candidate"));
    setRole(verdict_, "warning");
    summary_->setText(sentence);
    summary_->show();
}

void IterationCard::setFolded(bool folded)
{
    folded_ = folded;
    text_->setVisible(!folded && !reasoning_.isEmpty());
    fold_->setArrowType(folded ? Qt::RightArrow : Qt::DownArrow);
}

QString IterationCard::verdict() const
{
    return verdict_->text();
}

void IterationCard::mouseReleaseEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->pos()) && candidate_ != noCandidate)
        emit activated(candidate_);
    QFrame::mouseReleaseEvent(event);
}

} // namespace kernelwright::ui
