// SPDX-License-Identifier: GPL-3.0-or-later
// Prompts are files; this fills them in. `{{name}}` becomes the value; `{{#name}} … {{/name}}` stays where
// the value is not empty. Values are put in as they are and never read as templates, whatever they hold.
#pragma once

#include "base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace kernelwright
{

using PromptValues = std::map<std::string, std::string>;

/// BadInput, with the line, for a name that has no value and for sections that do not close.
Result<std::string> fillTemplate(std::string_view text, const PromptValues &values);

/// A block of code or data: between fences longer than any in the text, so that nothing in it can end the
/// block. The text's own line ends become '\n', other control characters '?'.
std::string fencedBlock(std::string_view text, const std::string &language);

/// Text of others for the middle of a sentence: one line without backticks and control characters, at most
/// `longest` bytes.
std::string inlineText(std::string_view text, std::size_t longest = 200);

} // namespace kernelwright
