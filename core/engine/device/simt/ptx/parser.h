// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "syntax.h"

#include <string_view>

namespace kernelwright::simt
{

/// Reads a PTX module. Any text ends in a module or in a BadInput error that names the PTX line; instructions
/// are taken as they stand, whether they can be executed is the decoder's question.
Result<Module> parsePtx(std::string_view text);

} // namespace kernelwright::simt
