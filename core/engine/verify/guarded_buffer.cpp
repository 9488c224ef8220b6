// SPDX-License-Identifier: GPL-3.0-or-later
#include "guarded_buffer.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::int64_t zoneBytes = 4096; // a multiple of the alignment that allocate() promises
} // namespace

Result<GuardedBuffer> GuardedBuffer::allocate(Device &device, std::int64_t bytes, const std::string &label,
                                              std::int64_t offset)
{
    GuardedBuffer buffer;
    buffer.device_ = &device;
    buffer.label_ = label;
    buffer.bytes_ = bytes;
    if (!device.info().isSimulated) buffer.guard_ = buffer.tail_ = zoneBytes;
    buffer.guard_ += offset;
    // A tensor without elements still has an address.
    const std::int64_t total = std::max<std::int64_t>(1, bytes + buffer.guard_ + buffer.tail_);
    auto memory = device.allocate(total, label);
    if (!memory) return forward(memory.error(), "allocating " + label);
    buffer.memory_ = std::move(*memory);
    if (const auto guarded = buffer.guard(0xA5); !guarded) return forward(guarded.error());
    return buffer;
}

Result<void> GuardedBuffer::guard(std::uint8_t byte)
{
    if (tail_ == 0) return {};
    pattern_ = std::byte{byte};
    const std::vector<std::byte> zone(static_cast<std::size_t>(zoneBytes), pattern_);
    if (const auto front = device_->write(*memory_, guard_ - zoneBytes, zone); !front) return front;
    return device_->write(*memory_, guard_ + bytes_, zone);
}

Result<void> GuardedBuffer::write(std::span<const std::byte> bytes)
{
    if (static_cast<std::int64_t>(bytes.size()) != bytes_)
        return fail(ErrorCode::Internal, label_ + " has " + std::to_string(bytes_) + " bytes, not " +
                                             std::to_string(bytes.size()));
    return bytes.empty() ? Result<void>() : device_->write(*memory_, guard_, bytes);
}

Result<void> GuardedBuffer::read(std::span<std::byte> bytes) const
{
    return bytes.empty() ? Result<void>() : device_->read(*memory_, guard_, bytes);
}

Result<void> GuardedBuffer::readAt(std::int64_t offset, std::span<std::byte> bytes) const
{
    return device_->read(*memory_, guard_ + offset, bytes);
}

Result<double> GuardedBuffer::elementAt(DType dtype, std::int64_t index) const
{
    HostTensor element = makeHostTensor(dtype, {1});
    const std::size_t size = dtypeSize(dtype);
    const auto read = readAt(index * static_cast<std::int64_t>(size), std::span(element.data(), size));
    if (!read) return forward(read.error());
    return elementAsDouble(element, 0);
}

Result<void> GuardedBuffer::poison(std::uint8_t byte)
{
    if (bytes_ == 0) return {};
    if (const auto filled = device_->fill(*memory_, byte, true); !filled) return filled;
    return guard(byte);
}

Result<std::optional<std::int64_t>> GuardedBuffer::damagedAt() const
{
    if (tail_ == 0) return std::optional<std::int64_t>();
    std::vector<std::byte> zone(static_cast<std::size_t>(zoneBytes));
    for (const std::int64_t start : {guard_ - zoneBytes, guard_ + bytes_}) {
        if (const auto read = device_->read(*memory_, start, zone); !read) return forward(read.error());
        const auto damaged =
            std::find_if(zone.begin(), zone.end(), [this](std::byte b) { return b != pattern_; });
        if (damaged != zone.end())
            return std::optional<std::int64_t>(start - guard_ + (damaged - zone.begin()));
    }
    return std::optional<std::int64_t>();
}

} // namespace kernelwright
