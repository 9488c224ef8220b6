// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of the Operators pane: every operator of the model, and the groups worth replacing.
#pragma once

#include "graph/model_profile.h"
#include "graph/operator_graph.h"
#include "table_model.h"

#include <QSortFilterProxyModel>

#include <memory>

namespace kernelwright::ui
{

/// One operator with what is known of it. Negative numbers mean "not known".
struct OperatorRow
{
    std::string name;
    std::string op;
    std::string module;
    SourceLine source;
    int calls = 1;
    double timeUs = -1;
    double share = -1;
    double bytes = -1;
    double flops = -1;
    double floorUs = -1;
    double headroom = -1;   ///< time over floor; 1 = nothing to gain
    double amdahlGain = -1; ///< whole-model speed-up if this operator ran at its floor
};

/// Operators in graph order. With no profile the times are unknown; operators of the profile that the graph
/// lacks are listed too.
std::vector<OperatorRow> operatorRows(const OperatorGraph &graph, const ModelProfile *profile);

using OperatorsModel = TableModel<OperatorRow>;
std::unique_ptr<OperatorsModel> makeOperatorsModel(); ///< IdRole: the node's name

using TasksModel = TableModel<SuggestedTask>;
std::unique_ptr<TasksModel> makeTasksModel(); ///< IdRole: the nodes' names, a QStringList

/// Sorts by SortRole with unknown values always last, and keeps rows in which any column contains the filter
/// text.
class UnknownLastProxy : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit UnknownLastProxy(QObject *parent = nullptr);

protected:
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;
};

/// The rows as shown, as text with tabs (for a spreadsheet) or as comma-separated values with quoted fields.
QString tableAsText(const QAbstractItemModel &model);
QString tableAsCsv(const QAbstractItemModel &model);

} // namespace kernelwright::ui
