// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driver_api.h"
#include "kernel/device_info.h"

#include <array>
#include <chrono>
#include <memory>

namespace kernelwright::cuda
{

/// A GPU's primary context, retained. Once a kernel has faulted or hung the context is lost: every further
/// call fails at once, and destructors leave the driver alone, since freeing waits for the hung kernel.
class CudaContext
{
public:
    static Result<std::shared_ptr<CudaContext>> open(std::shared_ptr<const DriverApi> api, int index);
    ~CudaContext();
    CudaContext(const CudaContext &) = delete;
    CudaContext &operator=(const CudaContext &) = delete;

    const DriverApi &api() const { return *api_; }
    CUcontext handle() const { return context_; }
    CUdevice device() const { return device_; }
    int index() const { return index_; }
    int attribute(CUdevice_attribute attribute) const;

    bool isLost() const { return lost_; }
    void setLost() { lost_ = true; }

    /// Like DriverApi::check, and a fault of the context is remembered.
    Result<void> check(CUresult result, const std::string &doing);

    /// Waits until everything enqueued on the default stream is done; Timeout, and the context is lost, when
    /// it takes longer than the limit.
    Result<void> wait(std::chrono::milliseconds limit, const std::string &doing);

private:
    CudaContext(std::shared_ptr<const DriverApi> api, int index)
        : api_(std::move(api))
        , index_(index)
    {}

    std::shared_ptr<const DriverApi> api_;
    int index_ = 0;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUevent done_ = nullptr;
    bool lost_ = false;
};

/// All 0 where the driver does not tell it.
std::array<unsigned char, 16> uuidOf(const DriverApi &api, CUdevice device);

/// What the driver says of a GPU, without making a context on it. Ceilings are not filled in.
Result<DeviceInfo> describeGpu(const DriverApi &api, int index);

/// Whether counters may be read here; the reason and the remedy where they may not. Looks at the driver's
/// settings only.
void describeCounterPermission(DeviceInfo &info);

} // namespace kernelwright::cuda
