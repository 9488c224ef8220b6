// SPDX-License-Identifier: GPL-3.0-or-later
#include "ceilings.h"

#include "activity_recorder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

namespace kernelwright::cuda
{

namespace
{
namespace fs = std::filesystem;

constexpr int copies = 10;

/// A kernel that does nothing; the driver compiles it for whatever GPU there is.
constexpr const char *emptyKernel =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n";

struct Measured
{
    double bytesPerSecond = 0;
    double launchUs = 0;
    std::string day;
};

/// Two buffers and two events, freed together.
class CopyBench
{
public:
    explicit CopyBench(CudaContext &context)
        : context_(context)
        , api_(context.api())
    {}
    ~CopyBench()
    {
        if (context_.isLost()) return;
        if (from_) api_.memFree(from_);
        if (to_) api_.memFree(to_);
        for (CUevent event : {begin_, end_})
            if (event) api_.eventDestroy(event);
        if (module_) api_.moduleUnload(module_);
    }
    CopyBench(const CopyBench &) = delete;
    CopyBench &operator=(const CopyBench &) = delete;

    std::optional<Measured> run(std::size_t bytes)
    {
        CUfunction empty = nullptr;
        const bool ready =
            api_.memAlloc(&from_, bytes) == CUDA_SUCCESS && api_.memAlloc(&to_, bytes) == CUDA_SUCCESS &&
            api_.eventCreate(&begin_, 0) == CUDA_SUCCESS && api_.eventCreate(&end_, 0) == CUDA_SUCCESS &&
            api_.memset8(from_, 1, bytes, nullptr) == CUDA_SUCCESS &&
            api_.moduleLoad(&module_, emptyKernel, 0, nullptr, nullptr) == CUDA_SUCCESS &&
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
        return Measured{2.0 * static_cast<double>(bytes) / (*copyUs * 1e-6), *launchUs, today()};
    }

private:
    template <class Work>
    std::optional<double> best(const Work &work)
    {
        std::vector<double> times;
        for (int i = 0; i < copies; ++i) {
            float ms = 0;
            if (api_.eventRecord(begin_, nullptr) != CUDA_SUCCESS || work() != CUDA_SUCCESS ||
                api_.eventRecord(end_, nullptr) != CUDA_SUCCESS ||
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

fs::path cacheFile()
{
    if (const char *folder = std::getenv("XDG_CACHE_HOME"))
        return fs::path(folder) / "kernelwright" / "ceilings.json";
    if (const char *home = std::getenv("HOME"))
        return fs::path(home) / ".cache" / "kernelwright" / "ceilings.json";
    return {};
}

Json readCache(const fs::path &file)
{
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto json = parseJson(text, file.string());
    return json && json->is_object() ? *json : Json::object(); // a damaged cache is measured anew
}

std::string cacheKey(const CudaContext &context, const DeviceInfo &info)
{
    CUuuid uuid{};
    context.api().deviceGetUuid(&uuid, context.device());
    std::string key;
    for (const char byte : uuid.bytes) {
        constexpr const char *digits = "0123456789abcdef";
        key += digits[(static_cast<unsigned char>(byte) >> 4) & 15];
        key += digits[static_cast<unsigned char>(byte) & 15];
    }
    return key + " driver " + info.driver;
}

void apply(DeviceInfo &info, double bytesPerSecond, double launchUs, const std::string &day)
{
    info.ceilings.dramBytesPerSecond = bytesPerSecond;
    info.ceilings.launchOverheadUs = launchUs;
    info.ceilings.source = "bandwidth and launch measured " + day + ", arithmetic from the driver's clocks";
}
} // namespace

void measureCeilings(CudaContext &context, DeviceInfo &info)
{
    const fs::path file = cacheFile();
    const std::string key = cacheKey(context, info);
    Json cache = file.empty() ? Json::object() : readCache(file);
    if (const auto known = cache.find(key);
        known != cache.end() && known->is_object() && known->value("bytes_per_second", 0.0) > 0) {
        apply(info, known->value("bytes_per_second", 0.0), known->value("launch_us", 1.0),
              known->value("day", ""));
        return;
    }
    const std::int64_t bytes = std::min<std::int64_t>(std::int64_t{1} << 30, info.memoryBytes / 16);
    const auto measured = CopyBench(context).run(static_cast<std::size_t>(bytes));
    if (!measured) return;
    apply(info, measured->bytesPerSecond, measured->launchUs, measured->day);
    if (file.empty()) return;
    cache[key] = {{"bytes_per_second", measured->bytesPerSecond},
                  {"launch_us", measured->launchUs},
                  {"day", measured->day}};
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    // A cache that cannot be written costs the next start some milliseconds, nothing else.
    std::ofstream(file) << writeJson(cache, 2) << '\n';
}

} // namespace kernelwright::cuda
