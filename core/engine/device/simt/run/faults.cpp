// SPDX-License-Identifier: GPL-3.0-or-later
// How faults name their place.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z)
{
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

} // namespace

std::string BlockRunner::threadName(const Warp &warp, int lane) const
{
    const std::uint32_t thread = warp.baseThread + static_cast<std::uint32_t>(lane);
    const auto &block = state_.geometry.block;
    return "thread " + triple(thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]) +
           " of block " + triple(blockIndex_[0], blockIndex_[1], blockIndex_[2]);
}

std::string BlockRunner::lineName(std::uint32_t pc) const
{
    if (pc >= program_.code.size()) return "an unknown line";
    const Instruction &instruction = program_.code[pc];
    if (instruction.sourceLine != 0) return "line " + std::to_string(instruction.sourceLine);
    return "PTX line " + std::to_string(instruction.ptxLine);
}

void BlockRunner::fault(const Warp &warp, int lane, const std::string &what) const
{
    throw Fault{"kernel '" + state_.kernel.name + "', " + lineName(pc_) + ", " + threadName(warp, lane) +
                ": " + what};
}

} // namespace kernelwright::simt
