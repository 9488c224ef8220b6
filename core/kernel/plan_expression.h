// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: expressions and the names they may use.
#pragma once

#include "launch_plan.h"

#include <functional>
#include <optional>
#include <string>

namespace kernelwright
{

/// The value of a name, or nothing where there is none of this name.
using NameLookup = std::function<std::optional<double>(const std::string &)>;

/// The names of functions; no tensor, number or workspace may be called so.
bool isPlanFunction(const std::string &name);

/// Checks the form alone, with any names.
Result<void> checkExpression(const PlanExpression &expression);

/// Computes in double. An unknown name is an error that ends with `available`, made only then; so is a result
/// that is infinite or not a number.
Result<double> evaluateExpression(const PlanExpression &expression, const NameLookup &lookup,
                                  const std::function<std::string()> &available);

/// A value that has to be a whole number from `least` to `most` (≤ 2^53); `what` names it in the error.
Result<std::int64_t> wholeNumber(double value, std::int64_t least, std::int64_t most,
                                 const PlanExpression &expression, const std::string &what);

} // namespace kernelwright
