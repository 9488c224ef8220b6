// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "kernel/warp_state.h"

#include <cstdint>

namespace kernelwright
{

/// Goes through a kernel with one warp, instruction by instruction, forward and back. The warp's block is the
/// only one that runs; its other warps run when this one waits. Belongs to the device's thread; module,
/// buffers and device must outlive it. The buffers get back the values that they had when it began.
class WarpStepper
{
public:
    WarpStepper() = default;
    WarpStepper(const WarpStepper &) = delete;
    WarpStepper &operator=(const WarpStepper &) = delete;
    virtual ~WarpStepper() = default;

    virtual WarpState state() const = 0;
    /// Forward, or back where `steps` is negative; stops at the end, at the beginning, or at a fault, which
    /// is told by the state.
    virtual Result<void> move(std::int64_t steps, const CancelToken &cancel) = 0;
    /// To the next time the warp comes to that line (of the source, 1-based), or, backward, to the last time
    /// it did; where it does not, to the end or the beginning.
    virtual Result<void> moveToLine(int line, bool isBackward, const CancelToken &cancel) = 0;
};

} // namespace kernelwright
