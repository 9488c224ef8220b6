// SPDX-License-Identifier: GPL-3.0-or-later
#include "stages_pane.h"

#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QHash>
#include <QHeaderView>
#include <QLabel>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace kernelwright::ui
{

namespace
{

/// Turns the status that the model names into an icon of the theme. Drawn once per theme: a table asks for
/// its icons many times over.
class StatusDelegate : public QStyledItemDelegate
{
public:
    StatusDelegate(const ThemeController &themes, QObject *parent)
        : QStyledItemDelegate(parent)
        , themes_(themes)
    {
        connect(&themes, &ThemeController::changed, this, [this] { makeIcons(); });
        makeIcons();
    }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->icon = icons_.value(index.data(Qt::DecorationRole).toString());
        option->decorationSize = {16, 16};
    }

private:
    void makeIcons()
    {
        const Theme &theme = themes_.theme();
        const struct
        {
            const char *status;
            const char *icon;
            QColor colour;
        } all[] = {{"pending", "pending", theme.mutedText},
                   {"running", "running", theme.accent},
                   {"passed", "passed", theme.good},
                   {"failed", "error", theme.bad},
                   {"skipped", "skipped", theme.mutedText}};
        for (const auto &each : all)
            icons_[QString::fromLatin1(each.status)] =
                themedIcon(QString::fromLatin1(each.icon), each.colour);
    }

    const ThemeController &themes_;
    QHash<QString, QIcon> icons_;
};

} // namespace

StagesPane::StagesPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
    , model_(makeStagesModel())
    , view_(new QTableView)
    , verdict_(new QLabel)
    , worst_(new QLabel)
{
    view_->setModel(model_.get());
    view_->setAccessibleName(tr("Stages of the evaluation"));
    view_->setItemDelegateForColumn(0, new StatusDelegate(themes, view_));
    view_->setShowGrid(false);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->verticalHeader()->hide();
    view_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    view_->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    view_->horizontalHeader()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    view_->horizontalHeader()->setHighlightSections(false);
    view_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view_->setWordWrap(true);
    for (QLabel *label : {verdict_, worst_}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setContentsMargins(10, 6, 10, 6);
    }
    setRole(verdict_, "heading");
    setRole(worst_, "bad");
    auto *content = new QWidget;
    setRole(content, "surface");
    content->setAttribute(Qt::WA_StyledBackground);
    auto *inner = new QVBoxLayout(content);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addWidget(verdict_);
    inner->addWidget(worst_);
    inner->addWidget(view_, 1);
    hint_ = new EmptyHint(
        content, tr("Each candidate is compiled, compared with the reference and measured in stages.\n"
                    "Select a candidate to see how far it came."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);
    worst_->hide();
}

void StagesPane::clear()
{
    candidate_ = noCandidate;
    known_.clear();
    model_->setRows({});
    hint_->setEmpty(true);
}

void StagesPane::setCandidate(const Candidate &candidate)
{
    const bool another = candidate.id != candidate_;
    candidate_ = candidate.id;
    if (candidate.evaluation)
        known_ = candidate.evaluation->stages;
    else if (another)
        known_.clear();
    showStages(known_);
    QString sentence = candidateTitle(candidate) + QStringLiteral(" – ") + verdictText(candidate);
    const bool judged = candidate.evaluation.has_value();
    if (judged && !candidate.evaluation->reason.empty())
        sentence += QStringLiteral(": ") + fromText(candidate.evaluation->reason);
    verdict_->setText(sentence);
    const bool worst = judged && candidate.evaluation->worst.has_value();
    worst_->setVisible(worst);
    if (worst) worst_->setText(tr("Worst element: %1").arg(worstElementText(*candidate.evaluation->worst)));
}

void StagesPane::setStage(CandidateId candidate, const StageResult &stage)
{
    if (candidate != candidate_) return;
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const StageResult &other) { return other.name == stage.name; });
    if (found != known_.end())
        *found = stage;
    else
        known_.push_back(stage);
    showStages(known_);
}

void StagesPane::showStages(const std::vector<StageResult> &stages)
{
    std::vector<StageResult> all = allStages(stages);
    hint_->setEmpty(false);
    if (static_cast<int>(all.size()) != model_->rowCount()) {
        model_->setRows(std::move(all));
        return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const StageResult &shown = model_->row(static_cast<int>(i));
        if (shown.name != all[i].name || shown.status != all[i].status || shown.message != all[i].message ||
            shown.seconds != all[i].seconds)
            model_->replaceRow(static_cast<int>(i), std::move(all[i]));
    }
}

} // namespace kernelwright::ui
