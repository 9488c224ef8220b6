// SPDX-License-Identifier: GPL-3.0-or-later
// The loops over 32 addresses or memory elements that a memory instruction needs, in the build for the best
// instruction set of this machine (see code/lane_functions.h for how that is chosen).
#pragma once

#include "access_pattern.h"

namespace kernelwright::simt
{

struct AddressLanes
{
    /// addresses = registers + offset.
    void (*add64)(const std::uint64_t *registers, std::uint64_t offset, std::uint64_t *addresses);
    void (*add32)(const std::uint32_t *registers, std::uint32_t offset, std::uint64_t *addresses);
    /// Whether the active lanes lie to each other as the pattern says. The mask is the pattern's.
    bool (*matches)(const std::uint64_t *addresses, std::uint64_t first, const AccessPattern &pattern);
    /// One element of every active lane from memory at `first` + delta into 32 registers of 4 or 8 bytes,
    /// widened; and back. Inactive lanes keep their values.
    void (*load)(const std::byte *first, const AccessPattern &pattern, int elementBytes, bool isSigned,
                 void *registers, bool is64Bit, std::uint32_t laneBytes);
    void (*store)(std::byte *first, const AccessPattern &pattern, int elementBytes, const void *registers,
                  bool is64Bit, std::uint32_t laneBytes);
};

const AddressLanes &addressLanes();

} // namespace kernelwright::simt
