// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "node_origin.h"

#include <map>
#include <string>

namespace torch::jit
{
struct Module;
struct Node;
} // namespace torch::jit

namespace kernelwright
{

/// Module paths and Python lines of the nodes of an inlined TorchScript graph.
class ScriptOrigins
{
public:
    explicit ScriptOrigins(const torch::jit::Module &module);

    NodeOrigin of(torch::jit::Node &node) const;

private:
    std::string pathOf(const std::string &type, const std::string &instances) const;

    std::multimap<std::string, std::string>
        paths_; ///< qualified name of a module's type → its path in the model
};

} // namespace kernelwright
