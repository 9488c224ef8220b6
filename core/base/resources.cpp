// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources.h"

#include <cstdlib>
#include <system_error>

namespace kernelwright
{

std::filesystem::path programDirectory()
{
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path() : program.parent_path();
}

std::filesystem::path resourceDirectory()
{
    namespace fs = std::filesystem;
    std::error_code error;
    if (const char *chosen = std::getenv("KERNELWRIGHT_RESOURCES"); chosen && fs::is_directory(chosen, error))
        return chosen;
    const fs::path program = programDirectory();
    for (const fs::path &candidate : {program / "../share/kernelwright", program / "../../resources"})
        if (fs::is_directory(candidate, error)) return fs::weakly_canonical(candidate, error);
    return {};
}

} // namespace kernelwright
