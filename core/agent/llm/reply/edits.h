// SPDX-License-Identifier: GPL-3.0-or-later
// Edits to a file, as language models write them.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

struct Edit
{
    std::vector<std::string> search, replace; ///< lines without their ends
    int line = 0;                             ///< where a diff says it belongs, 1-based; 0 = anywhere
};

struct FoundEdits
{
    std::vector<Edit> edits;
    std::string rest; ///< the text without them
};

/// The SEARCH/REPLACE blocks of a text:
///   <<<<<<< SEARCH … ======= … >>>>>>> REPLACE
/// BadInput, with the block's number, where one is not complete.
Result<FoundEdits> findSearchReplace(const std::string &text);

/// The hunks of a unified diff; headers and wrong line counts do no harm. Empty where there is none.
Result<std::vector<Edit>> readDiff(const std::string &text);

/// Applies them one after another. Each must be found once: exactly, else with spaces at line ends ignored,
/// else with indentation ignored too (the replacement is then indented like what it replaces). BadInput says
/// which edit is not found, or how often it is.
Result<std::string> applyEdits(const std::string &source, const std::vector<Edit> &edits);

std::vector<std::string> linesOf(std::string_view text); ///< without '\n'; a last empty line is none

} // namespace kernelwright
