// SPDX-License-Identifier: GPL-3.0-or-later
#include "bind_launches.h"

#include <algorithm>
#include <cstring>

namespace kernelwright
{

namespace
{
using Kind = BoundParameter::Kind;
using Bytes = std::vector<std::byte>;

Bytes pointerBytes(std::uint64_t address)
{
    Bytes bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    return bytes;
}

std::uint64_t addressOf(const BufferAddresses &addresses, Kind kind, std::size_t index)
{
    return (kind == Kind::Input    ? addresses.inputs
            : kind == Kind::Output ? addresses.outputs
                                   : addresses.workspaces)
        .at(index);
}

Bytes argumentOf(const BoundParameter &parameter, const BufferAddresses &addresses,
                 const std::vector<Bytes> &tensorMaps)
{
    if (parameter.kind == Kind::Scalar) return parameter.bytes;
    if (parameter.kind == Kind::TensorMap) return tensorMaps.at(parameter.index);
    return pointerBytes(addressOf(addresses, parameter.kind, parameter.index));
}
} // namespace

Result<std::vector<DeviceLaunch>> bindLaunches(Device &device, const ResolvedPlan &plan,
                                               const BufferAddresses &addresses)
{
    std::vector<Bytes> tensorMaps;
    for (const ResolvedTensorMap &map : plan.tensorMaps) {
        auto encoded = device.encodeTensorMap(map.layout, addressOf(addresses, map.kind, map.index));
        if (!encoded) return forward(encoded.error());
        tensorMaps.push_back(std::move(*encoded));
    }
    std::vector<DeviceLaunch> launches;
    for (const ResolvedKernel &kernel : plan.kernels) {
        DeviceLaunch launch;
        launch.kernel = kernel.name;
        std::copy(std::begin(kernel.grid), std::end(kernel.grid), launch.grid.begin());
        std::copy(std::begin(kernel.block), std::end(kernel.block), launch.block.begin());
        std::copy(std::begin(kernel.cluster), std::end(kernel.cluster), launch.cluster.begin());
        launch.sharedBytes = kernel.sharedBytes;
        launch.isCooperative = kernel.isCooperative;
        for (const BoundParameter &parameter : kernel.parameters)
            launch.arguments.push_back(argumentOf(parameter, addresses, tensorMaps));
        launches.push_back(std::move(launch));
    }
    return launches;
}

} // namespace kernelwright
