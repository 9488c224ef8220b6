// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QVariant>

#include <functional>
#include <utility>
#include <vector>

namespace kernelwright::ui
{

/// Roles that all models of the window share.
enum ItemRole {
    SortRole = Qt::UserRole, ///< a number or text to sort by; an invalid QVariant sorts last
    IdRole,                  ///< what the row stands for: a node name, a candidate's number …
};

/// One column of a TableModel: what a row shows there, and what it is sorted by.
template <class Row>
struct Column
{
    QString title;
    QString explanation; ///< the header's tooltip
    std::function<QVariant(const Row &)> text;
    std::function<QVariant(const Row &)> sortKey = {}; ///< absent: sorted by text, and aligned left
    std::function<QVariant(const Row &, int role)> decoration =
        {}; ///< foreground, background, tooltip, icon name
};

/// A read-only table over plain value rows. Columns are fixed at construction; rows are replaced, appended or
/// changed one by one. Belongs to the window's thread.
template <class Row>
class TableModel : public QAbstractTableModel
{
public:
    TableModel(std::vector<Column<Row>> columns, std::function<QVariant(const Row &)> idOf,
               QObject *parent = nullptr)
        : QAbstractTableModel(parent)
        , columns_(std::move(columns))
        , idOf_(std::move(idOf))
    {}

    void setRows(std::vector<Row> rows)
    {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }

    void appendRow(Row row)
    {
        const int at = static_cast<int>(rows_.size());
        beginInsertRows({}, at, at);
        rows_.push_back(std::move(row));
        endInsertRows();
    }

    void replaceRow(int at, Row row)
    {
        rows_.at(static_cast<std::size_t>(at)) = std::move(row);
        emit dataChanged(index(at, 0), index(at, columnCount() - 1));
    }

    const std::vector<Row> &rows() const { return rows_; }
    const Row &row(int at) const { return rows_.at(static_cast<std::size_t>(at)); }

    int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    int columnCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(columns_.size());
    }

    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override
    {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
        const Row &row = rows_[static_cast<std::size_t>(index.row())];
        const Column<Row> &column = columns_[static_cast<std::size_t>(index.column())];
        switch (role) {
        case Qt::DisplayRole:
            return column.text(row);
        case SortRole:
            return column.sortKey ? column.sortKey(row) : column.text(row);
        case IdRole:
            return idOf_(row);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue((column.sortKey ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        default:
            return column.decoration ? column.decoration(row, role) : QVariant();
        }
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
        const Column<Row> &column = columns_[static_cast<std::size_t>(section)];
        if (role == Qt::DisplayRole) return column.title;
        if (role == Qt::ToolTipRole) return column.explanation;
        if (role == Qt::TextAlignmentRole)
            return QVariant::fromValue((column.sortKey ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        return {};
    }

private:
    std::vector<Column<Row>> columns_;
    std::function<QVariant(const Row &)> idOf_;
    std::vector<Row> rows_;
};

} // namespace kernelwright::ui
