// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "graph/tensor_type.h"

#include <optional>
#include <vector>

namespace kernelwright
{

/// Device memory for one tensor or workspace. On a GPU zones of a known pattern lie on both sides of it, so
/// that writing past its ends shows; the simulator watches the ends itself and gets the bare size.
class GuardedBuffer
{
public:
    /// `offset`: bytes by which the buffer lies behind an address that is aligned to 256.
    static Result<GuardedBuffer> allocate(Device &device, std::int64_t bytes, const std::string &label,
                                          std::int64_t offset = 0);

    std::uint64_t address() const { return memory_->address() + static_cast<std::uint64_t>(guard_); }
    std::int64_t byteCount() const { return bytes_; }
    const std::string &label() const { return label_; }

    Result<void> write(std::span<const std::byte> bytes);
    Result<void> read(std::span<std::byte> bytes) const;
    Result<void> readAt(std::int64_t offset, std::span<std::byte> bytes) const; ///< some of them

    Result<double> elementAt(DType dtype, std::int64_t index) const; ///< of a packed tensor

    /// Fills the buffer with this byte, as memory that nothing has been written to, and its guard zones too.
    Result<void> poison(std::uint8_t byte);

    /// Fills the guard zones alone. The byte should change from run to run: what is read there, though it may
    /// not be, is then NaN in one run and a number in another, and shows in the result.
    Result<void> guard(std::uint8_t byte);

    /// The first damaged byte of the guard zones, relative to the buffer's start (negative: in front of it).
    Result<std::optional<std::int64_t>> damagedAt() const;

private:
    GuardedBuffer() = default;

    Device *device_ = nullptr; ///< outlives every buffer of an evaluation
    std::unique_ptr<DeviceMemory> memory_;
    std::string label_;
    std::int64_t bytes_ = 0;
    std::int64_t guard_ = 0;  ///< bytes of the zone in front; the offset on the simulator
    std::int64_t tail_ = 0;   ///< bytes of the zone behind
    std::byte pattern_{0xA5}; ///< of the zones
};

} // namespace kernelwright
