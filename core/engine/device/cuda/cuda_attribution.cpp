// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_attribution.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>

namespace kernelwright::cuda
{

namespace
{
constexpr std::chrono::seconds longestRun{60};
constexpr CUpti_ExternalCorrelationKind ownKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

std::string demangled(const std::string &symbol)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : symbol;
}

/// The owner that is pushed at the moment; popped at the end whatever happens.
class OwnerStack
{
public:
    explicit OwnerStack(const CuptiApi &api)
        : api_(api)
    {}
    ~OwnerStack() { set(0); }
    OwnerStack(const OwnerStack &) = delete;
    OwnerStack &operator=(const OwnerStack &) = delete;

    void set(std::uint64_t owner)
    {
        if (isPushed_) {
            std::uint64_t last = 0;
            api_.activityPopCorrelation(ownKind, &last);
        }
        isPushed_ = owner != 0 && api_.activityPushCorrelation(ownKind, owner) == CUPTI_SUCCESS;
    }

private:
    const CuptiApi &api_;
    bool isPushed_ = false;
};
} // namespace

Result<std::vector<AttributedRun>> attributeByCorrelation(const std::shared_ptr<CudaContext> &context,
                                                          const KernelAttribution::MarkedWork &work,
                                                          int warmUps, int runs, const CancelToken &cancel)
{
    const auto cupti = CuptiApi::load();
    if (!cupti) return forward(cupti.error());
    if (!(*cupti)->hasCorrelation)
        return fail(ErrorCode::NotSupported,
                    "the CUPTI at hand cannot tell which operator a kernel belongs to");
    const auto runOnce = [&](const KernelAttribution::Mark &mark) -> Result<void> {
        if (cancel.isCancelled()) return fail(ErrorCode::Cancelled, "profiling was cancelled");
        if (auto ran = work(mark); !ran) return ran;
        return context->wait(longestRun, "running the model");
    };
    for (int i = 0; i < warmUps; ++i)
        if (const auto ran = runOnce([](std::uint64_t) {}); !ran) return forward(ran.error());
    const auto recorder = ActivityRecorder::start(*cupti, ActivityRecorder::Owners::Recorded);
    if (!recorder) return forward(recorder.error());
    OwnerStack owners(**cupti);
    std::vector<std::uint64_t> begins;
    for (int i = 0; i < runs; ++i) {
        const auto now = (*recorder)->now();
        if (!now) return forward(now.error());
        begins.push_back(*now);
        if (const auto ran = runOnce([&](std::uint64_t owner) { owners.set(owner); }); !ran)
            return forward(ran.error());
        owners.set(0);
    }
    const auto kernels = (*recorder)->kernels();
    if (!kernels) return forward(kernels.error());
    if ((*recorder)->dropped() > 0)
        return fail(ErrorCode::NotSupported, "CUPTI dropped " + std::to_string((*recorder)->dropped()) +
                                                 " records of the model's kernels");
    return runsOf(*kernels, begins);
}

std::vector<AttributedRun> runsOf(const std::vector<RecordedKernel> &kernels,
                                  const std::vector<std::uint64_t> &begins)
{
    std::vector<AttributedRun> runs(begins.size());
    std::vector<std::map<std::pair<std::uint64_t, std::string>, std::size_t>> places(begins.size());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans(begins.size());
    for (const RecordedKernel &kernel : kernels) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), kernel.startNs);
        if (next == begins.begin()) continue;
        const auto i = static_cast<std::size_t>(next - begins.begin() - 1);
        AttributedRun &run = runs[i];
        const auto [place, isNew] =
            places[i].emplace(std::pair(kernel.owner, kernel.name), run.kernels.size());
        if (isNew) run.kernels.push_back({kernel.owner, demangled(kernel.name), 0, 0});
        OwnedKernels &entry = run.kernels[place->second];
        const double us = static_cast<double>(kernel.endNs - kernel.startNs) / 1000.0;
        ++entry.launches;
        entry.us += us;
        spans[i].first = run.sumUs == 0 ? kernel.startNs : std::min(spans[i].first, kernel.startNs);
        spans[i].second = std::max(spans[i].second, kernel.endNs);
        run.sumUs += us;
        run.spanUs = static_cast<double>(spans[i].second - spans[i].first) / 1000.0;
    }
    for (AttributedRun &run : runs)
        std::stable_sort(run.kernels.begin(), run.kernels.end(),
                         [](const OwnedKernels &a, const OwnedKernels &b) { return a.owner < b.owner; });
    return runs;
}

} // namespace kernelwright::cuda
