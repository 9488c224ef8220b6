// SPDX-License-Identifier: GPL-3.0-or-later
#include "operators_model.h"

#include "base/text.h"
#include "display_text.h"

#include <QStringList>

#include <algorithm>

namespace kernelwright::ui
{

namespace
{

QVariant known(double value)
{
    return value < 0 ? QVariant() : QVariant(value);
}

template <class Format>
QVariant knownText(double value, Format format)
{
    return value < 0 ? QVariant(QStringLiteral("–")) : QVariant(fromText(format(value)));
}

QString percent(double share)
{
    return QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1);
}

void addTimes(OperatorRow &row, const OperatorProfile &profile, double totalUs)
{
    row.calls = profile.calls;
    row.timeUs = profile.timeUs;
    row.share = profile.share;
    row.bytes = profile.bytes;
    row.flops = profile.flops;
    row.floorUs = profile.floorUs;
    if (row.floorUs > 0 && row.timeUs > 0) {
        row.headroom = row.timeUs / row.floorUs;
        const double saved = std::max(0.0, row.timeUs - row.floorUs);
        if (totalUs > saved) row.amdahlGain = totalUs / (totalUs - saved);
    }
}

QVariant operatorToolTip(const OperatorRow &row, int role)
{
    if (role != Qt::ToolTipRole) return {};
    QString text = fromText(row.name) + QStringLiteral("  ") + fromText(row.op);
    if (!row.module.empty()) text += QStringLiteral("\nModule: ") + fromText(row.module);
    if (row.source.line > 0)
        text += QStringLiteral("\n%1:%2  %3")
                    .arg(fromText(row.source.file))
                    .arg(row.source.line)
                    .arg(fromText(trimText(row.source.text)));
    return text;
}

} // namespace

std::vector<OperatorRow> operatorRows(const OperatorGraph &graph, const ModelProfile *profile)
{
    std::vector<OperatorRow> rows;
    std::map<std::string, std::size_t> rowOf;
    for (const Node &node : graph.nodes) {
        OperatorRow row;
        row.name = node.name;
        row.op = node.op;
        row.module = node.modulePath;
        row.source = node.source;
        rowOf[node.name] = rows.size();
        rows.push_back(std::move(row));
    }
    if (!profile) return rows;
    for (const OperatorProfile &timed : profile->operators) {
        auto found = rowOf.find(timed.name);
        if (found == rowOf.end()) {
            found = rowOf.emplace(timed.name, rows.size()).first;
            rows.push_back({timed.name, timed.op});
        }
        addTimes(rows[found->second], timed, profile->totalUs);
    }
    return rows;
}

std::unique_ptr<OperatorsModel> makeOperatorsModel()
{
    using Row = OperatorRow;
    std::vector<Column<Row>> columns{
        {"Operator",
         "The node's name in the graph",
         [](const Row &r) { return fromText(r.name); },
         {},
         operatorToolTip},
        {"Time", "Time of all its calls",
         [](const Row &r) { return knownText(r.timeUs, formatMicroseconds); },
         [](const Row &r) { return known(r.timeUs); }},
        {"Share", "Its part of the time of all operators",
         [](const Row &r) { return r.share < 0 ? QStringLiteral("–") : percent(r.share); },
         [](const Row &r) { return known(r.share); }},
        {"Headroom", "Time over floor: how many times faster it could be at the very best",
         [](const Row &r) { return knownText(r.headroom, formatSpeedup); },
         [](const Row &r) { return known(r.headroom); }},
        {"Amdahl", "Speed-up of the whole model if this operator ran at its floor",
         [](const Row &r) { return knownText(r.amdahlGain, formatSpeedup); },
         [](const Row &r) { return known(r.amdahlGain); }},
        {"Kind",
         "The ATen operator",
         [](const Row &r) { return withoutNamespace(r.op); },
         {},
         operatorToolTip},
        {"Floor", "The least time: bytes that must move over bandwidth, or operations over peak",
         [](const Row &r) { return knownText(r.floorUs, formatMicroseconds); },
         [](const Row &r) { return known(r.floorUs); }},
        {"Bytes", "Bytes that must be read and written",
         [](const Row &r) { return knownText(r.bytes, formatBytes); },
         [](const Row &r) { return known(r.bytes); }},
        {"Operations", "Floating-point operations, a multiply-add counting as two",
         [](const Row &r) { return knownText(r.flops, formatCount); },
         [](const Row &r) { return known(r.flops); }},
        {"Calls", "How often it runs in one pass of the model",
         [](const Row &r) { return QString::number(r.calls); },
         [](const Row &r) { return QVariant(r.calls); }},
        {"Module", "Where in the model it comes from", [](const Row &r) { return fromText(r.module); }},
    };
    return std::make_unique<OperatorsModel>(std::move(columns),
                                            [](const Row &r) { return fromText(r.name); });
}

