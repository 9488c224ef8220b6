// SPDX-License-Identifier: GPL-3.0-or-later
// Loads and stores: addresses, bounds, the way between memory and registers, and what the counters see of it.
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

std::string hexadecimal(std::uint64_t value)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

Space spaceOf(std::uint64_t address)
{
    return address - sharedWindow < windowBytes  ? Space::Shared
           : address - localWindow < windowBytes ? Space::Local
                                                 : Space::Global;
}

std::string accessName(std::uint32_t bytes, bool isWrite)
{
    return (isWrite ? "writes " : "reads ") + std::to_string(bytes) + " bytes";
}

} // namespace

WarpAddresses BlockRunner::addressesOf(Warp &warp, const Instruction &instruction, bool is64Bit,
                                       std::uint32_t mask, std::uint32_t bytes)
{
    WarpAddresses addresses;
    addresses.mask = mask;
    addresses.bytes = bytes;
    const std::byte *base = warp.locate(instruction.a);
    const auto offset = static_cast<std::uint64_t>(instruction.immediate);
    if (is64Bit)
        thread_.lanes.add64(reinterpret_cast<const std::uint64_t *>(base), offset, addresses.lane);
    else
        thread_.lanes.add32(reinterpret_cast<const std::uint32_t *>(base), static_cast<std::uint32_t>(offset),
                            addresses.lane);
    return addresses;
}

/// A generic address tells its space; when all lanes agree, their addresses become offsets in it.
Space BlockRunner::resolveSpace(Space space, WarpAddresses &addresses, Warp &warp)
{
    if (space == Space::Constant) return Space::Global;
    if (space != Space::Generic) return space;
    const Space first = spaceOf(addresses.lane[firstLane(addresses.mask)]);
    for (std::uint32_t left = addresses.mask; left != 0; left &= left - 1)
        if (spaceOf(addresses.lane[firstLane(left)]) != first)
            fault(warp, firstLane(left),
                  "the threads of a warp access different state spaces in one instruction, which the "
                  "simulator does not execute");
    if (first == Space::Global) return first;
    for (std::uint64_t &address : addresses.lane)
        address -= first == Space::Shared ? sharedWindow : localWindow;
    return first;
}

Buffer *BlockRunner::bufferOf(std::uint64_t address)
{
    Buffer *latest = thread_.latestBuffer;
    if (latest && address - latest->base < static_cast<std::uint64_t>(latest->byteCount)) return latest;
    return thread_.latestBuffer = state_.memory.find(address);
}

void BlockRunner::faultMisaligned(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes,
                                  bool isWrite, int lane)
{
    const Buffer *buffer = space == Space::Global ? bufferOf(address) : nullptr;
    fault(warp, lane,
          accessName(bytes, isWrite) + " at the misaligned address " + hexadecimal(address) +
              (buffer ? " (byte " + std::to_string(address - buffer->base) + " of '" + buffer->label + "')"
                      : std::string(" of ") + spaceName(space) + " memory"));
}

std::byte *BlockRunner::locateGlobalLane(Warp &warp, std::uint64_t address, std::uint32_t bytes, bool isWrite,
                                         int lane)
{
    if (!isWrite && address - parameterWindow < state_.parameterBlock.size() &&
        address - parameterWindow + bytes <= state_.parameterBlock.size())
        return state_.parameterBlock.data() + (address - parameterWindow);
    const std::string what = accessName(bytes, isWrite);
    Buffer *buffer = bufferOf(address);
    if (!buffer)
        fault(warp, lane,
              what + " out of bounds at " + hexadecimal(address) + ": " + state_.memory.describe(address));
    const std::uint64_t offset = address - buffer->base;
    if (offset + bytes > static_cast<std::uint64_t>(buffer->byteCount))
        fault(warp, lane,
              what + " out of bounds: they begin at byte " + std::to_string(offset) + " of '" +
                  buffer->label + "', which has " + std::to_string(buffer->byteCount) + " bytes");
    if (isWrite && buffer->isReadOnly)
        fault(warp, lane, what + " in the constant memory of '" + buffer->label + "'");
    if (isWrite && !state_.options.allChecks)
        buffer->wasStoredUnchecked.store(true, std::memory_order_relaxed);
    return buffer->bytes.get() + offset;
}

