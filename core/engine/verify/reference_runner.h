// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "comparison.h"
#include "engine/reference/executor.h"
#include "kernel/device_info.h"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace kernelwright
{

/// Computes what a task's outputs should be: the subgraph in float64, and as PyTorch computes it. Keeps the
/// executors of the latest cases. Belongs to one thread.
class ReferenceRunner
{
public:
    /// `weights` must outlive the object. `torchDevice` runs eager; float64 runs there too.
    ReferenceRunner(const WeightMap &weights, std::string torchDevice);

    /// One expectation per output of the case. The inputs stand in the order of the subgraph's.
    Result<std::vector<ExpectedOutput>> expect(const ShapeCase &shapes, const std::vector<HostTensor> &inputs,
                                               const CancelToken &cancel);

    /// Eager alone, in its own types.
    Result<std::vector<HostTensor>> eager(const ShapeCase &shapes, const std::vector<HostTensor> &inputs,
                                          const CancelToken &cancel);

    /// Eager on these inputs as work to be timed; valid until expectations of other cases are asked for.
    Result<std::function<Result<void>()>> timedEager(const ShapeCase &shapes,
                                                     const std::vector<HostTensor> &inputs);

    /// Both expectations of every output, and eager to be timed, on inputs that lie on torchDevice().
    struct ResidentExpectations
    {
        std::vector<ResidentTensor> exact;
        std::vector<ResidentTensor> eager;
    };
    Result<ResidentExpectations> expectResident(const ShapeCase &shapes,
                                                const std::vector<ResidentTensor> &inputs,
                                                const CancelToken &cancel);
    Result<std::function<Result<void>()>> timedEager(const ShapeCase &shapes,
                                                     const std::vector<ResidentTensor> &inputs);

    const std::string &torchDevice() const { return torchDevice_; }

private:
    struct Executors
    {
        std::string shapes; ///< which case they are of: its name and input types
        std::unique_ptr<Executor> exact;
        std::unique_ptr<Executor> eager;
    };
    Executors &executorsOf(const ShapeCase &shapes);
    Result<void> makeExecutor(std::unique_ptr<Executor> &executor, const ShapeCase &shapes, bool float64);
    Result<std::vector<HostTensor>> run(std::unique_ptr<Executor> &executor, const ShapeCase &shapes,
                                        bool float64, const std::vector<HostTensor> &inputs,
                                        const CancelToken &cancel);

    const WeightMap &weights_;
    std::string torchDevice_;
    std::list<Executors> recent_;
};

/// Where eager and the reference run: on the device itself where LibTorch can use it, else on the "cpu".
std::string torchDeviceFor(const DeviceInfo &info);

} // namespace kernelwright
