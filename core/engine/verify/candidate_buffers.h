// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "guarded_buffer.h"
#include "kernel/launch_plan.h"

#include <optional>
#include <vector>

namespace kernelwright
{

/// The buffers a candidate works on in one shape case, and its launches bound to them.
class CandidateBuffers
{
public:
    /// `task`, `shapes` and `plan` must outlive the object. A workspace that does not fit is a LaunchError, a
    /// tensor that does not fit stays a DeviceFailure.
    static Result<CandidateBuffers> allocate(Device &device, const Task &task, const ShapeCase &shapes,
                                             const ResolvedPlan &plan, std::int64_t inputOffset = 0);

    const ShapeCase &shapes() const { return *shapes_; }
    GuardedBuffer &input(std::size_t index) { return inputBuffers_[index]; }
    const GuardedBuffer &input(std::size_t index) const { return inputBuffers_[index]; }
    const GuardedBuffer &output(std::size_t index) const { return outputBuffers_[index]; }

    /// Fills outputs and workspaces with this byte, and the guard zones of everything.
    Result<void> poison(std::uint8_t byte);

    const std::vector<DeviceLaunch> &launches() const { return launches_; }
    Result<std::vector<HostTensor>> readOutputs() const;

    /// A guard zone that a run has damaged. One sentence.
    Result<std::optional<std::string>> damage() const;

private:
    CandidateBuffers(const Task &task, const ShapeCase &shapes)
        : task_(&task)
        , shapes_(&shapes)
    {}
    Result<void> allocateAll(Device &device, const ResolvedPlan &plan, std::int64_t inputOffset);
    Result<void> bindAll(Device &device, const ResolvedPlan &plan);

    const Task *task_;
    const ShapeCase *shapes_;
    std::vector<GuardedBuffer> inputBuffers_;
    std::vector<GuardedBuffer> outputBuffers_;
    std::vector<GuardedBuffer> workspaces_;
    std::vector<DeviceLaunch> launches_;
};

} // namespace kernelwright
