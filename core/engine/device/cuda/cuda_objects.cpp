// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_objects.h"

#include <array>
#include <vector>

namespace kernelwright::cuda
{

namespace
{
/// Fails where the context is lost already: the driver would only repeat the first fault's error under
/// another name.
Result<void> requireContext(const CudaContext &context)
{
    if (context.isLost())
        return fail(ErrorCode::DeviceFailure,
                    "the GPU's context was lost in an earlier fault; the engine must start anew");
    return {};
}
} // namespace

Result<std::unique_ptr<DeviceMemory>> CudaMemory::allocate(std::shared_ptr<CudaContext> context,
                                                           std::int64_t bytes, const std::string &label)
{
    if (bytes < 0)
        return fail(ErrorCode::BadInput, label + " cannot have " + std::to_string(bytes) + " bytes");
    if (const auto usable = requireContext(*context); !usable) return forward(usable.error());
    std::unique_ptr<CudaMemory> memory(new CudaMemory(std::move(context)));
    memory->bytes_ = bytes;
    memory->label_ = label;
    const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1); // the driver refuses empty allocations
    CudaContext &owner = *memory->context_;
    if (const auto done = owner.check(owner.api().memAlloc(&memory->pointer_, size),
                                      "allocating " + std::to_string(bytes) + " bytes for " + label);
        !done)
        return forward(done.error());
    return memory;
}

CudaMemory::~CudaMemory()
{
    if (pointer_ && !context_->isLost()) context_->api().memFree(pointer_);
}

Result<void> CudaMemory::checkRange(std::int64_t offset, std::size_t bytes) const
{
    if (const auto usable = requireContext(*context_); !usable) return usable;
    if (offset < 0 || offset > bytes_ || bytes > static_cast<std::size_t>(bytes_ - offset))
        return fail(ErrorCode::Internal, "copy of " + std::to_string(bytes) + " bytes at " +
                                             std::to_string(offset) + " is outside of " + label_ + " (" +
                                             std::to_string(bytes_) + " bytes)");
    return {};
}

Result<void> CudaMemory::write(std::int64_t offset, std::span<const std::byte> bytes)
{
    if (const auto fits = checkRange(offset, bytes.size()); !fits) return fits;
    if (bytes.empty()) return {};
    const CUdeviceptr to = pointer_ + static_cast<CUdeviceptr>(offset);
    return context_->check(context_->api().copyToDevice(to, bytes.data(), bytes.size()), "writing " + label_);
}

Result<void> CudaMemory::read(std::int64_t offset, std::span<std::byte> bytes) const
{
    if (const auto fits = checkRange(offset, bytes.size()); !fits) return fits;
    if (bytes.empty()) return {};
    const CUdeviceptr from = pointer_ + static_cast<CUdeviceptr>(offset);
    return context_->check(context_->api().copyToHost(bytes.data(), from, bytes.size()), "reading " + label_);
}

Result<void> CudaMemory::fill(std::uint8_t byte)
{
    if (const auto usable = requireContext(*context_); !usable) return usable;
    if (bytes_ == 0) return {};
    return context_->check(context_->api().memset8(pointer_, byte, static_cast<std::size_t>(bytes_), nullptr),
                           "filling " + label_);
}

Result<std::unique_ptr<DeviceModule>> CudaModule::load(std::shared_ptr<CudaContext> context,
                                                       const CompiledProgram &program)
{
    if (const auto usable = requireContext(*context); !usable) return forward(usable.error());
    if (program.cubin.empty())
        return fail(ErrorCode::Internal, "this program was not compiled for a GPU: it has no cubin");
    std::unique_ptr<CudaModule> module(new CudaModule(std::move(context)));
    CudaContext &owner = *module->context_;
    if (const auto done =
            owner.check(owner.api().moduleLoad(&module->module_, program.cubin.data(), 0, nullptr, nullptr),
                        "loading the compiled program");
        !done)
        return forward(done.error());
    return module;
}

CudaModule::~CudaModule()
{
    if (module_ && !context_->isLost()) context_->api().moduleUnload(module_);
}

Result<CUfunction> CudaModule::function(const std::string &kernel)
{
    if (const auto known = functions_.find(kernel); known != functions_.end()) return known->second;
    CUfunction found = nullptr;
    if (const auto done = context_->check(context_->api().moduleGetFunction(&found, module_, kernel.c_str()),
                                          "looking for kernel " + kernel);
        !done)
        return forward(done.error());
    functions_[kernel] = found;
    return found;
}

