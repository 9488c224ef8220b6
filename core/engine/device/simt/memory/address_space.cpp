// SPDX-License-Identifier: GPL-3.0-or-later
#include "address_space.h"

#include "base/text.h"
#include "race_shadow.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <unistd.h>

namespace kernelwright::simt
{

namespace
{

/// Distance between buffers: stray addresses of wrong indices seldom jump over it.
constexpr std::uint64_t guardBytes = 1 << 20;
constexpr std::size_t rememberedFreed = 256;

std::int64_t hostMemoryBytes()
{
    const long pages = sysconf(_SC_PHYS_PAGES), pageBytes = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && pageBytes > 0 ? std::int64_t{pages} * pageBytes : std::int64_t{1} << 32;
}

} // namespace

InitialisedBytes::InitialisedBytes(std::int64_t byteCount)
    : byteCount_(byteCount)
    , bits_(static_cast<std::size_t>((byteCount + 63) / 64), 0)
{}

void InitialisedBytes::setAll(bool isInitialised)
{
    std::fill(bits_.begin(), bits_.end(), isInitialised ? ~std::uint64_t{0} : 0);
}

void InitialisedBytes::set(std::int64_t first, std::int64_t count, bool isInitialised)
{
    if (first == 0 && count == byteCount_) return setAll(isInitialised);
    while (count > 0) {
        const int bit = static_cast<int>(first & 63);
        const int length = static_cast<int>(std::min<std::int64_t>(64 - bit, count));
        const std::uint64_t ones =
            length == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << length) - 1) << bit;
        std::uint64_t &word = bits_[static_cast<std::size_t>(first >> 6)];
        word = isInitialised ? word | ones : word & ~ones;
        first += length;
        count -= length;
    }
}

std::int64_t InitialisedBytes::firstUninitialised(std::int64_t first, std::int64_t count) const
{
    for (std::int64_t byte = first; byte < first + count; ++byte)
        if (!((bits_[static_cast<std::size_t>(byte >> 6)] >> (byte & 63)) & 1)) return byte;
    return -1;
}

Buffer::Buffer(std::uint64_t address, std::int64_t size, std::string name, std::uint32_t number)
    : base(address)
    , byteCount(size)
    , label(std::move(name))
    , index(number)
    , initialised(size)
{}

Buffer::~Buffer() = default;

Result<Buffer *> AddressSpace::allocate(std::int64_t byteCount, const std::string &label)
{
    if (byteCount < 0)
        return fail(ErrorCode::BadInput,
                    "cannot allocate " + std::to_string(byteCount) + " bytes for '" + label + "'");
    const std::int64_t limit = std::min(capacity_, hostMemoryBytes());
    if (byteCount > limit - used_)
        return fail(ErrorCode::DeviceFailure, "not enough memory for '" + label + "': it needs " +
                                                  formatBytes(static_cast<double>(byteCount)) + ", " +
                                                  formatBytes(static_cast<double>(limit - used_)) +
                                                  " are free");
    try {
        auto buffer = std::make_unique<Buffer>(nextAddress_, byteCount, label, nextIndex_);
        buffer->bytes = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(byteCount) + 1);
        // Fresh memory reads as NaN and as -1, so that a result made of it shows.
        std::memset(buffer->bytes.get(), 0xff, static_cast<std::size_t>(byteCount) + 1);
        live_.push_back(std::move(buffer));
    } catch (const std::bad_alloc &) {
        return fail(ErrorCode::DeviceFailure, "the host has no memory left for '" + label + "' (" +
                                                  formatBytes(static_cast<double>(byteCount)) + ")");
    }
    ++nextIndex_;
    used_ += byteCount;
    const auto size = static_cast<std::uint64_t>(byteCount);
    nextAddress_ += (size + guardBytes + 0xffff) / 0x10000 * 0x10000;
    return live_.back().get();
}

void AddressSpace::release(Buffer *buffer)
{
    const auto found =
        std::find_if(live_.begin(), live_.end(), [&](const auto &entry) { return entry.get() == buffer; });
    if (found == live_.end()) return;
    if (freed_.size() >= rememberedFreed) freed_.erase(freed_.begin());
    freed_.push_back({buffer->base, buffer->byteCount, buffer->label});
    used_ -= buffer->byteCount;
    live_.erase(found);
}

Buffer *AddressSpace::find(std::uint64_t address) const
{
    auto after =
        std::upper_bound(live_.begin(), live_.end(), address,
                         [](std::uint64_t value, const auto &buffer) { return value < buffer->base; });
    if (after == live_.begin()) return nullptr;
    Buffer *buffer = std::prev(after)->get();
    return address - buffer->base < static_cast<std::uint64_t>(buffer->byteCount) ? buffer : nullptr;
}

std::string AddressSpace::describe(std::uint64_t address) const
{
    if (address < 0x10000) return "a null pointer (plus " + std::to_string(address) + ")";
    for (const Freed &freed : freed_)
        if (address - freed.base < static_cast<std::uint64_t>(freed.byteCount))
            return "byte " + std::to_string(address - freed.base) + " of '" + freed.label +
                   "', which has been freed";
    const Buffer *nearest = nullptr;
    std::uint64_t distance = guardBytes;
    bool isBefore = false;
    for (const auto &buffer : live_) {
        const std::uint64_t end = buffer->base + static_cast<std::uint64_t>(buffer->byteCount);
        const bool before = address < buffer->base;
        const std::uint64_t away = before ? buffer->base - address : address - end;
        if (away >= distance) continue;
        nearest = buffer.get();
        distance = away;
        isBefore = before;
    }
    if (!nearest) return "memory that belongs to no buffer";
    const std::string size = " (" + std::to_string(nearest->byteCount) + " bytes)";
    return std::to_string(distance) + " bytes " + (isBefore ? "before the start" : "past the end") + " of '" +
           nearest->label + "'" + size;
}

} // namespace kernelwright::simt
