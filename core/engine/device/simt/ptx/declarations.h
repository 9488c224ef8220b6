// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "syntax.h"
#include "token_stream.h"

#include <optional>

namespace kernelwright::simt
{

/// The state space a directive opens (".global" …), nullopt for others.
std::optional<Space> spaceFromDirective(std::string_view directive);

/// Reads ".align 4 .b8 name[16] = {…}, other;" behind a state space directive, through the semicolon.
std::vector<Variable> parseVariables(TokenStream &tokens, Space space, bool isExtern);

/// Reads one parameter of a function header, from ".param" on.
Variable parseParameter(TokenStream &tokens);

} // namespace kernelwright::simt
