// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of many kinds, each written as the graph a model would give.
#pragma once

#include "kernel/task.h"

#include <string>
#include <vector>

namespace kernelwright
{

struct SampleTask
{
    std::string name;
    std::string graph;      ///< as graph_text.h reads it
    bool isRefused = false; ///< canWrite says no
};

const std::vector<SampleTask> &sampleTasks();

/// The whole graph cut as one task; ends the test program where that fails.
Task taskFromText(const std::string &graph, const std::string &kind = "pointwise");
Task sampleTask(const std::string &name);

} // namespace kernelwright
