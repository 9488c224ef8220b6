// SPDX-License-Identifier: GPL-3.0-or-later
// Any text given as PTX ends in a result or an error: it is parsed, decoded and, if it has a kernel, run on
// one block with and without checks.
#include "engine/device/simt/simt_device.h"
#include "ptx/parser.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace kernelwright;

namespace
{

constexpr std::uint32_t threads = 64;

std::unique_ptr<Device> openDevice()
{
    auto device = openSimtDevice("h200");
    if (!device) {
        std::fprintf(stderr, "%s\n", device.error().message.c_str());
        std::abort();
    }
    return std::move(*device);
}

/// Every parameter gets the address of a buffer, cut to its size.
std::vector<std::vector<std::byte>> argumentsFor(const simt::Function &kernel, std::uint64_t address)
{
    std::vector<std::vector<std::byte>> arguments;
    for (const simt::Variable &parameter : kernel.parameters) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(parameter.byteCount));
        std::memcpy(bytes.data(), &address, std::min(bytes.size(), sizeof address));
        arguments.push_back(std::move(bytes));
    }
    return arguments;
}

/// Errors have to say something.
void requireMessage(const Error &error)
{
    if (error.message.empty()) std::abort();
}

void runKernel(Device &device, DeviceModule &module, const simt::Function &kernel, std::uint64_t address)
{
    DeviceLaunch launch;
    launch.kernel = kernel.name;
    launch.grid = {2, 1, 1};
    launch.block = {threads, 1, 1};
    for (std::size_t i = 0; i < 3; ++i)
        if (kernel.requiredThreads[i] != 0)
            launch.block[i] = static_cast<std::uint32_t>(kernel.requiredThreads[i]);
    launch.sharedBytes = 1024;
    launch.arguments = argumentsFor(kernel, address);
    for (const bool allChecks : {false, true}) {
        RunOptions options;
        options.allChecks = allChecks;
        options.timeout = std::chrono::milliseconds(200);
        if (const auto done = device.run(module, std::span(&launch, 1), options); !done)
            requireMessage(done.error());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    CompiledProgram program;
    program.ptx.assign(reinterpret_cast<const char *>(data), size);
    const auto parsed = simt::parsePtx(program.ptx);
    if (!parsed) {
        requireMessage(parsed.error());
        return 0;
    }
    const auto device = openDevice();
    const auto module = device->load(program);
    if (!module) {
        requireMessage(module.error());
        return 0;
    }
    const auto memory = device->allocate(4096, "buffer");
    if (!memory || !device->fill(**memory, 0x3f, false)) std::abort();
    for (const simt::Function &function : parsed->functions)
        if (function.isEntry && function.isDefined)
            runKernel(*device, **module, function, (*memory)->address());
    (void)takePrintedText(*device);
    return 0;
}
