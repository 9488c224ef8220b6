// SPDX-License-Identifier: GPL-3.0-or-later
// A task, a device and an evaluation in words for a language model. Whatever comes from a model file stands
// in fenced blocks or is made safe by inlineText().
#pragma once

#include "agent/agent.h"

#include <map>
#include <string>

namespace kernelwright
{

/// A table of the operators in a fenced block, at most `mostNodes` of them.
std::string describeOperators(const OperatorGraph &graph, std::size_t mostNodes);
std::string describeTensors(const std::vector<TaskTensor> &tensors);
/// The shape cases but for the captured one; "" where there are none.
std::string describeCases(const Task &task, std::size_t mostCases);
std::string describeTolerance(const Tolerance &tolerance);
std::string describeDevice(const DeviceInfo &device);
/// Bytes, operations, the floor and what bounds it.
std::string describeFloor(const Task &task, const DeviceInfo &device, double floorUs);

/// Verdict, failing stage and element, diagnostics with lines, times against baselines and floor, counters
/// with what they mean.
std::string describeEvaluation(const Candidate &candidate,
                               const std::map<std::string, std::string> &counters);

/// One line: number, parent, author, what was tried, how it went.
std::string describeAttempt(const Candidate &candidate);

/// "faster: 12.3 µs, 1.53×", "incorrect in the stage 'shapes'".
std::string describeVerdict(const Evaluation &evaluation);

} // namespace kernelwright
