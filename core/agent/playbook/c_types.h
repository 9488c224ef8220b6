// SPDX-License-Identifier: GPL-3.0-or-later
// Element types as CUDA C++ writes them. Halves are computed with in float: results of fused operators stay
// in float between them, which is at least as exact as rounding each to half as eager execution does.
#pragma once

#include "graph/tensor_type.h"

#include <cstdint>
#include <string>

namespace kernelwright::playbook
{

/// What arithmetic is done in.
enum class Number { Truth, Int32, Int64, Float32, Float64 };

Number numberOf(DType dtype);
const char *storageName(DType dtype);  ///< "__half", "float" …: what memory holds
const char *numberName(Number number); ///< "float", "long long" …
bool isFloatingNumber(Number number);

/// A literal of this type: "1e-06f", "-3", "true"; infinities and NaN as calls of the helpers.
std::string literalText(double value, Number number);
std::string literalText(std::int64_t value, Number number);

/// Turns an element as stored into a number, and back.
std::string loadedText(const std::string &element, DType dtype);
std::string storedText(const std::string &value, Number from, DType dtype);

} // namespace kernelwright::playbook
