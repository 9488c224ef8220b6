// SPDX-License-Identifier: GPL-3.0-or-later
// Operations among the lanes of a warp, and the few others that need to know the warp.
#include "block_runner.h"

namespace kernelwright::simt
{

void BlockRunner::warpOperation(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const bool names = instruction.kind == Kind::Shuffle || instruction.kind == Kind::Vote ||
                       instruction.kind == Kind::Match || instruction.kind == Kind::Reduce ||
                       instruction.kind == Kind::WarpBarrier || instruction.kind == Kind::Elect;
    if (names && !gather(warp, instruction, mask)) return;
    switch (instruction.kind) {
    case Kind::Shuffle:
        return shuffle(warp, instruction, mask);
    case Kind::Vote:
        return vote(warp, instruction, mask);
    case Kind::Match:
        return match(warp, instruction, mask);
    case Kind::Reduce:
        return reduce(warp, instruction, mask);
    case Kind::WarpBarrier:
        return;
    default:
        break;
    }
    const std::uint32_t elected =
        instruction.kind == Kind::Elect
            ? static_cast<std::uint32_t>(firstLane(members(warp, instruction, mask)))
            : 0;
    if (instruction.kind == Kind::Elect) warp.writeMask(instruction.secondDestination, 1u << elected, mask);
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        switch (instruction.kind) {
        case Kind::ActiveMask:
            warp.write(instruction.destination, lane, mask);
            break;
        case Kind::Elect:
            warp.write(instruction.destination, lane, elected);
            break;
        case Kind::LocalAddress: {
            const auto address = static_cast<std::uint64_t>(instruction.immediate) + warp.frame().localOffset;
            instruction.details
                ? warp.write(instruction.destination, lane, address)
                : warp.write(instruction.destination, lane, static_cast<std::uint32_t>(address));
            break;
        }
        case Kind::Clock: {
            // The clock counts the block's own instructions: it advances, and it is the same in every run.
            const std::uint64_t now = instruction.details & 2u ? executed_ >> 32 : executed_;
            instruction.details & 1u
                ? warp.write(instruction.destination, lane, now)
                : warp.write(instruction.destination, lane, static_cast<std::uint32_t>(now));
            break;
        }
        default:
            break;
        }
    }
}

/// Of the lanes that an operation names, those that take part.
std::uint32_t BlockRunner::members(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t named = warp.read<std::uint32_t>(instruction.c, firstLane(mask));
    return (named & mask) != 0 ? named & mask : mask;
}

void BlockRunner::shuffle(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    std::uint32_t values[warpSize], results[warpSize];
    std::memcpy(values, warp.locate(instruction.a), sizeof values);
    std::memcpy(results, warp.locate(instruction.destination), sizeof results);
    const ShuffleKind kind = program_.warpOperations[instruction.details].shuffle;
    std::uint32_t inRange = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        const int b = static_cast<int>(warp.read<std::uint32_t>(instruction.b, lane) & 31u);
        const std::uint32_t c = warp.read<std::uint32_t>(instruction.d, lane);
        const int clamp = static_cast<int>(c & 31u), segment = static_cast<int>((c >> 8) & 31u);
        const int maximum = (lane & segment) | (clamp & ~segment), minimum = lane & segment;
        int source = lane;
        bool isInside = true;
        switch (kind) {
        case ShuffleKind::Up:
            source = lane - b;
            isInside = source >= maximum;
            break;
        case ShuffleKind::Down:
            source = lane + b;
            isInside = source <= maximum;
            break;
        case ShuffleKind::Butterfly:
            source = lane ^ b;
            isInside = source <= maximum;
            break;
        case ShuffleKind::Index:
            source = minimum | (b & ~segment);
            isInside = source <= maximum;
            break;
        }
        if (!isInside) source = lane;
        if (state_.options.allChecks && !((mask >> source) & 1u))
            fault(warp, lane, "a shuffle reads from lane " + std::to_string(source) + ", which is inactive");
        results[lane] = values[source];
        inRange |= static_cast<std::uint32_t>(isInside) << lane;
    }
    std::memcpy(warp.locate(instruction.destination), results, sizeof results);
    warp.writeMask(instruction.secondDestination, inRange, mask);
}

void BlockRunner::vote(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t taking = members(warp, instruction, mask);
    const std::uint32_t read = warp.readMask(instruction.d);
    const std::uint32_t ballot = (instruction.isDNegated ? ~read : read) & taking;
    switch (program_.warpOperations[instruction.details].vote) {
    case VoteKind::All:
        return warp.writeMask(instruction.destination, ballot == taking ? fullMask : 0, mask);
    case VoteKind::Any:
        return warp.writeMask(instruction.destination, ballot != 0 ? fullMask : 0, mask);
    case VoteKind::Uniform:
        return warp.writeMask(instruction.destination, ballot == taking || ballot == 0 ? fullMask : 0, mask);
    case VoteKind::Ballot:
        for (int lane = 0; lane < warpSize; ++lane)
            if ((mask >> lane) & 1u) warp.write(instruction.destination, lane, ballot);
        return;
    }
}

void BlockRunner::match(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t taking = members(warp, instruction, mask);
    const WarpOperation &operation = program_.warpOperations[instruction.details];
    std::uint64_t values[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        values[lane] = operation.is64Bit ? warp.read<std::uint64_t>(instruction.a, lane)
                                         : warp.read<std::uint32_t>(instruction.a, lane);
    std::uint32_t agreeing = 0;
    std::uint32_t results[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        std::uint32_t same = 0;
        for (int other = 0; other < warpSize; ++other)
            if (((taking >> other) & 1u) && values[other] == values[lane]) same |= 1u << other;
        if (same == taking) agreeing |= 1u << lane;
        results[lane] = !operation.isAll || same == taking ? same : 0;
    }
    for (int lane = 0; lane < warpSize; ++lane)
        if ((mask >> lane) & 1u) warp.write(instruction.destination, lane, results[lane]);
    warp.writeMask(instruction.secondDestination, agreeing, mask);
}

void BlockRunner::reduce(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t taking = members(warp, instruction, mask);
    const WarpOperation &operation = program_.warpOperations[instruction.details];
    std::uint32_t result = warp.read<std::uint32_t>(instruction.a, firstLane(taking));
    for (int lane = firstLane(taking) + 1; lane < warpSize; ++lane) {
        if (!((taking >> lane) & 1u)) continue;
        const std::uint32_t value = warp.read<std::uint32_t>(instruction.a, lane);
        const bool isLess = operation.isSigned
                                ? static_cast<std::int32_t>(value) < static_cast<std::int32_t>(result)
                                : value < result;
        switch (operation.reduce) {
        case ReduceKind::Add:
            result += value;
            break;
        case ReduceKind::Min:
            result = isLess ? value : result;
            break;
        case ReduceKind::Max:
            result = isLess ? result : value;
            break;
        case ReduceKind::And:
            result &= value;
            break;
        case ReduceKind::Or:
            result |= value;
            break;
        case ReduceKind::Xor:
            result ^= value;
            break;
        }
    }
    for (int lane = 0; lane < warpSize; ++lane)
        if ((mask >> lane) & 1u) warp.write(instruction.destination, lane, result);
}

} // namespace kernelwright::simt
