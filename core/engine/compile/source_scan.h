// SPDX-License-Identifier: GPL-3.0-or-later
// A candidate's source must depend on nothing but itself, its tunables and the toolkit's headers: NVRTC would
// read any host file whose path stands in an #include. What can reach outside is refused before NVRTC sees
// the text.
#pragma once

#include "kernel/evaluation.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelwright
{

/// Every construct of `source` that reaches for the host, as errors with line and column (bytes, 1-based):
///   - #include of anything but a header of `includeDirectories`, written literally (no absolute path, no
///   "..", no
///     macro, none that the current directory has too); #include_next, #import, #embed
///   - __has_include and its like; __FILE__, __DATE__, __TIME__, __TIMESTAMP__, __BASE_FILE__
///   - #line, which would move other messages away from the lines they are about
///   - conditions (#if, #elif) that call macros, since token pasting can spell any of the above there
///   - a NUL character, behind which NVRTC would see nothing, and more than `maximumSourceBytes`
/// Comments, line splices, digraphs, raw strings and digit separators are understood as the language defines
/// them.
std::vector<Diagnostic> findForbiddenConstructs(const std::string &source,
                                                const std::vector<std::filesystem::path> &includeDirectories);

constexpr std::size_t maximumSourceBytes = std::size_t{1} << 20;

} // namespace kernelwright
