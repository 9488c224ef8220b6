// SPDX-License-Identifier: GPL-3.0-or-later
// Calls, their parameters and the threads' local memory.
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

constexpr std::size_t maximumCallDepth = 512;
/// What a thread of a CUDA GPU may have.
constexpr std::uint32_t maximumLocalBytes = 512 * 1024;

std::uint32_t roundUp(std::uint32_t value, std::uint32_t step)
{
    return (value + step - 1) / step * step;
}

void copyLanes(std::byte *to, const LaneVariable &target, const std::byte *from, const LaneVariable &source,
               std::uint32_t mask)
{
    const std::uint32_t bytes = std::min(target.stride, source.stride);
    for (std::uint32_t lane = 0; lane < warpSize; ++lane)
        if ((mask >> lane) & 1u)
            std::memcpy(to + target.offset + lane * target.stride,
                        from + source.offset + lane * source.stride, bytes);
}

} // namespace

void BlockRunner::setBanks(Warp &warp)
{
    const CallFrame &frame = warp.frame();
    warp.banks[0] = warp.registers.data() + frame.frameOffset;
    warp.banks[1] = state_.constants.data();
    warp.banks[2] = warp.specials.data();
    warp.localBytes = frame.localEnd;
}

/// Makes room for a function's .local variables in every lane.
void BlockRunner::reserveLocal(Warp &warp, CallFrame &frame, std::uint32_t bytes)
{
    const std::uint32_t needed = frame.localOffset + roundUp(bytes, 16);
    if (needed > maximumLocalBytes)
        fault(warp, firstLane(warp.liveLanes), "local memory is used up (endless recursion?)");
    if (needed > warp.localCapacity) {
        const std::uint32_t capacity = std::max(needed, 2 * warp.localCapacity);
        std::vector<std::byte> larger(std::size_t{capacity} * warpSize, std::byte{0xff});
        std::vector<std::uint8_t> initialised(state_.options.allChecks ? larger.size() : 0);
        for (std::size_t lane = 0; lane < warpSize; ++lane) {
            std::copy_n(warp.local.begin() + static_cast<std::ptrdiff_t>(lane * warp.localCapacity),
                        warp.localCapacity, larger.begin() + static_cast<std::ptrdiff_t>(lane * capacity));
            if (!initialised.empty())
                std::copy_n(
                    warp.localInitialised.begin() + static_cast<std::ptrdiff_t>(lane * warp.localCapacity),
                    warp.localCapacity, initialised.begin() + static_cast<std::ptrdiff_t>(lane * capacity));
        }
        warp.local = std::move(larger);
        warp.localInitialised = std::move(initialised);
        warp.localCapacity = capacity;
    }
    frame.localEnd = needed;
}

/// The current path waits behind its call until the function has returned.
void BlockRunner::enter(Warp &warp, std::uint32_t function, std::uint32_t callSite, std::uint32_t mask)
{
    std::size_t depth = 1;
    for (std::uint32_t i = warp.path().frame; i != noIndex; i = warp.frames[i].parent)
        ++depth;
    if (depth > maximumCallDepth)
        fault(warp, firstLane(mask), "calls are nested too deeply (endless recursion?)");
    const DecodedFunction &callee = program_.functions[function];
    CallFrame frame;
    frame.function = function;
    frame.parent = warp.path().frame;
    frame.localOffset = roundUp(warp.frame().localEnd, 16);
    frame.mask = mask;
    frame.callSite = callSite;
    // Behind every frame that is in use: paths that have parted may be in different functions.
    for (const CallFrame &used : warp.frames)
        if (used.pathCount != 0)
            frame.frameOffset =
                std::max(frame.frameOffset,
                         used.frameOffset + roundUp(program_.functions[used.function].frameBytes, 64));
    if (warp.registers.size() < frame.frameOffset + callee.frameBytes)
        warp.registers.resize(2 * (frame.frameOffset + callee.frameBytes));
    reserveLocal(warp, frame, callee.localBytes);
    const CallSite &site = program_.calls[callSite];
    for (std::size_t i = 0; i < site.arguments.size() && i < callee.parameters.size(); ++i)
        copyLanes(warp.registers.data() + frame.frameOffset, callee.parameters[i],
                  warp.registers.data() + warp.frame().frameOffset, site.arguments[i], mask);
    Path path;
    path.pc = callee.first;
    path.mask = mask;
    path.parent = warp.current;
    path.state = PathState::Ready;
    path.frame =
        static_cast<std::uint32_t>(std::find_if(warp.frames.begin(), warp.frames.end(),
                                                [](const CallFrame &place) { return place.pathCount == 0; }) -
                                   warp.frames.begin());
    if (path.frame == warp.frames.size()) warp.frames.emplace_back();
    warp.frames[path.frame] = frame;
    addPath(warp, path);
}

