// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "code/instruction.h"

#include <cstdint>
#include <vector>

namespace kernelwright::simt
{

/// Which bytes of a block's shared memory asynchronous copies are still writing, as far as the threads may
/// know: from the copy until the thread that asked for it has waited for its group. The simulator moves the
/// bytes at once; what it keeps here is what nobody may rely on yet. Only launches with checks keep it.
class AsyncCopies
{
public:
    void start(std::uint32_t sharedBytes, std::size_t warps);
    bool isKept() const { return !inFlight_.empty(); }

    void add(std::uint32_t offset, std::uint32_t bytes, std::uint32_t warp, int lane, std::uint32_t pc);
    /// Closes the current group of these lanes.
    void commit(std::uint32_t warp, std::uint32_t lanes);
    /// All but the latest `pending` groups of these lanes are there; -1: everything is.
    void wait(std::uint32_t warp, std::uint32_t lanes, std::int64_t pending);

    /// A bulk copy; its bytes may be relied on once somebody has seen a phase of its barrier end.
    void addBulk(std::uint32_t offset, std::uint32_t bytes, std::uint32_t barrier, std::uint32_t pc);
    void completeBarrier(std::uint32_t barrier);

    struct InFlight
    {
        std::uint32_t offset = 0; ///< first such byte
        std::uint32_t pc = 0;     ///< of the copy
    };
    /// A byte within the range that a copy is writing; nullptr when there is none. Valid until the next call.
    const InFlight *find(std::uint64_t offset, std::uint32_t bytes);

private:
    struct Copy
    {
        std::uint32_t offset = 0, bytes = 0, group = 0, pc = 0;
        int lane = 0;
    };
    struct WarpState
    {
        std::uint32_t committed[warpSize] = {}; ///< groups closed, by lane
        std::vector<Copy> copies;
    };
    std::vector<std::uint32_t> inFlight_; ///< by byte: copies that write it
    std::vector<WarpState> warps_;
    std::vector<Copy> bulk_; ///< `group` is the barrier's offset
    InFlight found_;
};

} // namespace kernelwright::simt