std::unique_ptr<TasksModel> makeTasksModel()
{
    using Row = SuggestedTask;
    const auto tip = [](const Row &task, int role) -> QVariant {
        if (role != Qt::ToolTipRole) return {};
        QString text = fromText(task.title) + QStringLiteral("\n") + fromText(joinText(task.ops, " → "));
        if (!task.others.empty())
            text += QStringLiteral("\nOccurs %1 times in the model").arg(task.others.size() + 1);
        if (!task.playbookCanWrite)
            text += QStringLiteral(
                "\nThe built-in playbook has no tactic for it yet; edit by hand or use another agent");
        return text;
    };
    std::vector<Column<Row>> columns{
        {"Suggested task",
         "A group of operators that one kernel could compute",
         [](const Row &t) {
             return t.others.empty()
                        ? fromText(t.title)
                        : QStringLiteral("%1  ×%2").arg(fromText(t.title)).arg(t.others.size() + 1);
         },
         {},
         tip},
        {"Gain", "Amdahl's law: speed-up of the whole model if it ran at its floor",
         [](const Row &t) { return fromText(formatSpeedup(t.amdahlGain)); },
         [](const Row &t) { return QVariant(t.amdahlGain); }, tip},
        {"Time", "Its operators' time today, all places together",
         [](const Row &t) { return fromText(formatMicroseconds(t.timeUs)); },
         [](const Row &t) { return QVariant(t.timeUs); }, tip},
        {"Floor", "The least time one kernel could take",
         [](const Row &t) { return fromText(formatMicroseconds(t.floorUs)); },
         [](const Row &t) { return QVariant(t.floorUs); }, tip},
    };
    return std::make_unique<TasksModel>(std::move(columns), [](const Row &task) {
        QStringList names;
        for (const std::string &name : task.nodes)
            names << fromText(name);
        return QVariant(names);
    });
}

UnknownLastProxy::UnknownLastProxy(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(SortRole);
    setFilterKeyColumn(-1);
    setFilterCaseSensitivity(Qt::CaseInsensitive);
    setRecursiveFilteringEnabled(true);
}

bool UnknownLastProxy::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const bool leftKnown = sourceModel()->data(left, SortRole).isValid();
    const bool rightKnown = sourceModel()->data(right, SortRole).isValid();
    if (leftKnown != rightKnown) return (sortOrder() == Qt::AscendingOrder) == leftKnown;
    return QSortFilterProxyModel::lessThan(left, right);
}

namespace
{

template <class Quote>
QString joinTable(const QAbstractItemModel &model, QChar separator, Quote quote)
{
    QString text;
    const int columns = model.columnCount();
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        cells << quote(model.headerData(column, Qt::Horizontal).toString());
    text += cells.join(separator) + QLatin1Char('\n');
    for (int row = 0; row < model.rowCount(); ++row) {
        cells.clear();
        for (int column = 0; column < columns; ++column)
            cells << quote(model.index(row, column).data().toString());
        text += cells.join(separator) + QLatin1Char('\n');
    }
    return text;
}

} // namespace

QString tableAsText(const QAbstractItemModel &model)
{
    return joinTable(model, QLatin1Char('\t'),
                     [](QString cell) { return cell.replace(QLatin1Char('\t'), QLatin1Char(' ')); });
}

QString tableAsCsv(const QAbstractItemModel &model)
{
    return joinTable(model, QLatin1Char(','), [](QString cell) {
        if (!cell.contains(QLatin1Char(',')) && !cell.contains(QLatin1Char('"')) &&
            !cell.contains(QLatin1Char('\n')))
            return cell;
        return QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
    });
}

} // namespace kernelwright::ui
