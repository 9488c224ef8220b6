// SPDX-License-Identifier: GPL-3.0-or-later
// What a candidate is timed against. Private to this folder.
#pragma once

#include "compiled_baseline.h"
#include "evaluation_run.h"

namespace kernelwright
{

/// One run of some graph on inputs that stay where they are; enqueues and does not wait.
using PreparedRun = std::function<Result<void>()>;

/// Makes a graph with the captured case's inputs and outputs ready to run, once for each set of inputs in
/// rotation.
using MakeRuns = std::function<Result<std::vector<PreparedRun>>(const ShapeCase &)>;

/// Works that compute what the candidate computes, at its precision, with the kernels of LibTorch.
struct BaselineWorks
{
    std::vector<TimedWork> works; ///< "eager" first
    std::string note;             ///< why one is missing; "" when none is
};

/// Eager; the same replayed as a CUDA graph, without the host between its kernels; and, where the model spells
/// out what the library has a kernel of its own for, that one. Fails where eager does; what else cannot be
/// had costs itself only.
Result<BaselineWorks> makeBaselines(EvaluationRun &run, const MakeRuns &makeRuns);

/// torch.compile's time of this task, known from before or taken now in the user's Python while the device is
/// idle. What cannot be had is said in the evaluation's note on baselines; Cancelled is the only error.
Result<std::optional<CompiledTimes>> findCompiledTimes(EvaluationRun &run);

/// Adds it beside the others.
void recordCompiled(EvaluationRun &run, const CompiledTimes &times);

/// Adds the baselines' times to the evaluation, with what ran them and their clock, and sets
/// run.baselineTimes to the strongest one's samples. `samples[i]` are of `works[i]`.
void recordBaselines(EvaluationRun &run, const std::vector<TimedWork> &works,
                     std::span<const std::vector<TimeSample>> samples);

} // namespace kernelwright
