// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidate_buffers.h"

#include "engine/launch/bind_launches.h"
#include "input_generator.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

std::int64_t storageBytes(const TensorType &type)
{
    return storageElements(type) * static_cast<std::int64_t>(dtypeSize(type.dtype));
}

} // namespace

Result<CandidateBuffers> CandidateBuffers::allocate(Device &device, const Task &task, const ShapeCase &shapes,
                                                    const ResolvedPlan &plan, std::int64_t inputOffset)
{
    CandidateBuffers buffers(task, shapes);
    if (const auto allocated = buffers.allocateAll(device, plan, inputOffset); !allocated)
        return forward(allocated.error());
    if (const auto bound = buffers.bindAll(device, plan); !bound) return forward(bound.error());
    return buffers;
}

Result<void> CandidateBuffers::allocateAll(Device &device, const ResolvedPlan &plan, std::int64_t inputOffset)
{
    for (std::size_t i = 0; i < task_->inputs.size(); ++i) {
        auto buffer = GuardedBuffer::allocate(device, storageBytes(shapes_->inputs[i]),
                                              "input " + task_->inputs[i].name, inputOffset);
        if (!buffer) return forward(buffer.error());
        inputBuffers_.push_back(std::move(*buffer));
    }
    for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
        auto buffer = GuardedBuffer::allocate(device, shapes_->outputs[i].byteCount(),
                                              "output " + task_->outputs[i].name);
        if (!buffer) return forward(buffer.error());
        outputBuffers_.push_back(std::move(*buffer));
    }
    for (const auto &[name, bytes] : plan.workspaces) {
        auto buffer = GuardedBuffer::allocate(device, bytes, "workspace " + name);
        if (!buffer) return fail(ErrorCode::LaunchError, buffer.error().message);
        workspaces_.push_back(std::move(*buffer));
    }
    return {};
}

Result<void> CandidateBuffers::bindAll(Device &device, const ResolvedPlan &plan)
{
    BufferAddresses addresses;
    for (const GuardedBuffer &buffer : inputBuffers_)
        addresses.inputs.push_back(buffer.address());
    for (const GuardedBuffer &buffer : outputBuffers_)
        addresses.outputs.push_back(buffer.address());
    for (const GuardedBuffer &buffer : workspaces_)
        addresses.workspaces.push_back(buffer.address());
    auto launches = bindLaunches(device, plan, addresses);
    if (!launches) return forward(launches.error());
    launches_ = std::move(*launches);
    return {};
}

Result<void> CandidateBuffers::poison(std::uint8_t byte)
{
    for (GuardedBuffer &buffer : inputBuffers_)
        if (const auto guarded = buffer.guard(byte); !guarded) return guarded;
    for (auto *buffers : {&outputBuffers_, &workspaces_})
        for (GuardedBuffer &buffer : *buffers)
            if (const auto poisoned = buffer.poison(byte); !poisoned) return poisoned;
    return {};
}

Result<std::vector<HostTensor>> CandidateBuffers::readOutputs() const
{
    std::vector<HostTensor> outputs;
    for (std::size_t i = 0; i < outputBuffers_.size(); ++i) {
        HostTensor tensor = makeHostTensor(shapes_->outputs[i].dtype, shapes_->outputs[i].sizes);
        const std::span<std::byte> bytes(tensor.data(),
                                         static_cast<std::size_t>(outputBuffers_[i].byteCount()));
        if (const auto read = outputBuffers_[i].read(bytes); !read) return forward(read.error());
        outputs.push_back(std::move(tensor));
    }
    return outputs;
}

Result<std::optional<std::string>> CandidateBuffers::damage() const
{
    for (const auto *buffers : {&inputBuffers_, &outputBuffers_, &workspaces_})
        for (const GuardedBuffer &buffer : *buffers) {
            const auto damaged = buffer.damagedAt();
            if (!damaged) return forward(damaged.error());
            if (!*damaged) continue;
            const std::int64_t at = **damaged;
            return std::optional<std::string>("wrote outside " + buffer.label() + ": byte " +
                                              std::to_string(at < 0 ? -at : at - buffer.byteCount()) +
                                              (at < 0 ? " in front of its start" : " behind its end") +
                                              " was changed");
        }
    return std::optional<std::string>();
}

} // namespace kernelwright
