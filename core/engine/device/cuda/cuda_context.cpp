// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_context.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>

namespace kernelwright::cuda
{

Result<std::shared_ptr<CudaContext>> CudaContext::open(std::shared_ptr<const DriverApi> api, int index)
{
    std::shared_ptr<CudaContext> context(new CudaContext(std::move(api), index));
    const DriverApi &driver = *context->api_;
    const std::string doing = "opening cuda:" + std::to_string(index);
    if (const auto found = driver.check(driver.deviceGet(&context->device_, index), doing); !found)
        return fail(ErrorCode::NotSupported, found.error().message);
    if (const auto retained =
            driver.check(driver.primaryContextRetain(&context->context_, context->device_), doing);
        !retained)
        return forward(retained.error());
    if (const auto current = driver.check(driver.contextSetCurrent(context->context_), doing); !current)
        return forward(current.error());
    if (const auto made = driver.check(driver.eventCreate(&context->done_, CU_EVENT_DISABLE_TIMING), doing);
        !made)
        return forward(made.error());
    return context;
}

CudaContext::~CudaContext()
{
    if (lost_ || !context_) return;
    if (done_) api_->eventDestroy(done_);
    api_->primaryContextRelease(device_);
}

int CudaContext::attribute(CUdevice_attribute attribute) const
{
    int value = 0;
    return api_->deviceGetAttribute(&value, attribute, device_) == CUDA_SUCCESS ? value : 0;
}

std::array<unsigned char, 16> uuidOf(const DriverApi &api, CUdevice device)
{
    CUuuid uuid{};
    std::array<unsigned char, 16> bytes{};
    if (api.deviceGetUuid(&uuid, device) == CUDA_SUCCESS)
        std::transform(std::begin(uuid.bytes), std::end(uuid.bytes), bytes.begin(),
                       [](char byte) { return static_cast<unsigned char>(byte); });
    return bytes;
}

Result<void> CudaContext::check(CUresult result, const std::string &doing)
{
    Result<void> checked = api_->check(result, doing);
    // Lack of memory leaves the context as it was; every other device failure is final for it.
    if (!checked && checked.error().code == ErrorCode::DeviceFailure && result != CUDA_ERROR_OUT_OF_MEMORY)
        lost_ = true;
    return checked;
}

Result<void> CudaContext::wait(std::chrono::milliseconds limit, const std::string &doing)
{
    if (const auto recorded = check(api_->eventRecord(done_, nullptr), doing); !recorded) return recorded;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    // The driver has no wait with a time limit, so the event is asked again and again: at first without
    // sleeping, since most kernels take microseconds.
    for (int asked = 0;; ++asked) {
        const CUresult state = api_->eventQuery(done_);
        if (state != CUDA_ERROR_NOT_READY) return check(state, doing);
        if (std::chrono::steady_clock::now() > deadline) {
            lost_ = true;
            return fail(ErrorCode::Timeout, doing + ": not done after " + std::to_string(limit.count()) +
                                                " ms; the kernel may never end");
        }
        if (asked > 2000) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

namespace
{
/// Floating-point lanes of one multiprocessor per cycle, by compute capability; from the CUDA programming
/// guide's table of arithmetic throughput. A fused multiply-add counts as two operations.
struct LaneCounts
{
    double float32, float64, half, matrixHalf; ///< matrixHalf: dense float16 tensor operations per cycle
};

LaneCounts lanesOf(int major, int minor)
{
    if (major >= 10) return {128, major == 12 ? 2.0 : 64.0, 256, major == 12 ? 1024.0 : 8192.0};
    if (major == 9) return {128, 64, 256, 4096};
    if (major == 8 && minor == 0) return {64, 32, 256, 2048};
    if (major == 8) return {128, 2, 128, 1024};
    if (major == 7 && minor == 5) return {64, 2, 128, 1024};
    return {64, 32, 128, 1024};
}

void addArithmeticCeilings(DeviceInfo &info, int major, int minor, int multiprocessors, int clockKHz)
{
    const LaneCounts lanes = lanesOf(major, minor);
    const double cycles = multiprocessors * (clockKHz * 1e3);
    info.ceilings.flopsPerSecond = {{"float32", 2 * lanes.float32 * cycles},
                                    {"float64", 2 * lanes.float64 * cycles},
                                    {"float16", 2 * lanes.half * cycles},
                                    {"bfloat16", 2 * lanes.half * cycles}};
    info.ceilings.matrixFlopsPerSecond = {{"float16", lanes.matrixHalf * cycles},
                                          {"bfloat16", lanes.matrixHalf * cycles}};
}
} // namespace

Result<DeviceInfo> describeGpu(const DriverApi &api, int index)
{
    CUdevice device = 0;
    if (const auto found =
            api.check(api.deviceGet(&device, index), "asking for GPU " + std::to_string(index));
        !found)
        return forward(found.error());
    const auto attribute = [&](CUdevice_attribute which) {
        int value = 0;
        return api.deviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
    };
    DeviceInfo info;
    info.id = "cuda:" + std::to_string(index);
    std::array<char, 256> name{};
    api.deviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
    info.name = name.data();
    const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info.computeCapability = std::to_string(major) + "." + std::to_string(minor);
    info.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
    std::size_t memory = 0;
    api.deviceTotalMem(&memory, device);
    info.memoryBytes = static_cast<std::int64_t>(memory);
    info.limits.maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info.limits.maxSharedBytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info.limits.smCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info.limits.warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    info.limits.maxWorkspaceBytes = info.memoryBytes / 4;
    // 8 blocks run everywhere; 16, after opting in, on the data centre GPUs (CUDA programming guide, "Thread Block
    // Clusters"). Whether one fits is the kernel's matter and the driver's to say.
    if (attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)) info.limits.maxClusterBlocks = major <= 10 ? 16 : 8;
    info.limits.hasCooperativeLaunch = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
#if CUDA_VERSION >= 12000
    info.limits.hasTensorMaps = attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0;
#endif
    const int clockKHz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    addArithmeticCeilings(info, major, minor, static_cast<int>(info.limits.smCount), clockKHz);
    const double busBits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    const double memoryKHz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    info.ceilings.dramBytesPerSecond = 2 * memoryKHz * 1e3 * busBits / 8; // two transfers per clock
    info.ceilings.launchOverheadUs = 1;
    info.ceilings.source = "the driver's clocks and bus width";
    std::ifstream version("/sys/module/nvidia/version");
    if (!(version >> info.driver)) {
        int number = 0;
        api.driverGetVersion(&number);
        info.driver = "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    }
    describeCounterPermission(info);
    return info;
}

void describeCounterPermission(DeviceInfo &info)
{
    info.countersAvailable = true;
    std::ifstream settings("/proc/driver/nvidia/params");
    for (std::string line; std::getline(settings, line);)
        if (line.starts_with("RmProfilingAdminOnly: 1") && geteuid() != 0) {
            info.countersAvailable = false;
            info.countersReason =
                "the driver reserves hardware counters for root (RmProfilingAdminOnly is 1): an "
                "administrator allows them with the module option "
                "NVreg_RestrictProfilingToAdminUsers=0, or start the engine as root; times are "
                "measured all the same";
        }
}

} // namespace kernelwright::cuda