std::byte *BlockRunner::locateLane(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes,
                                   bool isWrite, int lane)
{
    if (address % bytes != 0) faultMisaligned(warp, space, address, bytes, isWrite, lane);
    if (space == Space::Shared) {
        if (address + bytes <= sharedBytes_) return shared_.data() + address;
        fault(warp, lane,
              accessName(bytes, isWrite) + " at byte " + std::to_string(address) +
                  " of shared memory, which has " + std::to_string(sharedBytes_) + " bytes");
    }
    if (space == Space::Local) {
        if (address + bytes <= warp.localBytes)
            return warp.local.data() + static_cast<std::size_t>(lane) * warp.localCapacity + address;
        fault(warp, lane,
              accessName(bytes, isWrite) + " at byte " + std::to_string(address) +
                  " of local memory, of which the thread has " + std::to_string(warp.localBytes) + " bytes");
    }
    return locateGlobalLane(warp, address, bytes, isWrite, lane);
}

/// The first lane's bytes when all lanes lie in one region and are aligned, else nullptr.
std::byte *BlockRunner::locateRegion(Warp &warp, Space space, const WarpAddresses &addresses,
                                     const AccessPattern &pattern, bool isWrite, Buffer *&buffer)
{
    const std::uint64_t first = addresses.lane[firstLane(addresses.mask)];
    if (!pattern.isAligned || (first & (addresses.bytes - 1)) != 0) return nullptr;
    const std::uint64_t low = first + static_cast<std::uint64_t>(pattern.lowest);
    if (space == Space::Shared)
        return low <= sharedBytes_ && pattern.span <= sharedBytes_ - low ? shared_.data() + first : nullptr;
    if (space != Space::Global) {
        (void)warp;
        return nullptr;
    }
    buffer = bufferOf(low);
    if (!buffer || (isWrite && buffer->isReadOnly)) return nullptr;
    if (low - buffer->base + pattern.span > static_cast<std::uint64_t>(buffer->byteCount)) return nullptr;
    if (isWrite && !state_.options.allChecks && !buffer->wasStoredUnchecked.load(std::memory_order_relaxed))
        buffer->wasStoredUnchecked.store(true, std::memory_order_relaxed);
    return buffer->bytes.get() + (first - buffer->base);
}

LocatedLanes BlockRunner::reach(Warp &warp, Space space, const WarpAddresses &addresses, bool isWrite,
                                AccessPattern &pattern)
{
    const std::uint64_t first = addresses.lane[firstLane(addresses.mask)];
    if (pattern.mask != addresses.mask || pattern.space != space || pattern.phase != first % 32 ||
        !thread_.lanes.matches(addresses.lane, first, pattern))
        describePattern(pattern, addresses, space);
    LocatedLanes located;
    located.pattern = &pattern;
    Buffer *buffer = nullptr;
    located.first = locateRegion(warp, space, addresses, pattern, isWrite, buffer);
    if (!located.first)
        for (std::uint32_t left = addresses.mask; left != 0; left &= left - 1) {
            const int lane = firstLane(left);
            located.lane[lane] =
                locateLane(warp, space, addresses.lane[lane], addresses.bytes, isWrite, lane);
        }
    else if (state_.options.allChecks)
        for (int lane = 0; lane < warpSize; ++lane)
            located.lane[lane] = located.first + pattern.delta[lane];
    if (state_.options.countsEvents) countAccess(space, addresses, pattern, buffer, isWrite);
    return located;
}

void BlockRunner::locateLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite,
                              std::byte **lanes)
{
    AccessPattern pattern;
    const LocatedLanes located = reach(warp, space, addresses, isWrite, pattern);
    for (std::uint32_t left = addresses.mask; left != 0; left &= left - 1) {
        const int lane = firstLane(left);
        lanes[lane] = located.first ? located.first + pattern.delta[lane] : located.lane[lane];
    }
}

void BlockRunner::countAccess(Space space, const WarpAddresses &addresses, const AccessPattern &pattern,
                              const Buffer *buffer, bool isWrite)
{
    SiteCounters &site = thread_.counters.sites[pc_];
    site.bankPasses += pattern.passes;
    site.bankConflicts += pattern.conflicts;
    if (space == Space::Shared) return;
    if (space == Space::Local) {
        ++site.localRequests;
        site.localSectors += pattern.sectors;
        return;
    }
    ++site.requests;
    site.sectors += pattern.sectors;
    const auto first = static_cast<std::int64_t>(addresses.lane[firstLane(addresses.mask)] / 32);
    for (std::uint16_t i = 0; i < pattern.sectors; ++i) {
        const auto sector = static_cast<std::uint64_t>(first + pattern.sector[i]);
        const Buffer *owner = buffer ? buffer : bufferOf(sector * 32);
        if (!owner) continue; // the parameter block
        const SectorNews news = thread_.footprint->touch(*owner, sector - owner->base / 32, isWrite);
        site.blockFirst += news.isNewToBlock;
        site.launchFirst += news.isNewToLaunch;
    }
}

