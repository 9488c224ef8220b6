// SPDX-License-Identifier: GPL-3.0-or-later
// What an exported graph calls beside ATen's operators: Python's arithmetic on sizes, list items, assertions.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace kernelwright
{

/// Takes the arguments in the order of its parameters and returns the one result (None where there is none).
/// Throws c10::Error where the arguments do not fit or an assertion of the model does not hold.
using BuiltinFunction = c10::IValue (*)(const std::vector<c10::IValue> &);

struct Builtin
{
    BuiltinFunction function = nullptr;
    /// Names of the parameters where a call may leave some out; empty where arguments come in order.
    std::vector<std::string> parameters;
};

/// nullptr where `op` ("_operator::mul", "aten::sym_size", "prim::getitem" …) is none of them.
const Builtin *findBuiltin(const std::string &op);

} // namespace kernelwright
