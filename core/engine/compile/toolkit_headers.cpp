// SPDX-License-Identifier: GPL-3.0-or-later
#include "toolkit_headers.h"

#include "base/text.h"

#include <nvrtc.h>

#include <cstdlib>
#include <dlfcn.h>
#include <system_error>

namespace kernelwright
{

namespace
{

namespace fs = std::filesystem;

/// The folder of the libnvrtc this process runs with; empty when it cannot be told.
fs::path nvrtcDirectory()
{
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&nvrtcVersion), &info) == 0 || !info.dli_fname) return {};
    std::error_code error;
    const fs::path library = fs::canonical(info.dli_fname, error);
    return error ? fs::path() : library.parent_path();
}

std::vector<fs::path> placesToLook()
{
    std::vector<fs::path> places;
    for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char *root = std::getenv(name); root && *root) places.push_back(fs::path(root) / "include");
    for (const std::string &directory : splitText(KERNELWRIGHT_CUDA_INCLUDE, ';'))
        if (!directory.empty()) places.emplace_back(directory);
    if (const fs::path library = nvrtcDirectory(); !library.empty()) {
        places.push_back(library.parent_path() /
                         "include"); // lib64/ or targets/…/lib/ of a toolkit; cu13/lib of wheels
        places.push_back(library.parent_path().parent_path() / "cuda_runtime" /
                         "include"); // wheels of CUDA 12
    }
    return places;
}

} // namespace

Result<std::vector<fs::path>> toolkitIncludeDirectories(const std::vector<fs::path> &candidates)
{
    std::error_code error;
    std::vector<std::string> looked;
    for (const fs::path &directory : candidates) {
        looked.push_back(directory.string());
        if (!fs::is_regular_file(directory / "cuda_fp16.h", error)) continue;
        std::vector<fs::path> found{directory};
        if (fs::is_directory(directory / "cccl", error)) found.push_back(directory / "cccl");
        return found;
    }
    return fail(ErrorCode::NotSupported,
                "the CUDA toolkit's headers (cuda_fp16.h) were not found in " +
                    (looked.empty() ? std::string("any known place") : joinText(looked, ", ")) +
                    ": install the CUDA toolkit or set CUDA_HOME to its folder");
}

Result<std::vector<fs::path>> toolkitIncludeDirectories()
{
    return toolkitIncludeDirectories(placesToLook());
}

} // namespace kernelwright