namespace
{

template <class Element>
void loadLane(const std::byte *from, std::byte *registers, int lane, bool isSigned, bool is64Bit)
{
    Element value;
    std::memcpy(&value, from, sizeof value);
    auto wide = static_cast<std::uint64_t>(value);
    if (isSigned)
        wide = static_cast<std::uint64_t>(std::int64_t{static_cast<std::make_signed_t<Element>>(value)});
    const std::size_t size = is64Bit ? 8 : 4;
    std::memcpy(registers + static_cast<std::size_t>(lane) * size, &wide, size);
}

/// One lane's element, for lanes that do not lie in one region.
void loadLane(const std::byte *from, std::byte *registers, int lane, int elementBytes, bool isSigned,
              bool is64Bit)
{
    switch (elementBytes) {
    case 1:
        return loadLane<std::uint8_t>(from, registers, lane, isSigned, is64Bit);
    case 2:
        return loadLane<std::uint16_t>(from, registers, lane, isSigned, is64Bit);
    case 4:
        return loadLane<std::uint32_t>(from, registers, lane, isSigned, is64Bit);
    default:
        return loadLane<std::uint64_t>(from, registers, lane, isSigned, is64Bit);
    }
}

void storeLane(std::byte *to, const std::byte *registers, int lane, int elementBytes, bool is64Bit)
{
    std::memcpy(to, registers + static_cast<std::size_t>(lane) * (is64Bit ? 8 : 4),
                static_cast<std::size_t>(elementBytes));
}

} // namespace

void BlockRunner::load(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const MemoryAccess &access = program_.accesses[instruction.details];
    const std::uint32_t bytes = std::uint32_t{access.elementBytes} * access.count;
    WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, bytes);
    const Space space = resolveSpace(access.space, addresses, warp);
    const LocatedLanes from = reach(warp, space, addresses, false, thread_.patterns[instruction.details]);
    if (state_.options.allChecks) checkAccess(warp, space, addresses, &access, false, false, from.lane);
    for (std::uint8_t i = 0; i < access.count; ++i) {
        const RegisterReference target = access.registers[i];
        if (target.reference == noOperand) continue;
        std::byte *registers = warp.locate(target.reference);
        const std::size_t offset = std::size_t{i} * access.elementBytes;
        if (from.first) {
            thread_.lanes.load(from.first + offset, *from.pattern, access.elementBytes, access.isSignExtended,
                               registers, target.is64Bit, bytes);
            continue;
        }
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            const int lane = firstLane(left);
            loadLane(from.lane[lane] + offset, registers, lane, access.elementBytes, access.isSignExtended,
                     target.is64Bit);
        }
    }
}

void BlockRunner::store(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const MemoryAccess &access = program_.accesses[instruction.details];
    const std::uint32_t bytes = std::uint32_t{access.elementBytes} * access.count;
    WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, bytes);
    const Space space = resolveSpace(access.space, addresses, warp);
    const LocatedLanes to = reach(warp, space, addresses, true, thread_.patterns[instruction.details]);
    ++changes_;
    const bool isSimple = to.first && !state_.options.allChecks;
    for (std::uint8_t i = 0; isSimple && i < access.count; ++i)
        thread_.lanes.store(to.first + std::size_t{i} * access.elementBytes, *to.pattern, access.elementBytes,
                            warp.locate(access.registers[i].reference), access.registers[i].is64Bit, bytes);
    if (isSimple) return;
    // Lane by lane, so that a lane which writes what another has just written is seen to change nothing.
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const int lane = firstLane(left);
        addresses.mask = 1u << lane;
        if (state_.options.allChecks) checkAccess(warp, space, addresses, &access, true, false, to.lane);
        for (std::uint8_t i = 0; i < access.count; ++i)
            storeLane(to.lane[lane] + std::size_t{i} * access.elementBytes,
                      warp.locate(access.registers[i].reference), lane, access.elementBytes,
                      access.registers[i].is64Bit);
    }
}

} // namespace kernelwright::simt
