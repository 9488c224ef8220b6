// SPDX-License-Identifier: GPL-3.0-or-later
// The device functions that generated kernels call, each written into a source only when it is used.
#pragma once

#include <set>
#include <string>

namespace kernelwright::playbook
{

/// Their text, in an order in which they compile. "packs" stands for Pack, load, store and what belongs to
/// them.
std::string helperFunctions(const std::set<std::string> &names, const std::string &wholeText);

} // namespace kernelwright::playbook
