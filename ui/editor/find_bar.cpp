// SPDX-License-Identifier: GPL-3.0-or-later
#include "find_bar.h"

#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <Qsci/qsciscintilla.h>

namespace kernelwright::ui
{

FindBar::FindBar(QsciScintilla *editor, QWidget *parent)
    : QWidget(parent)
    , editor_(editor)
{
    setRole(this, "bar");
    setAttribute(Qt::WA_StyledBackground);
    what_ = new QLineEdit;
    what_->setPlaceholderText(tr("Find"));
    what_->setAccessibleName(tr("Find in the source"));
    with_ = new QLineEdit;
    with_->setPlaceholderText(tr("Replace with"));
    with_->setAccessibleName(tr("Replace with"));
    matchCase_ = new QCheckBox(tr("Match case"));
    result_ = new QLabel;
    setRole(result_, "muted");
    auto *next = new QPushButton(tr("Next"));
    auto *previous = new QPushButton(tr("Previous"));
    auto *one = new QPushButton(tr("Replace"));
    auto *all = new QPushButton(tr("Replace all"));
    replaceTools_ = new QWidget;
    auto *replaceRow = new QHBoxLayout(replaceTools_);
    replaceRow->setContentsMargins(0, 0, 0, 0);
    replaceRow->addWidget(with_);
    replaceRow->addWidget(one);
    replaceRow->addWidget(all);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->addWidget(what_, 1);
    row->addWidget(previous);
    row->addWidget(next);
    row->addWidget(matchCase_);
    row->addWidget(replaceTools_, 1);
    row->addWidget(result_);
    connect(next, &QPushButton::clicked, this, [this] { find(true); });
    connect(previous, &QPushButton::clicked, this, [this] { find(false); });
    connect(what_, &QLineEdit::returnPressed, this, [this] { find(true); });
    connect(one, &QPushButton::clicked, this, &FindBar::replaceOne);
    connect(all, &QPushButton::clicked, this, &FindBar::replaceAll);
    hide();
}

void FindBar::open(bool replace)
{
    replaceTools_->setVisible(replace);
    if (editor_->hasSelectedText() && !editor_->selectedText().contains(QLatin1Char('\n')))
        what_->setText(editor_->selectedText());
    show();
    what_->setFocus();
    what_->selectAll();
}

bool FindBar::find(bool forward)
{
    result_->clear();
    if (what_->text().isEmpty()) return false;
    int line = -1;
    int column = -1;
    if (!forward && editor_->hasSelectedText()) {
        int endLine = 0;
        int endColumn = 0;
        editor_->getSelection(&line, &column, &endLine, &endColumn);
    }
    const bool found =
        editor_->findFirst(what_->text(), false, matchCase_->isChecked(), false, true, forward, line, column);
    if (!found) result_->setText(tr("Not found"));
    return found;
}

void FindBar::replaceOne()
{
    const auto sensitivity = matchCase_->isChecked() ? Qt::CaseSensitive : Qt::CaseInsensitive;
    if (editor_->selectedText().compare(what_->text(), sensitivity) == 0 && editor_->hasSelectedText())
        editor_->replaceSelectedText(with_->text());
    find(true);
}

void FindBar::replaceAll()
{
    if (what_->text().isEmpty()) return;
    int count = 0;
    editor_->beginUndoAction();
    bool more = editor_->findFirst(what_->text(), false, matchCase_->isChecked(), false, false, true, 0, 0);
    while (more) {
        editor_->replace(with_->text());
        ++count;
        more = editor_->findNext();
    }
    editor_->endUndoAction();
    result_->setText(tr("%1 replaced").arg(count));
}

void FindBar::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape) {
        hide();
        editor_->setFocus();
        return;
    }
    QWidget::keyPressEvent(event);
}

} // namespace kernelwright::ui
