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

template <class Element, class Register>
void loadElements(std::byte *const *lanes, std::uint32_t mask, std::size_t offset, Register *to,
                  bool isSigned)
{
    constexpr int unused = 8 * (static_cast<int>(sizeof(Register)) - static_cast<int>(sizeof(Element)));
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        Element value;
        std::memcpy(&value, lanes[lane] + offset, sizeof value);
        auto widened = static_cast<Register>(value);
        if constexpr (unused > 0) {
            using Signed = std::make_signed_t<Register>;
            if (isSigned)
                widened = static_cast<Register>(
                    static_cast<Signed>(static_cast<Register>(widened << unused)) >> unused);
        }
        to[lane] = widened;
    }
}

template <class Element, class Register>
void storeElements(std::byte *const *lanes, std::uint32_t mask, std::size_t offset, const Register *from)
{
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        const auto value = static_cast<Element>(from[lane]);
        std::memcpy(lanes[lane] + offset, &value, sizeof value);
    }
}

template <class Element, class Register>
void moveElements(std::byte *const *lanes, std::uint32_t mask, std::size_t offset, std::byte *registers,
                  bool isSigned, bool isLoad)
{
    auto *values = reinterpret_cast<Register *>(registers);
    isLoad ? loadElements<Element, Register>(lanes, mask, offset, values, isSigned)
           : storeElements<Element, Register>(lanes, mask, offset, values);
}

} // namespace

WarpAddresses BlockRunner::addressesOf(Warp &warp, const Instruction &instruction, bool is64Bit,
                                       std::uint32_t mask, std::uint32_t bytes)
{
    WarpAddresses addresses;
    addresses.mask = mask;
    addresses.bytes = bytes;
    const auto offset = static_cast<std::uint64_t>(instruction.immediate);
    if (is64Bit) {
        const auto *base = reinterpret_cast<const std::uint64_t *>(warp.locate(instruction.a));
        for (int lane = 0; lane < warpSize; ++lane)
            addresses.lane[lane] = base[lane] + offset;
    } else {
        const auto *base = reinterpret_cast<const std::uint32_t *>(warp.locate(instruction.a));
        for (int lane = 0; lane < warpSize; ++lane)
            addresses.lane[lane] =
                static_cast<std::uint32_t>(base[lane] + static_cast<std::uint32_t>(offset));
    }
    return addresses;
}

/// A generic address tells its space; when all lanes agree, their addresses become offsets in it.
Space BlockRunner::resolveSpace(Space space, WarpAddresses &addresses, Warp &warp)
{
    if (space == Space::Constant) return Space::Global;
    if (space != Space::Generic) return space;
    const auto spaceOf = [](std::uint64_t address) {
        return address - sharedWindow < windowBytes  ? Space::Shared
               : address - localWindow < windowBytes ? Space::Local
                                                     : Space::Global;
    };
    const Space first = spaceOf(addresses.lane[firstLane(addresses.mask)]);
    for (int lane = 0; lane < warpSize; ++lane)
        if (((addresses.mask >> lane) & 1u) && spaceOf(addresses.lane[lane]) != first)
            fault(warp, lane,
                  "the threads of a warp access different state spaces in one instruction, which the "
                  "simulator does not execute");
    if (first == Space::Global) return first;
    for (std::uint64_t &address : addresses.lane)
        address -= first == Space::Shared ? sharedWindow : localWindow;
    return first;
}

Buffer *BlockRunner::bufferOf(std::uint64_t address)
{
    if (latestBuffer_ && address - latestBuffer_->base < static_cast<std::uint64_t>(latestBuffer_->byteCount))
        return latestBuffer_;
    latestBuffer_ = state_.memory.find(address);
    return latestBuffer_;
}

