// SPDX-License-Identifier: GPL-3.0-or-later
#include "verdict_delegate.h"

#include "ui/models/candidates_model.h"

namespace kernelwright::ui
{

VerdictDelegate::VerdictDelegate(const ThemeController &themes, QObject *parent)
    : QStyledItemDelegate(parent)
    , themes_(themes)
{
    connect(&themes, &ThemeController::changed, this, &VerdictDelegate::makeIcons);
    makeIcons();
}

void VerdictDelegate::makeIcons()
{
    accepted_ = themedIcon(QStringLiteral("accept"), themes_.theme().good);
    pinned_ = themedIcon(QStringLiteral("pin"), themes_.theme().accent);
}

void VerdictDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme &theme = themes_.theme();
    const QVariant verdict = index.data(CandidatesModel::VerdictRole);
    if (!verdict.isValid()) {
        option->font.setWeight(QFont::DemiBold);
        return;
    }
    if (index.column() == CandidatesModel::Title) {
        const bool accepted = index.data(CandidatesModel::AcceptedRole).toBool();
        if (accepted || index.data(CandidatesModel::PinnedRole).toBool()) {
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->icon = accepted ? accepted_ : pinned_;
            option->decorationSize = {16, 16};
        }
    }
    QColor ink = theme.text;
    if (index.column() == CandidatesModel::VerdictColumn || index.column() == CandidatesModel::Speedup) {
        const int value = verdict.toInt();
        if (value < 0)
            ink = theme.mutedText;
        else if (value == static_cast<int>(Verdict::Faster))
            ink = theme.good;
        else if (value == static_cast<int>(Verdict::Suspicious))
            ink = theme.warning;
        else if (!isCorrect(static_cast<Verdict>(value)) && value != static_cast<int>(Verdict::NotRun))
            ink = theme.bad;
        else
            ink = theme.mutedText;
    }
    for (const auto role : {QPalette::Text, QPalette::HighlightedText})
        option->palette.setColor(role, ink);
}

} // namespace kernelwright::ui
