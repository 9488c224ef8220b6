// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared_library.h"

#include "base/text.h"

#include <dlfcn.h>

namespace kernelwright::cuda
{

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string> &names)
{
    SharedLibrary library;
    for (const std::string &name : names)
        if (!library.handle_) library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    std::string reason;
    for (const std::string &name : names) {
        if (library.handle_) return library;
        library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library.handle_ && reason.empty()) reason = dlerror();
    }
    if (library.handle_) return library;
    return fail(ErrorCode::NotSupported, "cannot open " + joinText(names, " or ") + " (" + reason + ")");
}

void *SharedLibrary::find(const char *symbol) const
{
    return dlsym(handle_, symbol);
}

} // namespace kernelwright::cuda
