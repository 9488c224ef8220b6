// SPDX-License-Identifier: GPL-3.0-or-later
#include "ceilings.h"

#include "activity_recorder.h"
#include "base/disk_cache.h"
#include "nvml_api.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace kernelwright::cuda
{

namespace
{
constexpr int copies = 10;
constexpr const char *cacheKind = "ceilings";

/// The driver compiles them for whatever GPU there is.
constexpr const char *benchKernels =
    R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry empty()
{
    ret;
}
)"
    // Each thread reads 16 bytes at a time, four of them before it uses any, a whole
    // grid apart. What it read is only stored where it is what no buffer holds.
    R"(
.visible .entry read(.param .u64 from, .param .u64 quads, .param .u64 to)
{
    .reg .pred %p<3>;
    .reg .b32 %r<24>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [quads];
    ld.param.u64 %rd3, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r1, %r2, %r3;
    mul.lo.u32 %r6, %r4, %r2;
    cvt.u64.u32 %rd4, %r5;
    cvt.u64.u32 %rd5, %r6;
    shl.b64 %rd6, %rd5, 2;
    shl.b64 %rd7, %rd5, 4;
    shl.b64 %rd8, %rd4, 4;
    add.u64 %rd9, %rd1, %rd8;
    mul.lo.u64 %rd10, %rd5, 3;
    add.u64 %rd10, %rd10, %rd4;
    mov.u32 %r7, 0;
    setp.ge.u64 %p1, %rd10, %rd2;
    @%p1 bra done;
loop:
    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd9];
    add.u64 %rd11, %rd9, %rd7;
    ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd11];
    add.u64 %rd11, %rd11, %rd7;
    ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd11];
    add.u64 %rd11, %rd11, %rd7;
    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd11];
    add.u64 %rd9, %rd11, %rd7;
    or.b32 %r8, %r8, %r9;
    or.b32 %r10, %r10, %r11;
    or.b32 %r12, %r12, %r13;
    or.b32 %r14, %r14, %r15;
    or.b32 %r16, %r16, %r17;
    or.b32 %r18, %r18, %r19;
    or.b32 %r20, %r20, %r21;
    or.b32 %r22, %r22, %r23;
    or.b32 %r8, %r8, %r10;
    or.b32 %r12, %r12, %r14;
    or.b32 %r16, %r16, %r18;
    or.b32 %r20, %r20, %r22;
    or.b32 %r8, %r8, %r12;
    or.b32 %r16, %r16, %r20;
    or.b32 %r8, %r8, %r16;
    or.b32 %r7, %r7, %r8;
    add.u64 %rd10, %rd10, %rd6;
    setp.lt.u64 %p2, %rd10, %rd2;
    @%p2 bra loop;
done:
    setp.eq.u32 %p1, %r7, 0x7fffffff;
    @!%p1 ret;
    st.global.u32 [%rd3], %r7;
    ret;
}
)";

struct Measured
{
    double copyBytesPerSecond = 0; ///< read plus written
    double readBytesPerSecond = 0; ///< of a kernel that only reads; 0 where it did not run
    double launchUs = 0;
    std::string day;
};

/// Two buffers and two events, freed together.
class BandwidthBench
{
public:
    explicit BandwidthBench(CudaContext &context)
        : context_(context)
        , api_(context.api())
    {}
    ~BandwidthBench()
    {
        if (context_.isLost()) return;
        if (from_) api_.memFree(from_);
        if (to_) api_.memFree(to_);
        for (CUevent event : {begin_, end_})
            if (event) api_.eventDestroy(event);
        if (module_) api_.moduleUnload(module_);
    }
    BandwidthBench(const BandwidthBench &) = delete;
    BandwidthBench &operator=(const BandwidthBench &) = delete;

