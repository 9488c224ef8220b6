// SPDX-License-Identifier: GPL-3.0-or-later
// Models and candidates written as text, and trees of item models printed as text, so that a test can be
// read.
#pragma once

#include "graph/model_profile.h"
#include "graph/operator_graph.h"
#include "kernel/candidate.h"
#include "kernel/task.h"

#include <QAbstractItemModel>
#include <QString>

namespace kernelwright::test
{

/// "ID parent PARENT VERDICT [LATENCY_US x SPEEDUP] by AUTHOR: SUMMARY", for instance
/// "3 parent 1 faster 12.5 x 1.30 by playbook: wider loads". VERDICT "evaluating" leaves the evaluation out;
/// words of a verdict are joined by '-' ("compile-error"). The iteration is the id, the task "task".
Candidate candidateFromText(const QString &text);

/// The first column indented by depth with the other columns behind it, "|" between them.
QString printTree(const QAbstractItemModel &model, const QModelIndex &parent = {}, int depth = 0);

/// A block like those of language models: RMS normalisation, a matrix product with its view, SiLU and a
/// product; modules "layers.0.norm", "layers.0.mlp".
OperatorGraph smallGraph();

/// Times for smallGraph(), the normalisation being the one suggested task.
ModelProfile smallProfile();

/// The normalisation of smallGraph() as a task with the id "task".
Task smallTask();

/// `operators` operators spread over `layers` modules, each of which has two modules in it.
OperatorGraph largeGraph(int layers, int operators);

} // namespace kernelwright::test
