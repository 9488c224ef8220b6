// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/model_profile.h"

#include <string>

namespace kernelwright::cli
{

std::string operatorTable(const ModelProfile &profile); ///< slowest first
std::string taskTable(const ModelProfile &profile);     ///< best gain first
/// Kernels by name over all operators, the dearest first; "" where they were not told apart.
std::string kernelTable(const ModelProfile &profile);
std::string describeTimeSource(const ModelProfile &profile);
/// How much of the time has no cost formula, and which operators.
std::string describeUnknown(const ModelProfile &profile);

/// The names that --node or --task would take for these nodes.
std::string nodeList(const std::vector<std::string> &nodes);

} // namespace kernelwright::cli
