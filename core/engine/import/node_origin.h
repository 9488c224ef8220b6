// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"

#include <string>

namespace kernelwright
{

/// Where in the Python model a node comes from.
struct NodeOrigin
{
    std::string modulePath;
    std::string moduleType;
    SourceLine source;
};

/// From the last entry of torch.export's `nn_module_stack`: "key,path,type;key,path,type".
void readModuleStack(const std::string &stack, NodeOrigin &origin);

/// From a Python stack trace ('File "a.py", line 3, in forward\n    y = x + 1\n …', outermost first): the
/// innermost frame that is neither PyTorch's own nor code generated while tracing, since that is the line its
/// author knows; the innermost one where there is no such frame.
SourceLine sourceLineOf(const std::string &stackTrace);

} // namespace kernelwright
