// SPDX-License-Identifier: GPL-3.0-or-later
// The simulated GPU's global memory: buffers in a 64-bit address space of their own. Addresses are never used
// twice and buffers lie apart, so that every stray address is known for what it is.
#pragma once

#include "base/result.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kernelwright::simt
{

/// Which bytes of a buffer hold a value that somebody wrote.
class InitialisedBytes
{
public:
    explicit InitialisedBytes(std::int64_t byteCount);
    void set(std::int64_t first, std::int64_t count, bool isInitialised);
    void setAll(bool isInitialised);
    /// The first uninitialised byte within [first, first + count), -1 when there is none.
    std::int64_t firstUninitialised(std::int64_t first, std::int64_t count) const;

private:
    std::int64_t byteCount_;
    std::vector<std::uint64_t> bits_;
};

class RaceShadow;

struct Buffer
{
    Buffer(std::uint64_t address, std::int64_t bytes, std::string name, std::uint32_t number);
    ~Buffer();

    std::uint64_t base;
    std::int64_t byteCount;
    std::string label;
    std::uint32_t index; ///< dense, for tables by buffer
    bool isReadOnly = false;
    bool isFreed = false;
    std::unique_ptr<std::byte[]>
        bytes; ///< 256-byte aligned start is not needed on the host: accesses use memcpy
    InitialisedBytes initialised;
    /// Some launch without checks stored into it: nothing is known of its bytes any more, all count as
    /// initialised.
    std::atomic<bool> wasStoredUnchecked{false};
    std::unique_ptr<RaceShadow> races; ///< only while a checked launch runs
};

class AddressSpace
{
public:
    explicit AddressSpace(std::int64_t capacityBytes)
        : capacity_(capacityBytes)
    {}

    /// The buffer lives until release(). DeviceFailure when the modelled GPU's or the host's memory is used
    /// up.
    Result<Buffer *> allocate(std::int64_t byteCount, const std::string &label);
    void release(Buffer *buffer);

    /// The live buffer that contains the address, else nullptr.
    Buffer *find(std::uint64_t address) const;
    /// "24 bytes past the end of 'output y' (4096 bytes)": where an address lies that is in no live buffer.
    std::string describe(std::uint64_t address) const;

    std::uint32_t bufferCount() const { return nextIndex_; }
    std::span<const std::unique_ptr<Buffer>> buffers() const { return live_; }

private:
    struct Freed
    {
        std::uint64_t base = 0;
        std::int64_t byteCount = 0;
        std::string label;
    };
    std::vector<std::unique_ptr<Buffer>> live_; ///< by address
    std::vector<Freed> freed_;                  ///< the latest ones, for messages
    std::int64_t capacity_, used_ = 0;
    std::uint64_t nextAddress_ = 0x7f00'0000'0000ull;
    std::uint32_t nextIndex_ = 0;
};

} // namespace kernelwright::simt