/// A function's last path has ended: results go to its caller.
void BlockRunner::popFrame(Warp &warp, std::uint32_t index)
{
    const CallFrame frame = warp.frames[index];
    if (frame.parent == noIndex) return;
    const DecodedFunction &callee = program_.functions[frame.function];
    const CallSite &site = program_.calls[frame.callSite];
    for (std::size_t i = 0; i < site.results.size() && i < callee.results.size(); ++i)
        copyLanes(warp.registers.data() + warp.frames[frame.parent].frameOffset, site.results[i],
                  warp.registers.data() + frame.frameOffset, callee.results[i], frame.mask & warp.liveLanes);
    while (warp.frames.size() > 1 && warp.frames.back().pathCount == 0)
        warp.frames.pop_back();
}

void BlockRunner::call(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const CallSite &site = program_.calls[instruction.details];
    if (site.builtin == Builtin::Printf) return printf(warp, site, mask);
    if (site.builtin == Builtin::AssertFail) assertFail(warp, site, mask);
    enter(warp, site.function, instruction.details, mask);
}

/// Lanes may call different functions: the first group goes now, the others come back to this instruction
/// afterwards.
void BlockRunner::indirectCall(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const int first = firstLane(mask);
    const auto target = warp.read<std::uint64_t>(instruction.a, first);
    const std::uint64_t index = (target - functionWindow) / 16;
    if (index >= program_.functions.size() || !program_.functions[index].isDefined ||
        program_.functions[index].isEntry)
        fault(warp, first, "an indirect call jumps to no function");
    if (program_.functions[index].parameters.size() != program_.calls[instruction.details].arguments.size())
        fault(warp, first,
              "an indirect call passes other parameters than '" + program_.functions[index].name + "' takes");
    std::uint32_t group = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        if (((mask >> lane) & 1u) && warp.read<std::uint64_t>(instruction.a, lane) == target)
            group |= 1u << lane;
    if (const std::uint32_t others = mask & ~group; others != 0) {
        Path again = warp.path();
        again.mask = others;
        again.reconverge = again.pc;
        again.pc = pc_;
        again.parent = warp.current;
        again.children = 0;
        addPath(warp, again);
    }
    enter(warp, static_cast<std::uint32_t>(index), instruction.details, group);
}

void BlockRunner::loadParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const ParameterAccess &access = program_.parameterAccesses[instruction.details];
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        const std::byte *from = warp.banks[0] + access.variable.offset +
                                static_cast<std::size_t>(lane) * access.variable.stride +
                                instruction.immediate;
        for (std::uint8_t i = 0; i < access.count; ++i, from += access.elementBytes) {
            const RegisterReference target = access.registers[i];
            if (target.reference == noOperand) continue;
            std::uint64_t value = 0;
            std::memcpy(&value, from, access.elementBytes);
            if (access.isSignExtended && access.elementBytes < 8) {
                const int unused = 64 - 8 * access.elementBytes;
                value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
            }
            target.is64Bit ? warp.write(target.reference, lane, value)
                           : warp.write(target.reference, lane, static_cast<std::uint32_t>(value));
        }
    }
}

void BlockRunner::storeParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const ParameterAccess &access = program_.parameterAccesses[instruction.details];
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        std::byte *to = warp.banks[0] + access.variable.offset +
                        static_cast<std::size_t>(lane) * access.variable.stride + instruction.immediate;
        for (std::uint8_t i = 0; i < access.count; ++i, to += access.elementBytes) {
            const RegisterReference source = access.registers[i];
            const std::uint64_t value = source.is64Bit ? warp.read<std::uint64_t>(source.reference, lane)
                                                       : warp.read<std::uint32_t>(source.reference, lane);
            std::memcpy(to, &value, access.elementBytes);
        }
    }
}

} // namespace kernelwright::simt
