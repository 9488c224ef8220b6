// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidates_model.h"

#include "base/text.h"
#include "display_text.h"

#include <QFont>

#include <algorithm>

namespace kernelwright::ui
{

struct CandidatesModel::Item
{
    Item *parent = nullptr;
    std::string taskId;
    QString title;                        ///< of a task
    std::unique_ptr<Candidate> candidate; ///< null on a task's row
    std::vector<std::unique_ptr<Item>> children;

    int row() const
    {
        const auto &siblings = parent->children;
        const auto at =
            std::find_if(siblings.begin(), siblings.end(), [this](const auto &i) { return i.get() == this; });
        return static_cast<int>(at - siblings.begin());
    }
};

CandidatesModel::CandidatesModel(QObject *parent)
    : QAbstractItemModel(parent)
    , root_(std::make_unique<Item>())
{}

CandidatesModel::~CandidatesModel() = default;

void CandidatesModel::clear()
{
    beginResetModel();
    root_ = std::make_unique<Item>();
    tasks_.clear();
    candidates_.clear();
    endResetModel();
}

CandidatesModel::Item *CandidatesModel::taskItem(const std::string &id)
{
    if (const auto found = tasks_.find(id); found != tasks_.end()) return found->second;
    const int row = static_cast<int>(root_->children.size());
    beginInsertRows({}, row, row);
    auto item = std::make_unique<Item>();
    item->parent = root_.get();
    item->taskId = id;
    item->title = fromText(id);
    Item *raw = item.get();
    root_->children.push_back(std::move(item));
    tasks_[id] = raw;
    endInsertRows();
    return raw;
}

void CandidatesModel::putTask(const std::string &id, const QString &title)
{
    Item *item = taskItem(id);
    item->title = title;
    const QModelIndex at = indexOf(item);
    emit dataChanged(at, at);
}

void CandidatesModel::putCandidate(const Candidate &candidate)
{
    if (candidate.accepted) unacceptSiblings(candidate);
    if (const auto found = candidates_.find(candidate.id); found != candidates_.end()) {
        *found->second->candidate = candidate;
        emit dataChanged(indexOf(found->second), indexOf(found->second, ColumnCount - 1));
        return;
    }
    Item *parent = taskItem(candidate.taskId);
    if (const auto above = candidates_.find(candidate.parent);
        above != candidates_.end() && above->second->taskId == candidate.taskId)
        parent = above->second;
    const int row = static_cast<int>(parent->children.size());
    beginInsertRows(indexOf(parent), row, row);
    auto item = std::make_unique<Item>();
    item->parent = parent;
    item->taskId = candidate.taskId;
    item->candidate = std::make_unique<Candidate>(candidate);
    candidates_[candidate.id] = item.get();
    parent->children.push_back(std::move(item));
    endInsertRows();
}

void CandidatesModel::unacceptSiblings(const Candidate &accepted)
{
    for (const auto &[id, item] : candidates_) {
        if (id == accepted.id || item->taskId != accepted.taskId || !item->candidate->accepted) continue;
        item->candidate->accepted = false;
        emit dataChanged(indexOf(item), indexOf(item, ColumnCount - 1));
    }
}

QModelIndex CandidatesModel::indexOf(CandidateId id) const
{
    const auto found = candidates_.find(id);
    return found == candidates_.end() ? QModelIndex() : indexOf(found->second);
}

QModelIndex CandidatesModel::indexOf(const Item *item, int column) const
{
    return item == root_.get() ? QModelIndex() : createIndex(item->row(), column, const_cast<Item *>(item));
}

CandidatesModel::Item *CandidatesModel::itemAt(const QModelIndex &index) const
{
    return index.isValid() ? static_cast<Item *>(index.internalPointer()) : root_.get();
}

const Candidate *CandidatesModel::candidateAt(const QModelIndex &index) const
{
    return itemAt(index)->candidate.get();
}

QModelIndex CandidatesModel::index(int row, int column, const QModelIndex &parent) const
{
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, itemAt(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex CandidatesModel::parent(const QModelIndex &child) const
{
    if (!child.isValid()) return {};
    return indexOf(itemAt(child)->parent);
}

int CandidatesModel::rowCount(const QModelIndex &parent) const
{
    return parent.column() > 0 ? 0 : static_cast<int>(itemAt(parent)->children.size());
}

int CandidatesModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

namespace
{

QString cellText(const Candidate &candidate, int column)
{
    if (column == CandidatesModel::Title) {
        QString text = candidateTitle(candidate);
        if (candidate.name.empty() && !candidate.summary.empty())
            text += QStringLiteral("  ") + fromText(candidate.summary);
        return text;
    }
    if (column == CandidatesModel::VerdictColumn) return verdictText(candidate);
    if (column == CandidatesModel::Author) return fromText(candidate.author);
    if (!candidate.evaluation || candidate.evaluation->latency.medianUs <= 0) return QStringLiteral("–");
    const Evaluation &evaluation = *candidate.evaluation;
    switch (column) {
    case CandidatesModel::Latency:
        return fromText(formatMicroseconds(evaluation.latency.medianUs));
    case CandidatesModel::Speedup:
        return evaluation.speedup > 0 ? fromText(formatSpeedup(evaluation.speedup)) : QStringLiteral("–");
    case CandidatesModel::Spread:
        return QStringLiteral("±%1 %").arg(50 * evaluation.latency.iqrUs / evaluation.latency.medianUs, 0,
                                           'f', 1);
    default:
        return {};
    }
}

QVariant sortKey(const Candidate &candidate, int column)
{
    if (column == CandidatesModel::Title) return static_cast<qlonglong>(candidate.id);
    if (column == CandidatesModel::VerdictColumn) return verdictText(candidate);
    if (column == CandidatesModel::Author) return fromText(candidate.author);
    if (!candidate.evaluation || candidate.evaluation->latency.medianUs <= 0) return {};
    switch (column) {
    case CandidatesModel::Latency:
        return candidate.evaluation->latency.medianUs;
    case CandidatesModel::Speedup:
        return candidate.evaluation->speedup;
    case CandidatesModel::Spread:
        return candidate.evaluation->latency.iqrUs / candidate.evaluation->latency.medianUs;
    default:
        return {};
    }
}

QString toolTip(const Candidate &candidate)
{
    QString text = candidateTitle(candidate) + QStringLiteral(" by ") + fromText(candidate.author);
    if (!candidate.summary.empty()) text += QStringLiteral("\n") + fromText(candidate.summary);
    if (!candidate.instruction.empty())
        text += QStringLiteral("\nAsked for: ") + fromText(candidate.instruction);
    if (candidate.evaluation && !candidate.evaluation->reason.empty())
        text += QStringLiteral("\n") + fromText(candidate.evaluation->reason);
    if (!candidate.note.empty()) text += QStringLiteral("\nNote: ") + fromText(candidate.note);
    return text;
}

} // namespace

QVariant CandidatesModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Item *item = itemAt(index);
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() >= Latency && index.column() <= Spread;
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (!item->candidate) {
        if (index.column() != Title) return {};
        if (role == Qt::DisplayRole || role == SortRole || role == Qt::ToolTipRole) return item->title;
        return role == IdRole ? QVariant(0) : QVariant();
    }
    const Candidate &candidate = *item->candidate;
    switch (role) {
    case Qt::DisplayRole:
        return cellText(candidate, index.column());
    case Qt::ToolTipRole:
        return toolTip(candidate);
    case SortRole:
        return sortKey(candidate, index.column());
    case IdRole:
        return static_cast<qlonglong>(candidate.id);
    case VerdictRole:
        return candidate.evaluation ? static_cast<int>(candidate.evaluation->verdict) : -1;
    case AcceptedRole:
        return candidate.accepted;
    case PinnedRole:
        return candidate.pinned;
    case SummaryRole:
        return fromText(candidate.summary);
    default:
        return {};
    }
}

QVariant CandidatesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const char *const titles[] = {"Candidate", "Verdict", "Latency", "Speed-up", "Spread", "Author"};
    static const char *const explanations[] = {
        "Each candidate stands under the one it was made from",
        "What the evaluation says: faster, slower, ambiguous, incorrect …",
        "Median time of one run",
        "The strongest baseline's median over the candidate's",
        "Half the interquartile range, as a part of the median",
        "Who wrote it",
    };
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::DisplayRole) return QString::fromLatin1(titles[section]);
    if (role == Qt::ToolTipRole) return QString::fromLatin1(explanations[section]);
    if (role == Qt::TextAlignmentRole && section >= Latency && section <= Spread)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

} // namespace kernelwright::ui
