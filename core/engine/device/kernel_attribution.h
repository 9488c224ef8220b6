// SPDX-License-Identifier: GPL-3.0-or-later
// What a device may be able to do beside Device: tell on whose behalf each kernel of some work was launched.
#pragma once

#include "base/cancel.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kernelwright
{

/// Kernels of one name that one owner launched in one run.
struct OwnedKernels
{
    std::uint64_t owner = 0; ///< what was marked when they were launched; 0: nobody
    std::string name;        ///< demangled
    int launches = 0;
    double us = 0; ///< sum of their times on the device
};

struct AttributedRun
{
    std::vector<OwnedKernels> kernels; ///< by owner, then by first launch
    double sumUs = 0;                  ///< over all kernels
    double spanUs = 0;                 ///< first start to last end
};

class KernelAttribution
{
public:
    virtual ~KernelAttribution() = default;

    /// From the call on, what this thread launches belongs to `owner`; 0 ends it.
    using Mark = std::function<void(std::uint64_t owner)>;
    using MarkedWork = std::function<Result<void>(const Mark &)>;

    /// Runs the work `warmUps` + `runs` times, as it comes, without flushing caches or waiting inside, and
    /// gives the kernels of the latter. NotSupported where this device or its tools cannot tell.
    virtual Result<std::vector<AttributedRun>> attributeKernels(const MarkedWork &work, int warmUps, int runs,
                                                                const CancelToken &cancel) = 0;
};

} // namespace kernelwright
