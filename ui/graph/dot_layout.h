// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/visible_graph.h"

#include <QObject>
#include <QProcess>
#include <QTimer>

namespace kernelwright::ui
{

/// Lays a graph out with Graphviz in a process of its own, so that a layout that takes too long can be ended.
/// A newer request supersedes the one that runs.
class DotLayout : public QObject
{
    Q_OBJECT
public:
    explicit DotLayout(QObject *parent = nullptr);
    ~DotLayout() override;

    void start(VisibleGraph graph, std::vector<std::pair<double, double>> nodeSizes,
               GraphDirection direction);
    bool isRunning() const { return process_ != nullptr; }

signals:
    void placed(const VisibleGraph &graph, const GraphPlacement &placement);
    void failed(const QString &sentence);

private:
    void abandon();
    void finish(int exitCode, QProcess::ExitStatus status);

    VisibleGraph graph_;
    QProcess *process_ = nullptr;
    QTimer deadline_;
};

} // namespace kernelwright::ui
