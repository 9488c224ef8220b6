// SPDX-License-Identifier: GPL-3.0-or-later
#include "activity_recorder.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace kernelwright::cuda
{

namespace
{
constexpr std::size_t bufferBytes = std::size_t{4} << 20;
constexpr std::size_t bufferAlignment = 8;

/// The recorder that CUPTI's callbacks belong to: the C interface offers no other way to find it.
std::atomic<ActivityRecorder *> activeRecorder{nullptr};
} // namespace

Result<std::unique_ptr<ActivityRecorder>> ActivityRecorder::start(std::shared_ptr<const CuptiApi> api,
                                                                  Owners owners)
{
    std::unique_ptr<ActivityRecorder> recorder(new ActivityRecorder(std::move(api), owners));
    ActivityRecorder *none = nullptr;
    if (!activeRecorder.compare_exchange_strong(none, recorder.get()))
        return fail(ErrorCode::Internal, "kernel times are already being recorded in this process");
    const CuptiApi &cupti = *recorder->api_;
    if (const auto registered = cupti.check(cupti.activityRegisterCallbacks(bufferRequested, bufferCompleted),
                                            "registering for kernel records");
        !registered)
        return forward(registered.error());
    for (const CUpti_ActivityKind kind : recorder->recordedKinds())
        if (const auto enabled = cupti.check(cupti.activityEnable(kind), "recording kernel times"); !enabled)
            return forward(enabled.error());
    return recorder;
}

std::vector<CUpti_ActivityKind> ActivityRecorder::recordedKinds() const
{
    if (owners_ == Owners::Ignored) return {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
    // CUPTI writes an external correlation only beside the record of a call, of either interface.
    return {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME,
            CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
}

ActivityRecorder::~ActivityRecorder()
{
    for (const CUpti_ActivityKind kind : recordedKinds())
        api_->activityDisable(kind);
    api_->activityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ActivityRecorder *self = this;
    activeRecorder.compare_exchange_strong(self, nullptr);
}

Result<std::uint64_t> ActivityRecorder::now() const
{
    std::uint64_t timestamp = 0;
    if (const auto read = api_->check(api_->getTimestamp(&timestamp), "reading CUPTI's clock"); !read)
        return forward(read.error());
    return timestamp;
}

Result<std::vector<RecordedKernel>> ActivityRecorder::kernels()
{
    if (const auto flushed =
            api_->check(api_->activityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "reading kernel records");
        !flushed)
        return forward(flushed.error());
    const std::lock_guard lock(mutex_);
    for (RecordedKernel &kernel : kernels_)
        if (const auto owner = ownerOf_.find(kernel.correlation); owner != ownerOf_.end())
            kernel.owner = owner->second;
    std::sort(kernels_.begin(), kernels_.end(),
              [](const RecordedKernel &a, const RecordedKernel &b) { return a.startNs < b.startNs; });
    return kernels_;
}

void ActivityRecorder::bufferRequested(std::uint8_t **buffer, std::size_t *size, std::size_t *maximumRecords)
{
    // CUPTI owns the buffer until bufferCompleted gives it back; no memory means no records, which CUPTI
    // counts.
    *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(bufferAlignment, bufferBytes));
    *size = *buffer ? bufferBytes : 0;
    *maximumRecords = 0;
}

void ActivityRecorder::bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t *buffer,
                                       std::size_t, std::size_t validSize)
{
    if (ActivityRecorder *recorder = activeRecorder.load(); recorder && validSize > 0)
        recorder->read(context, stream, buffer, validSize);
    std::free(buffer);
}

void ActivityRecorder::read(CUcontext context, std::uint32_t stream, std::uint8_t *buffer,
                            std::size_t validSize)
{
    const std::lock_guard lock(mutex_);
    CUpti_Activity *record = nullptr;
    while (api_->activityGetNextRecord(buffer, validSize, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
            const auto *external = reinterpret_cast<const CUpti_ActivityExternalCorrelation *>(record);
            ownerOf_[external->correlationId] = external->externalId;
        }
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
            record->kind != CUPTI_ACTIVITY_KIND_KERNEL)
            continue;
        const auto *kernel = reinterpret_cast<const KernelRecord *>(record);
        const bool isNamed = owners_ == Owners::Recorded && kernel->name != nullptr;
        kernels_.push_back(
            {kernel->start, kernel->end, kernel->correlationId, 0, isNamed ? kernel->name : ""});
    }
    std::size_t dropped = 0;
    if (api_->activityGetDropped(context, stream, &dropped) == CUPTI_SUCCESS) dropped_ += dropped;
}

std::vector<TimeSample> samplesByTime(const std::vector<RecordedKernel> &kernels,
                                      const std::vector<std::uint64_t> &begins)
{
    std::vector<TimeSample> samples(begins.size());
    std::vector<std::uint64_t> first(begins.size(), 0);
    std::vector<std::uint64_t> last(begins.size(), 0);
    for (const RecordedKernel &kernel : kernels) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), kernel.startNs);
        if (next == begins.begin()) continue;
        const auto i = static_cast<std::size_t>(next - begins.begin() - 1);
        TimeSample &sample = samples[i];
        first[i] = sample.kernels == 0 ? kernel.startNs : std::min(first[i], kernel.startNs);
        last[i] = std::max(last[i], kernel.endNs);
        sample.sumUs += static_cast<double>(kernel.endNs - kernel.startNs) / 1000.0;
        sample.spanUs = static_cast<double>(last[i] - first[i]) / 1000.0;
        ++sample.kernels;
    }
    return samples;
}

} // namespace kernelwright::cuda
