// SPDX-License-Identifier: GPL-3.0-or-later
// One libFuzzer program: KERNELWRIGHT_FUZZ_TARGET is the name of what it drives.
#include "fuzz_targets.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    kernelwright::runFuzzTarget(KERNELWRIGHT_FUZZ_TARGET, {reinterpret_cast<const char *>(data), size});
    return 0;
}
