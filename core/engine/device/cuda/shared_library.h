// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace kernelwright::cuda
{

/// A library opened with dlopen. It stays loaded until the process ends: driver libraries do not survive an
/// unload.
class SharedLibrary
{
public:
    /// Opens the first of these names that can be opened; one that the process has already loaded is
    /// preferred, so that LibTorch and this program share one copy.
    static Result<SharedLibrary> open(const std::vector<std::string> &names);

    /// Sets `function` to the symbol; false where the library lacks it.
    template <class Function>
    bool bind(Function &function, const char *symbol) const
    {
        function = reinterpret_cast<Function>(find(symbol));
        return function != nullptr;
    }

private:
    void *find(const char *symbol) const;
    void *handle_ = nullptr;
};

} // namespace kernelwright::cuda
