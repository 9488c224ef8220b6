// SPDX-License-Identifier: GPL-3.0-or-later
// From a task's ATen operators to the playbook's own language, and the sentence that says which operator
// stands in the way where it cannot be done.
#pragma once

#include "kernel/task.h"
#include "tensor_program.h"

#include <map>
#include <string>

namespace kernelwright::playbook
{

/// `sizeNames`: sizes of inputs that the operators prove equal, each mapped to the one name used for all of
/// them.
struct Translation
{
    TensorProgram program;
    std::map<std::string, std::string> sizeNames;
};

/// Fails with NotSupported: one sentence that names the operator and node.
Result<Translation> translateTask(const Task &task);

} // namespace kernelwright::playbook
