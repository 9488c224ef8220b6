// SPDX-License-Identifier: GPL-3.0-or-later
// The reply contract: "HYPOTHESIS: a sentence", then the whole file in a fenced block, or edits to the parent
// as SEARCH/REPLACE blocks or as a unified diff. Read as generously as is possible without guessing what was
// meant.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

struct ParsedReply
{
    std::string summary; ///< the hypothesis, one line
    std::string source;  ///< the whole file, lines ended by '\n'
    bool isEdit = false; ///< made from the parent by edits
};

/// `parent` is the source that edits apply to, "" where there is none. BadInput says what is wrong in words
/// that the model can act on; it does not look into the file itself.
Result<ParsedReply> parseReply(const std::string &text, const std::string &parent);

/// A piece of code between fences.
struct CodeBlock
{
    std::string language; ///< the word behind the opening fence, lower case
    std::string code;
    std::size_t begin = 0, end = 0; ///< bytes of `text`, the fences' lines included
    bool isClosed = true;
};

/// The fenced blocks of a text with '\n' line ends, by CommonMark's rules: a fence is closed by one at least
/// as long.
std::vector<CodeBlock> codeBlocks(const std::string &text);

/// The file that a block or a text may be: it launches something and defines it.
bool isWholeFile(std::string_view code);

} // namespace kernelwright
