// SPDX-License-Identifier: GPL-3.0-or-later
// A simulator with buffers of plain vectors, for tests.
#pragma once

#include "engine/device/simt/simt_device.h"

#include <QTest>

#include <cstring>
#include <string>
#include <vector>

namespace kernelwright
{

template <class T>
std::vector<std::byte> argument(T value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// Opens the simulator; the GPU descriptions are those of the source tree.
inline std::unique_ptr<Device> openSimulator(const std::string &gpu = "h200")
{
    const QByteArray source = qgetenv("KERNELWRIGHT_SOURCE");
    if (!source.isEmpty()) qputenv("KERNELWRIGHT_RESOURCES", source + "/resources");
    auto device = openSimtDevice(gpu);
    if (!device) qFatal("%s", device.error().message.c_str());
    return std::move(*device);
}

template <class T>
std::unique_ptr<DeviceMemory> upload(Device &device, const std::vector<T> &values, const std::string &label)
{
    auto memory = device.allocate(static_cast<std::int64_t>(values.size() * sizeof(T)), label);
    if (!memory) qFatal("%s", memory.error().message.c_str());
    if (auto done = device.write(**memory, 0, std::as_bytes(std::span(values))); !done)
        qFatal("%s", done.error().message.c_str());
    return std::move(*memory);
}

template <class T>
std::vector<T> download(Device &device, const DeviceMemory &memory)
{
    std::vector<T> values(static_cast<std::size_t>(memory.byteCount()) / sizeof(T));
    if (auto done = device.read(memory, 0, std::as_writable_bytes(std::span(values))); !done)
        qFatal("%s", done.error().message.c_str());
    return values;
}

inline std::unique_ptr<DeviceModule> loadPtx(Device &device, const std::string &ptx, int registers = 32)
{
    CompiledProgram program;
    program.ptx = ptx;
    program.report.registers = registers;
    auto module = device.load(program);
    if (!module) qFatal("%s", module.error().message.c_str());
    return std::move(*module);
}

inline DeviceLaunch launchOf(const std::string &kernel, std::uint32_t grid, std::uint32_t block,
                             std::vector<std::vector<std::byte>> arguments, std::uint32_t sharedBytes = 0)
{
    return {kernel, {grid, 1, 1}, {block, 1, 1}, sharedBytes, std::move(arguments)};
}

inline Result<void> runOne(Device &device, DeviceModule &module, const DeviceLaunch &launch,
                           bool allChecks = true)
{
    RunOptions options;
    options.allChecks = allChecks;
    options.timeout = std::chrono::minutes(2);
    return device.run(module, std::span(&launch, 1), options);
}

} // namespace kernelwright