std::byte *BlockRunner::locateLane(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes,
                                   bool isWrite, int lane)
{
    const char *verb = isWrite ? "writes " : "reads ";
    const std::string what = verb + std::to_string(bytes) + " bytes";
    if (address % bytes != 0)
        fault(warp, lane,
              what + " at the misaligned address " + hexadecimal(address) +
                  (space == Space::Global && bufferOf(address)
                       ? " (byte " + std::to_string(address - bufferOf(address)->base) + " of '" +
                             bufferOf(address)->label + "')"
                       : std::string(" of ") + spaceName(space) + " memory"));
    if (space == Space::Shared) {
        if (address + bytes <= sharedBytes_) return shared_.data() + address;
        fault(warp, lane,
              what + " at byte " + std::to_string(address) + " of shared memory, which has " +
                  std::to_string(sharedBytes_) + " bytes");
    }
    if (space == Space::Local) {
        if (address + bytes <= warp.localBytes)
            return warp.local.data() + static_cast<std::size_t>(lane) * warp.localCapacity + address;
        fault(warp, lane,
              what + " at byte " + std::to_string(address) + " of local memory, of which the thread has " +
                  std::to_string(warp.localBytes) + " bytes");
    }
    if (!isWrite && address - parameterWindow < state_.parameterBlock.size() &&
        address - parameterWindow + bytes <= state_.parameterBlock.size())
        return state_.parameterBlock.data() + (address - parameterWindow);
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

void BlockRunner::locateLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite,
                              std::byte **lanes)
{
    const std::uint32_t mask = addresses.mask;
    // The usual case first: all lanes within one region, all aligned.
    std::uint64_t low = ~std::uint64_t{0}, high = 0, bits = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        low = std::min(low, addresses.lane[lane]);
        high = std::max(high, addresses.lane[lane]);
        bits |= addresses.lane[lane];
    }
    std::byte *base = nullptr;
    std::uint64_t start = 0;
    Buffer *buffer = space == Space::Global ? bufferOf(low) : nullptr;
    const bool isAligned = (bits & (addresses.bytes - 1)) == 0;
    if (isAligned && buffer &&
        high - buffer->base + addresses.bytes <= static_cast<std::uint64_t>(buffer->byteCount) &&
        high >= buffer->base && !(isWrite && buffer->isReadOnly)) {
        base = buffer->bytes.get();
        start = buffer->base;
        if (isWrite && !state_.options.allChecks &&
            !buffer->wasStoredUnchecked.load(std::memory_order_relaxed))
            buffer->wasStoredUnchecked.store(true, std::memory_order_relaxed);
    } else if (isAligned && space == Space::Shared && high + addresses.bytes <= sharedBytes_) {
        base = shared_.data();
    }
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        lanes[lane] = base ? base + (addresses.lane[lane] - start)
                           : locateLane(warp, space, addresses.lane[lane], addresses.bytes, isWrite, lane);
    }
    if (!state_.options.countsEvents) return;
    if (space == Space::Shared) return countShared(addresses);
    space == Space::Local ? countLocal(addresses) : countGlobal(base ? buffer : nullptr, addresses, isWrite);
}

void BlockRunner::moveLanes(Warp &warp, const MemoryAccess &access, std::byte *const *lanes,
                            std::uint32_t mask, bool isLoad)
{
    for (std::uint8_t i = 0; i < access.count; ++i) {
        const RegisterReference target = access.registers[i];
        if (target.reference == noOperand) continue;
        std::byte *registers = warp.locate(target.reference);
        const std::size_t offset = std::size_t{i} * access.elementBytes;
        const bool isSigned = access.isSignExtended;
        switch (access.elementBytes * 2 + target.is64Bit) {
        case 2:
            moveElements<std::uint8_t, std::uint32_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        case 3:
            moveElements<std::uint8_t, std::uint64_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        case 4:
            moveElements<std::uint16_t, std::uint32_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        case 5:
            moveElements<std::uint16_t, std::uint64_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        case 8:
            moveElements<std::uint32_t, std::uint32_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        case 9:
            moveElements<std::uint32_t, std::uint64_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        default:
            moveElements<std::uint64_t, std::uint64_t>(lanes, mask, offset, registers, isSigned, isLoad);
            break;
        }
    }
}

