// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <filesystem>
#include <map>
#include <string>

namespace kernelwright
{

/// The files of resources/prompts, read anew for every prompt, so that edits to them count at once.
struct PromptFiles
{
    std::map<std::string, std::string>
        texts; ///< by name without ".md": "system", "task", "step", "ask-first" …
    std::map<std::string, std::string> kinds;    ///< notes by a part of a task's kind
    std::map<std::string, std::string> counters; ///< meaning by counter
    std::string tactics;                         ///< the playbook's, a line each; "" where there are none
};

/// Io or BadInput name the file.
Result<PromptFiles> readPromptFiles(const std::filesystem::path &resources);

} // namespace kernelwright
