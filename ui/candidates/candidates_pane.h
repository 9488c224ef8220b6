// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"
#include "ui/models/operators_model.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QAction;
class QTreeView;

namespace kernelwright::ui
{

class CandidatesModel;
class EmptyHint;

/// The candidate tree with its context menu. What the menu does is asked for by signals.
class CandidatesPane : public QWidget
{
    Q_OBJECT
public:
    CandidatesPane(const ThemeController &themes, CandidatesModel &model, QWidget *parent = nullptr);

    void select(CandidateId id); ///< emits candidateSelected only if it was another before
    CandidateId selected() const;
    QTreeView *view() { return view_; }

signals:
    void candidateSelected(kernelwright::CandidateId id);
    void acceptRequested(kernelwright::CandidateId id);
    void repromptRequested(kernelwright::CandidateId id);
    void labelsChanged(kernelwright::CandidateId id, const QString &name, const QString &note, bool pinned);

private:
    void fitColumns();
    void openMenu(const QPoint &position);
    void ask(const QString &title, const QString &label, const QString &text,
             const std::function<void(const QString &)> &done);

    CandidatesModel &model_;
    UnknownLastProxy proxy_;
    QTreeView *view_;
    EmptyHint *hint_;
};

} // namespace kernelwright::ui
