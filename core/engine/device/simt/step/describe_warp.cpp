// SPDX-License-Identifier: GPL-3.0-or-later
// What a stopped warp shows: its lanes, registers, and the memory that its next instruction touches.
#include "simt_stepper.h"

#include <algorithm>
#include <cctype>

namespace kernelwright::simt
{

namespace
{

constexpr std::size_t shownRegisters = 400;

std::string trimmed(const std::string &text)
{
    const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

/// Whether the instruction's text names this register, "%r1" but not "%r12".
bool names(const std::string &text, const std::string &name)
{
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const std::size_t behind = at + name.size();
        if (behind >= text.size() || !std::isalnum(static_cast<unsigned char>(text[behind]))) return true;
    }
    return false;
}

std::uint64_t laneBits(const std::byte *frame, const NamedRegister &named, int lane)
{
    const std::byte *place = frame + (named.reference & 0x3fffffffu);
    if (named.type == Type::Predicate) {
        std::uint32_t mask;
        std::memcpy(&mask, place, sizeof mask);
        return (mask >> lane) & 1u;
    }
    if (typeBytes(named.type) == 8) {
        std::uint64_t value;
        std::memcpy(&value, place + lane * 8, sizeof value);
        return value;
    }
    std::uint32_t value;
    std::memcpy(&value, place + lane * 4, sizeof value);
    return value;
}

Space spaceOfAddress(std::uint64_t address)
{
    return address - sharedWindow < windowBytes  ? Space::Shared
           : address - localWindow < windowBytes ? Space::Local
                                                 : Space::Global;
}

} // namespace

void SimtStepper::describeGroups(WarpState &state) const
{
    const Warp &warp = runner_->warps()[number_];
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i) {
        const Path &path = warp.paths[i];
        if (path.state == PathState::Unused) continue;
        LaneGroup group;
        group.lanes = path.children != 0 ? BlockRunner::parkedLanes(warp, i) : path.mask;
        if (group.lanes == 0) continue;
        group.line = static_cast<int>(launch_->program.code[path.pc].sourceLine);
        group.state = path.state == PathState::AtBarrier    ? "at a barrier"
                      : path.state == PathState::AtWarpSync ? "waits for other lanes"
                      : path.children != 0                  ? "waits to meet the others"
                      : i == warp.current                   ? "runs"
                                                            : "runs later";
        state.groups.push_back(std::move(group));
    }
}

void SimtStepper::describeRegisters(WarpState &state) const
{
    const Warp &warp = runner_->warps()[number_];
    const std::uint32_t function = warp.frames[warp.path().frame].function;
    const std::byte *frame = warp.banks[0];
    const bool canCompare = function == beforeFunction_ && !before_.empty();
    const std::size_t comma = state.instruction.find(',');
    const bool isStore = !state.access.empty() && state.access.front().kind == "store";
    for (const NamedRegister &named : launch_->program.functions[function].namedRegisters) {
        RegisterState shown;
        shown.name = named.name;
        shown.type = named.type == Type::Predicate ? "pred" : typeName(named.type);
        const bool isNamed = names(state.instruction, named.name);
        shown.isWritten = isNamed && !isStore && names(state.instruction.substr(0, comma), named.name) &&
                          state.instruction[0] != '@';
        shown.isRead = isNamed && !shown.isWritten;
        bool isSet = isNamed;
        for (int lane = 0; lane < warpSize; ++lane) {
            const std::uint64_t bits = laneBits(frame, named, lane);
            shown.bits[static_cast<std::size_t>(lane)] = bits;
            isSet = isSet || bits != 0;
            shown.hasChanged =
                shown.hasChanged || (canCompare && bits != laneBits(before_.data(), named, lane));
        }
        if (isSet || shown.hasChanged) state.registers.push_back(std::move(shown));
        if (state.registers.size() >= shownRegisters) break;
    }
}

