// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out that a path waits: it comes back to the start of a loop in exactly the state it had there before,
// and no memory was changed meanwhile. It will do so for ever unless somebody else changes something.
#pragma once

#include "warp.h"

#include <cstdint>
#include <vector>

namespace kernelwright::simt
{

class LoopWatch
{
public:
    /// A warp begins its turn.
    void restart()
    {
        left_ = interval_ = firstInterval;
        hasSnapshot_ = false;
    }
    /// Called at each backward branch.
    bool isTimeToLook() { return --left_ == 0; }
    /// Whether the state repeats; otherwise says when to look again. Loops that do real work are looked at
    /// less and less often.
    bool isRepeating(const Warp &warp, std::uint64_t changes, std::size_t frameBytes);

private:
    static constexpr std::uint32_t firstInterval = 64, longestInterval = 1u << 16;
    /// Backward branches that one look follows; a return to the same place in another state counts for
    /// several.
    static constexpr std::uint32_t longestLoop = 32, looksAtSamePlace = 16;

    std::uint32_t left_ = firstInterval, interval_ = firstInterval, looks_ = 0;
    bool hasSnapshot_ = false;
    std::uint32_t pc_ = 0, path_ = 0, mask_ = 0;
    std::uint64_t changes_ = 0;
    std::vector<std::byte> registers_;
};

} // namespace kernelwright::simt
