// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"
#include "kernel/task.h"
#include "table_model.h"

#include <QAbstractItemModel>

#include <map>
#include <memory>
#include <vector>

namespace kernelwright::ui
{

/// The candidate tree: tasks at the top, below each its candidates, each under the one it was made from. A
/// candidate whose parent is unknown stands directly under its task. IdRole gives the candidate's number (0
/// on a task's row).
class CandidatesModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum ColumnIndex { Title, VerdictColumn, Latency, Speedup, Spread, Author, ColumnCount };
    enum Role {
        VerdictRole = IdRole + 1, ///< int of Verdict; -1 while it is being evaluated; invalid on a task's row
        AcceptedRole,
        PinnedRole,
        SummaryRole,
    };

    explicit CandidatesModel(QObject *parent = nullptr);
    ~CandidatesModel() override;

    void clear();
    void putTask(const std::string &id, const QString &title);
    /// Inserts it, or updates the row of the same id. Its task must have been put before, else the task's id
    /// is its title.
    void putCandidate(const Candidate &candidate);

    QModelIndex indexOf(CandidateId id) const;
    const Candidate *candidateAt(const QModelIndex &index) const; ///< nullptr on a task's row

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Item;
    Item *itemAt(const QModelIndex &index) const;
    QModelIndex indexOf(const Item *item, int column = 0) const;
    Item *taskItem(const std::string &id);
    void unacceptSiblings(const Candidate &accepted);

    std::unique_ptr<Item> root_;
    std::map<std::string, Item *> tasks_;
    std::map<CandidateId, Item *> candidates_;
};

} // namespace kernelwright::ui
