// SPDX-License-Identifier: GPL-3.0-or-later
#include "shortcuts_window.h"

#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>

namespace kernelwright::ui
{

ShortcutsWindow::ShortcutsWindow(ActionRegistry &registry, QWidget *parent)
    : QDialog(parent)
    , registry_(registry)
    , list_(new QTreeWidget)
    , edit_(new QKeySequenceEdit)
    , note_(new QLabel)
{
    setWindowTitle(tr("Keyboard shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(560, 620);
    list_->setHeaderLabels({tr("Command"), tr("Shortcut")});
    list_->setAccessibleName(tr("Commands and their shortcuts"));
    list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    list_->header()->setStretchLastSection(false);
    edit_->setAccessibleName(tr("New shortcut"));
    setRole(note_, "muted");
    auto *set = new QPushButton(tr("Set"));
    set->setAutoDefault(false);
    auto *reset = new QPushButton(tr("Restore all"));
    reset->setAutoDefault(false);
    connect(set, &QPushButton::clicked, this, &ShortcutsWindow::change);
    connect(reset, &QPushButton::clicked, this, [this] {
        registry_.restoreShortcuts();
        refill();
    });
    connect(list_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem *item) {
        if (item) edit_->setKeySequence(QKeySequence(item->text(1), QKeySequence::NativeText));
    });
    auto *row = new QHBoxLayout;
    row->addWidget(new QLabel(tr("Shortcut")));
    row->addWidget(edit_, 1);
    row->addWidget(set);
    row->addWidget(reset);
    auto *column = new QVBoxLayout(this);
    column->addWidget(list_, 1);
    column->addLayout(row);
    column->addWidget(note_);
    refill();
}

void ShortcutsWindow::refill()
{
    list_->clear();
    QTreeWidgetItem *category = nullptr;
    for (const ActionRegistry::Entry &entry : registry_.entries()) {
        if (!category || category->text(0) != entry.category) {
            category = new QTreeWidgetItem(list_, {entry.category});
            category->setExpanded(true);
        }
        auto *item =
            new QTreeWidgetItem(category, {entry.action->text().remove(QLatin1Char('&')),
                                           entry.action->shortcut().toString(QKeySequence::NativeText)});
        item->setData(0, Qt::UserRole, entry.id);
    }
}

void ShortcutsWindow::change()
{
    QTreeWidgetItem *item = list_->currentItem();
    const QString id = item ? item->data(0, Qt::UserRole).toString() : QString();
    if (id.isEmpty()) {
        note_->setText(tr("Select a command first."));
        return;
    }
    if (const QAction *owner = registry_.setShortcut(id, edit_->keySequence())) {
        note_->setText(tr("“%1” has this shortcut already.").arg(owner->text().remove(QLatin1Char('&'))));
        return;
    }
    item->setText(1, edit_->keySequence().toString(QKeySequence::NativeText));
    note_->clear();
}

} // namespace kernelwright::ui
