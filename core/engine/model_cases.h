// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/import/importer.h"
#include "kernel/task.h"

#include <vector>

namespace kernelwright
{

/// Shapes that a task's inputs take when the model is run at other sizes of its dynamic dimensions: 1, 3 and
/// about double the example's, where the model allows them, one dimension at a time. The outputs are not
/// filled in yet (prepareTask does). Sizes at which the model does not run, or where the task's constants
/// cannot follow, are left out; so is everything for a model whose dimensions are all fixed.
std::vector<ShapeCase> casesFromModel(const ImportedModel &model, Executor &executor, const Task &task,
                                      const CancelToken &cancel);

} // namespace kernelwright