void BlockRunner::load(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const MemoryAccess &access = program_.accesses[instruction.details];
    const std::uint32_t bytes = std::uint32_t{access.elementBytes} * access.count;
    WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, bytes);
    const Space space = resolveSpace(access.space, addresses, warp);
    std::byte *lanes[warpSize];
    locateLanes(warp, space, addresses, false, lanes);
    if (state_.options.allChecks) checkAccess(warp, space, addresses, &access, false, false, lanes);
    moveLanes(warp, access, lanes, mask, true);
}

void BlockRunner::store(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const MemoryAccess &access = program_.accesses[instruction.details];
    const std::uint32_t bytes = std::uint32_t{access.elementBytes} * access.count;
    WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, bytes);
    const Space space = resolveSpace(access.space, addresses, warp);
    std::byte *lanes[warpSize];
    locateLanes(warp, space, addresses, true, lanes);
    if (!state_.options.allChecks) return moveLanes(warp, access, lanes, mask, false);
    // Lane by lane, so that a lane which writes what another has just written is seen to change nothing.
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        addresses.mask = 1u << lane;
        checkAccess(warp, space, addresses, &access, true, false, lanes);
        moveLanes(warp, access, lanes, addresses.mask, false);
    }
}

void BlockRunner::countGlobal(const Buffer *buffer, const WarpAddresses &addresses, bool isWrite)
{
    SiteCounters &site = counters_.sites[pc_];
    ++site.requests;
    std::uint64_t sectors[warpSize];
    int count = 0;
    bool isSorted = true;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((addresses.mask >> lane) & 1u)) continue;
        const std::uint64_t sector = addresses.lane[lane] / 32;
        if (count > 0 && sectors[count - 1] == sector) continue;
        isSorted = isSorted && (count == 0 || sectors[count - 1] < sector);
        sectors[count++] = sector;
    }
    if (!isSorted) {
        std::sort(sectors, sectors + count);
        count = static_cast<int>(std::unique(sectors, sectors + count) - sectors);
    }
    site.sectors += static_cast<std::uint64_t>(count);
    for (int i = 0; i < count; ++i) {
        const Buffer *owner = buffer ? buffer : bufferOf(sectors[i] * 32);
        if (owner) footprint_->touch(*owner, sectors[i] - owner->base / 32, isWrite);
    }
}

/// 32 banks of 4 bytes; lanes that want the same word share it. Wide accesses go in groups of lanes that ask
/// for 128 bytes, and the fewest possible passes is one a group.
void BlockRunner::countShared(const WarpAddresses &addresses)
{
    SiteCounters &site = counters_.sites[pc_];
    const int words = static_cast<int>(std::max(addresses.bytes, 4u) / 4);
    const int lanesAGroup = std::max(1, warpSize / words);
    for (int first = 0; first < warpSize; first += lanesAGroup) {
        std::uint64_t distinct[warpSize][warpSize];
        int used[warpSize] = {};
        int passes = 0;
        for (int lane = first; lane < first + lanesAGroup; ++lane) {
            if (!((addresses.mask >> lane) & 1u)) continue;
            for (int i = 0; i < words; ++i) {
                const std::uint64_t word = addresses.lane[lane] / 4 + static_cast<std::uint64_t>(i);
                const auto bank = static_cast<std::size_t>(word % warpSize);
                if (std::find(distinct[bank], distinct[bank] + used[bank], word) ==
                    distinct[bank] + used[bank])
                    distinct[bank][used[bank]++] = word;
                passes = std::max(passes, used[bank]);
            }
        }
        site.bankPasses += static_cast<std::uint64_t>(passes);
        site.bankConflicts += static_cast<std::uint64_t>(std::max(passes - 1, 0));
    }
}

/// Local memory is interleaved by lane: a warp's words at one address are 128 consecutive bytes.
void BlockRunner::countLocal(const WarpAddresses &addresses)
{
    SiteCounters &site = counters_.sites[pc_];
    ++site.requests;
    site.sectors += static_cast<std::uint64_t>(std::popcount(addresses.mask)) * addresses.bytes / 32 + 1;
}

} // namespace kernelwright::simt