    std::optional<Measured> run(std::size_t bytes)
    {
        CUfunction empty = nullptr;
        const bool ready =
            api_.memAlloc(&from_, bytes) == CUDA_SUCCESS && api_.memAlloc(&to_, bytes) == CUDA_SUCCESS &&
            api_.eventCreate(&begin_, 0) == CUDA_SUCCESS && api_.eventCreate(&end_, 0) == CUDA_SUCCESS &&
            api_.memset8(from_, 1, bytes, nullptr) == CUDA_SUCCESS &&
            api_.moduleLoad(&module_, benchKernels, 0, nullptr, nullptr) == CUDA_SUCCESS &&
            api_.moduleGetFunction(&empty, module_, "empty") == CUDA_SUCCESS;
        if (!ready) return std::nullopt;
        const auto copyUs = best([&] { return api_.copyOnDevice(to_, from_, bytes, nullptr); });
        const auto launchEmpty = [&] {
            return api_.launchKernel(empty, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
        };
        // On the clock that candidates are timed by; events would add the gaps around the kernel.
        auto launchUs = bestByRecords(launchEmpty);
        if (!launchUs) launchUs = best(launchEmpty);
        if (!copyUs || !launchUs || *copyUs <= 0) return std::nullopt;
        return Measured{2.0 * static_cast<double>(bytes) / (*copyUs * 1e-6), readRate(bytes), *launchUs,
                        today()};
    }

private:
    /// Least microseconds by events; `before` is not in them.
    std::optional<double> best(
        const std::function<CUresult()> &work,
        const std::function<CUresult()> &before = [] { return CUDA_SUCCESS; })
    {
        std::vector<double> times;
        for (int i = 0; i < copies; ++i) {
            float ms = 0;
            if (before() != CUDA_SUCCESS || api_.eventRecord(begin_, nullptr) != CUDA_SUCCESS ||
                work() != CUDA_SUCCESS || api_.eventRecord(end_, nullptr) != CUDA_SUCCESS ||
                api_.contextSynchronize() != CUDA_SUCCESS ||
                api_.eventElapsed(&ms, begin_, end_) != CUDA_SUCCESS)
                return std::nullopt;
            times.push_back(ms * 1e3);
        }
        return *std::min_element(times.begin(), times.end());
    }

    template <class Work>
    std::optional<double> bestByRecords(const Work &launch)
    {
        const auto cupti = CuptiApi::load();
        if (!cupti) return std::nullopt;
        const auto recorder = ActivityRecorder::start(*cupti);
        if (!recorder) return std::nullopt;
        for (int i = 0; i < copies; ++i)
            if (launch() != CUDA_SUCCESS || api_.contextSynchronize() != CUDA_SUCCESS) return std::nullopt;
        const auto kernels = (*recorder)->kernels();
        if (!kernels || kernels->empty()) return std::nullopt;
        std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
        for (const RecordedKernel &kernel : *kernels)
            shortest = std::min(shortest, kernel.endNs - kernel.startNs);
        return static_cast<double>(shortest) / 1e3;
    }

    /// Bytes per second of a kernel that only reads `from_`; 0 where it cannot be run.
    double readRate(std::size_t bytes)
    {
        CUfunction read = nullptr;
        if (api_.moduleGetFunction(&read, module_, "read") != CUDA_SUCCESS) return 0;
        const auto blocks =
            static_cast<unsigned>(context_.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)) * 8;
        constexpr unsigned threads = 256;
        // Whole turns of the grid only: what is left of the buffer is not read, and not counted.
        const std::uint64_t turn = std::uint64_t{blocks} * threads * 4 * 16;
        const std::uint64_t reached = bytes / turn * turn;
        std::uint64_t quads = reached / 16;
        if (quads == 0) return 0;
        void *arguments[] = {&from_, &quads, &to_};
        const auto launch = [&] {
            return api_.launchKernel(read, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
        };
        // Written in between, so that no line that was read before is still in a cache.
        const auto us = best(launch, [&] { return api_.memset8(to_, 2, bytes, nullptr); });
        return us && *us > 0 ? static_cast<double>(reached) / (*us * 1e-6) : 0;
    }

    static std::string today()
    {
        const std::time_t now = std::time(nullptr);
        std::tm parts{};
        gmtime_r(&now, &parts);
        std::array<char, 16> text{};
        std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
        return text.data();
    }

    CudaContext &context_;
    const DriverApi &api_;
    CUdeviceptr from_ = 0, to_ = 0;
    CUevent begin_ = nullptr, end_ = nullptr;
    CUmodule module_ = nullptr;
};

std::string cacheKey(const DriverApi &api, CUdevice device, const DeviceInfo &info)
{
    return nvmlUuidText(uuidOf(api, device)) + " driver " + info.driver;
}

void apply(DeviceInfo &info, const Measured &measured)
{
    info.ceilings.dramBytesPerSecond = std::max(measured.copyBytesPerSecond, measured.readBytesPerSecond);
    info.ceilings.launchOverheadUs = measured.launchUs;
    info.ceilings.source =
        "bandwidth and launch measured " + measured.day + ", arithmetic from the driver's clocks";
}

void to_json(Json &json, const Measured &measured)
{
    json = Json{{"copy_bytes_per_second", measured.copyBytesPerSecond},
                {"read_bytes_per_second", measured.readBytesPerSecond},
                {"launch_us", measured.launchUs},
                {"day", measured.day}};
}

void from_json(const Json &json, Measured &measured)
{
    json.at("copy_bytes_per_second").get_to(measured.copyBytesPerSecond);
    json.at("read_bytes_per_second").get_to(measured.readBytesPerSecond);
    json.at("launch_us").get_to(measured.launchUs);
    json.at("day").get_to(measured.day);
    if (!(measured.copyBytesPerSecond > 0) || !(measured.launchUs > 0))
        rejectJson("a ceiling is not above 0");
}
} // namespace

bool applyKnownCeilings(const DriverApi &api, CUdevice device, DeviceInfo &info)
{
    const auto kept = DiskCache(cacheKind).find(cacheKey(api, device, info));
    if (!kept) return false;
    const auto known = readJson<Measured>(*kept, "the measured ceilings");
    if (!known) return false; // damaged: to be measured anew
    apply(info, *known);
    return true;
}

void measureCeilings(CudaContext &context, DeviceInfo &info)
{
    if (applyKnownCeilings(context.api(), context.device(), info)) return;
    const std::int64_t bytes = std::min<std::int64_t>(std::int64_t{1} << 30, info.memoryBytes / 16);
    const auto measured = BandwidthBench(context).run(static_cast<std::size_t>(bytes));
    if (!measured) return; // the data sheet's values stay, and their source says so
    apply(info, *measured);
    DiskCache(cacheKind).keep(cacheKey(context.api(), context.device(), info), *measured);
}

} // namespace kernelwright::cuda
