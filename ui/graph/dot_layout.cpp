// SPDX-License-Identifier: GPL-3.0-or-later
#include "dot_layout.h"

namespace kernelwright::ui
{

namespace
{
constexpr int deadlineMs = 20000;
}

DotLayout::DotLayout(QObject *parent)
    : QObject(parent)
{
    deadline_.setSingleShot(true);
    connect(&deadline_, &QTimer::timeout, this, [this] {
        abandon();
        emit failed(tr(
            "Laying out the graph took longer than 20 s and was ended; close some modules by double click."));
    });
}

DotLayout::~DotLayout()
{
    abandon();
}

void DotLayout::abandon()
{
    deadline_.stop();
    if (!process_) return;
    process_->disconnect(this);
    process_->kill();
    // Not waited for: the process deletes itself once the system has ended it.
    connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
    process_->setParent(nullptr);
    process_ = nullptr;
}

void DotLayout::start(VisibleGraph graph, std::vector<std::pair<double, double>> nodeSizes,
                      GraphDirection direction)
{
    abandon();
    graph_ = std::move(graph);
    process_ = new QProcess(this);
    process_->setProgram(QStringLiteral("dot"));
    process_->setArguments({QStringLiteral("-Tjson0")});
    connect(process_, &QProcess::finished, this, &DotLayout::finish);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return; // finished() follows
        process_->deleteLater();
        process_ = nullptr;
        deadline_.stop();
        emit failed(
            tr("The graph cannot be drawn because Graphviz was not found: install the package graphviz. "
               "The Operators table shows the same operators."));
    });
    process_->start();
    if (!process_) return; // it failed at once, and that has been said
    process_->write(dotText(graph_, nodeSizes, direction).toUtf8());
    process_->closeWriteChannel();
    deadline_.start(deadlineMs);
}

void DotLayout::finish(int exitCode, QProcess::ExitStatus status)
{
    deadline_.stop();
    QProcess *process = process_;
    process_ = nullptr;
    process->deleteLater();
    if (status != QProcess::NormalExit || exitCode != 0) {
        const QString why =
            QString::fromUtf8(process->readAllStandardError()).trimmed().section(QLatin1Char('\n'), 0, 0);
        emit failed(tr("Graphviz could not lay the graph out (%1); close some modules by double click.")
                        .arg(why.isEmpty() ? tr("it ended without a word") : why));
        return;
    }
    const auto placement = parsePlacement(process->readAllStandardOutput().toStdString(), graph_);
    if (!placement)
        emit failed(QString::fromStdString(placement.error().message));
    else
        emit placed(graph_, *placement);
}

} // namespace kernelwright::ui
