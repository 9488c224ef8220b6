// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QStyledItemDelegate>

namespace kernelwright::ui
{

/// Colours a candidate's row by its verdict and marks accepted and pinned ones; the model knows no colours.
class VerdictDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    explicit VerdictDelegate(const ThemeController &themes, QObject *parent = nullptr);

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    void makeIcons();

    const ThemeController &themes_;
    QIcon accepted_, pinned_;
};

} // namespace kernelwright::ui
