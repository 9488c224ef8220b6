// SPDX-License-Identifier: GPL-3.0-or-later
// Owners of device memory and loaded modules.
#pragma once

#include "cuda_context.h"
#include "engine/device/device.h"

#include <map>
#include <span>
#include <string>

namespace kernelwright::cuda
{

class CudaMemory final : public DeviceMemory
{
public:
    static Result<std::unique_ptr<DeviceMemory>> allocate(std::shared_ptr<CudaContext> context,
                                                          std::int64_t bytes, const std::string &label);
    ~CudaMemory() override;

    std::uint64_t address() const override { return pointer_; }
    std::int64_t byteCount() const override { return bytes_; }

    Result<void> write(std::int64_t offset, std::span<const std::byte> bytes);
    Result<void> read(std::int64_t offset, std::span<std::byte> bytes) const;
    Result<void> fill(std::uint8_t byte);

private:
    explicit CudaMemory(std::shared_ptr<CudaContext> context)
        : context_(std::move(context))
    {}
    Result<void> checkRange(std::int64_t offset, std::size_t bytes) const;

    std::shared_ptr<CudaContext> context_;
    CUdeviceptr pointer_ = 0;
    std::int64_t bytes_ = 0;
    std::string label_;
};

class CudaModule final : public DeviceModule
{
public:
    static Result<std::unique_ptr<DeviceModule>> load(std::shared_ptr<CudaContext> context,
                                                      const CompiledProgram &program);
    ~CudaModule() override;

    /// Puts one kernel on the default stream.
    Result<void> launch(const DeviceLaunch &launch);

    Result<CUfunction> function(const std::string &kernel);
    const CudaContext &context() const { return *context_; }

private:
    explicit CudaModule(std::shared_ptr<CudaContext> context)
        : context_(std::move(context))
    {}
    Result<void> checkArguments(CUfunction function, const DeviceLaunch &launch) const;
    Result<void> allowWhatItNeeds(CUfunction function, const DeviceLaunch &launch);
    Result<void> launchWithAttributes(CUfunction function, const DeviceLaunch &launch, void **arguments);

    std::shared_ptr<CudaContext> context_;
    CUmodule module_ = nullptr;
    std::map<std::string, CUfunction> functions_;
};

} // namespace kernelwright::cuda