/// The driver copies as many bytes of each argument as the kernel declares: a source that declares a
/// parameter wider than its type's name says ("#define int long long") would have it read past ours.
Result<void> CudaModule::checkArguments(CUfunction function, const DeviceLaunch &launch) const
{
#if CUDA_VERSION >= 12040
    const DriverApi &api = context_->api();
    if (!api.functionParameter) return {};
    std::size_t offset = 0, bytes = 0;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const bool exists = api.functionParameter(function, i, &offset, &bytes) == CUDA_SUCCESS;
        if (!exists || bytes != launch.arguments[i].size())
            return fail(ErrorCode::LaunchError, "launching " + launch.kernel + ": its parameter " +
                                                    std::to_string(i + 1) + " takes " +
                                                    std::to_string(exists ? bytes : 0) +
                                                    " bytes where the source's text says " +
                                                    std::to_string(launch.arguments[i].size()));
    }
    if (api.functionParameter(function, launch.arguments.size(), &offset, &bytes) == CUDA_SUCCESS)
        return fail(ErrorCode::LaunchError, "launching " + launch.kernel + ": it takes more than the " +
                                                std::to_string(launch.arguments.size()) +
                                                " parameters that the source's text shows");
#else
    static_cast<void>(function);
    static_cast<void>(launch);
#endif
    return {};
}

/// What a kernel may use only after it was allowed to: much shared memory, clusters of more than 8 blocks.
Result<void> CudaModule::allowWhatItNeeds(CUfunction function, const DeviceLaunch &launch)
{
    const DriverApi &api = context_->api();
    const std::string doing = "launching " + launch.kernel;
    constexpr std::uint32_t withoutOptIn = 48 * 1024;
    if (launch.sharedBytes > withoutOptIn)
        if (const auto done = context_->check(
                api.functionSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(launch.sharedBytes)),
                doing + " with " + std::to_string(launch.sharedBytes) + " bytes of shared memory");
            !done)
            return fail(ErrorCode::LaunchError, done.error().message);
    constexpr std::uint32_t portableCluster = 8;
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > portableCluster)
        if (const auto done = context_->check(
                api.functionSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                doing + " with a cluster of more than 8 blocks");
            !done)
            return fail(ErrorCode::LaunchError, done.error().message);
    return {};
}

/// By cuLaunchKernelEx, for clusters and cooperative grids.
Result<void> CudaModule::launchWithAttributes(CUfunction function, const DeviceLaunch &launch,
                                              void **arguments)
{
    const DriverApi &api = context_->api();
    const std::string doing = "launching " + launch.kernel;
    if (!api.launchKernelEx)
        return fail(ErrorCode::NotSupported, doing + ": the NVIDIA driver is too old for clusters and "
                                                     "cooperative grids; install a newer one");
    std::array<CUlaunchAttribute, 2> attributes{};
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0], config.gridDimY = launch.grid[1], config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0], config.blockDimY = launch.block[1],
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.sharedBytes;
    config.attrs = attributes.data();
    if (launch.cluster[0] > 0) {
        CUlaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim.x = launch.cluster[0];
        attribute.value.clusterDim.y = launch.cluster[1];
        attribute.value.clusterDim.z = launch.cluster[2];
        int clusters = 0;
        if (api.occupancyClusters && api.occupancyClusters(&clusters, function, &config) == CUDA_SUCCESS &&
            clusters == 0)
            return fail(ErrorCode::LaunchError, doing + ": no cluster of this size fits onto the GPU with " +
                                                    std::to_string(launch.sharedBytes) +
                                                    " bytes of dynamic shared memory a block");
    }
    if (launch.isCooperative) {
        CUlaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attribute.value.cooperative = 1;
    }
    const CUresult launched = api.launchKernelEx(&config, function, arguments, nullptr);
    return context_->check(launched,
                           launched == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                               ? doing + " cooperatively: the grid does not fit onto the GPU at once"
                               : doing);
}

Result<void> CudaModule::launch(const DeviceLaunch &launch)
{
    if (const auto usable = requireContext(*context_); !usable) return usable;
    const auto kernel = function(launch.kernel);
    if (!kernel) return forward(kernel.error());
    if (const auto right = checkArguments(*kernel, launch); !right) return right;
    if (const auto allowed = allowWhatItNeeds(*kernel, launch); !allowed) return allowed;
    std::vector<void *> arguments;
    for (const std::vector<std::byte> &argument : launch.arguments)
        arguments.push_back(const_cast<std::byte *>(argument.data())); // the driver reads them only
    if (launch.cluster[0] > 0 || launch.isCooperative)
        return launchWithAttributes(*kernel, launch, arguments.data());
    return context_->check(context_->api().launchKernel(*kernel, launch.grid[0], launch.grid[1],
                                                        launch.grid[2], launch.block[0], launch.block[1],
                                                        launch.block[2], launch.sharedBytes, nullptr,
                                                        arguments.data(), nullptr),
                           "launching " + launch.kernel);
}

} // namespace kernelwright::cuda