void SimtStepper::describeAccess(WarpState &state) const
{
    const Instruction &instruction = current();
    const Program &program = launch_->program;
    const bool isAtomic = instruction.kind == Kind::Atomic;
    if ((instruction.kind != Kind::Load && instruction.kind != Kind::Store && !isAtomic) || state.active == 0)
        return;
    Space space =
        isAtomic ? program.atomics[instruction.details].space : program.accesses[instruction.details].space;
    const bool is64Bit = isAtomic ? program.atomics[instruction.details].isAddress64Bit
                                  : program.accesses[instruction.details].isAddress64Bit;
    const auto bytes =
        static_cast<std::uint32_t>(isAtomic ? typeBytes(program.atomics[instruction.details].type)
                                            : program.accesses[instruction.details].elementBytes *
                                                  program.accesses[instruction.details].count);
    WarpAddresses addresses =
        runner_->addressesOf(runner_->warps()[number_], instruction, is64Bit, state.active, bytes);
    const int first = firstLane(state.active);
    if (space == Space::Generic) {
        space = spaceOfAddress(addresses.lane[first]);
        if (space != Space::Global)
            for (std::uint64_t &address : addresses.lane)
                address -= space == Space::Shared ? sharedWindow : localWindow;
    }
    AccessState access;
    access.kind = isAtomic ? "atomic" : instruction.kind == Kind::Load ? "load" : "store";
    access.space = spaceName(space == Space::Constant ? Space::Global : space);
    access.lanes = state.active;
    access.bytesPerLane = static_cast<int>(bytes);
    access.banks.fill(-1);
    const Buffer *buffer = space == Space::Global || space == Space::Constant
                               ? launch_->memory.find(addresses.lane[first])
                               : nullptr;
    if (buffer) access.buffer = buffer->label;
    for (std::uint32_t left = state.active; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(firstLane(left));
        access.addresses[lane] = addresses.lane[lane];
        access.offsets[lane] = buffer ? static_cast<std::int64_t>(addresses.lane[lane] - buffer->base) : 0;
        if (space == Space::Shared)
            access.banks[lane] = static_cast<int>(addresses.lane[lane] / 4 % warpSize);
    }
    AccessPattern pattern;
    describePattern(pattern, addresses, space == Space::Constant ? Space::Global : space);
    access.bankPasses = pattern.passes;
    access.bankConflicts = pattern.conflicts;
    if (space == Space::Global || space == Space::Constant)
        for (std::uint16_t i = 0; i < pattern.sectors; ++i)
            access.sectors.push_back(addresses.lane[first] / 32 +
                                     static_cast<std::uint64_t>(pattern.sector[i]));
    access.idealSectors =
        static_cast<int>((static_cast<std::uint32_t>(std::popcount(state.active)) * bytes + 31) / 32);
    state.access.push_back(std::move(access));
}

WarpState SimtStepper::state() const
{
    const Warp &warp = runner_->warps()[number_];
    WarpState state;
    state.kernel = launch_->kernel.name;
    const auto &grid = launch_->geometry.grid;
    state.block = {static_cast<std::uint32_t>(block_ % grid[0]),
                   static_cast<std::uint32_t>(block_ / grid[0] % grid[1]),
                   static_cast<std::uint32_t>(block_ / grid[0] / grid[1])};
    state.warp = number_;
    state.step = step_;
    state.live = warp.liveLanes;
    state.fault = fault_;
    state.isFinished = isAtEnd();
    if (warp.status == WarpStatus::Finished || warp.paths.empty()) return state;
    const Instruction &instruction = current();
    state.line = static_cast<int>(instruction.sourceLine);
    state.ptxLine = static_cast<int>(instruction.ptxLine);
    if (instruction.ptxLine >= 1 && instruction.ptxLine <= ptx_.size())
        state.instruction = trimmed(ptx_[instruction.ptxLine - 1]);
    state.active = activeLanes();
    describeGroups(state);
    describeAccess(state);
    describeRegisters(state);
    return state;
}

} // namespace kernelwright::simt
