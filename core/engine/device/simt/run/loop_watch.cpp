// SPDX-License-Identifier: GPL-3.0-or-later
#include "loop_watch.h"

#include <algorithm>

namespace kernelwright::simt
{

bool LoopWatch::isRepeating(const Warp &warp, std::uint64_t changes, std::size_t frameBytes)
{
    const Path &path = warp.path();
    const std::byte *registers = warp.banks[0];
    if (hasSnapshot_) {
        const bool isSamePlace = path.pc == pc_ && warp.current == path_;
        const bool isSame = isSamePlace && path.mask == mask_ && changes == changes_ &&
                            registers_.size() == frameBytes &&
                            std::memcmp(registers_.data(), registers, frameBytes) == 0;
        if (isSame) return true;
        // An inner loop may end in other iterations of the outer one: a few more chances.
        looks_ += isSamePlace ? looksAtSamePlace : 1;
        if (looks_ < longestLoop && changes == changes_) {
            left_ = 1;
            return false;
        }
        hasSnapshot_ = false;
        interval_ = std::min(4 * interval_, longestInterval);
        left_ = interval_;
        return false;
    }
    registers_.assign(registers, registers + frameBytes);
    pc_ = path.pc;
    path_ = warp.current;
    mask_ = path.mask;
    changes_ = changes;
    hasSnapshot_ = true;
    looks_ = 0;
    left_ = 1;
    return false;
}

} // namespace kernelwright::simt
