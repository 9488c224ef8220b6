// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "program.h"
#include "ptx/syntax.h"

#include <cstdint>
#include <map>
#include <string>

namespace kernelwright::simt
{

/// Addresses of the module's global and constant variables, by name.
using SymbolAddresses = std::map<std::string, std::uint64_t>;

/// Turns a parsed module into instructions. Whatever the simulator cannot execute is named with its PTX line
/// here, before anything runs: NotSupported for an instruction it does not know, BadInput for text that means
/// nothing.
Result<Program> decodeProgram(const Module &module, const SymbolAddresses &addresses);

} // namespace kernelwright::simt
