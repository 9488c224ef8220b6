// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_timing.h"

#include "activity_recorder.h"
#include "base/text.h"
#include "cuda_objects.h"

#include <algorithm>
#include <vector>

namespace kernelwright::cuda
{

namespace
{
constexpr std::chrono::seconds longestSample{20};
constexpr std::size_t fewestUnthrottled = 10; ///< samples per work; with fewer, throttled ones count too

/// Start and end of one sample by events; includes the gaps between kernels that the host leaves.
class EventPair
{
public:
    static Result<std::unique_ptr<EventPair>> create(CudaContext &context)
    {
        std::unique_ptr<EventPair> pair(new EventPair(context));
        for (CUevent *event : {&pair->begin_, &pair->end_})
            if (const auto made = context.check(context.api().eventCreate(event, 0), "creating an event");
                !made)
                return forward(made.error());
        return pair;
    }
    ~EventPair()
    {
        if (context_.isLost()) return;
        for (CUevent event : {begin_, end_})
            if (event) context_.api().eventDestroy(event);
    }
    EventPair(const EventPair &) = delete;
    EventPair &operator=(const EventPair &) = delete;

    Result<void> begin() { return context_.check(context_.api().eventRecord(begin_, nullptr), "timing"); }
    Result<void> end() { return context_.check(context_.api().eventRecord(end_, nullptr), "timing"); }
    Result<double> microseconds()
    {
        float ms = 0;
        if (const auto read = context_.check(context_.api().eventElapsed(&ms, begin_, end_), "timing"); !read)
            return forward(read.error());
        return ms * 1e3;
    }

private:
    explicit EventPair(CudaContext &context)
        : context_(context)
    {}
    CudaContext &context_;
    CUevent begin_ = nullptr, end_ = nullptr;
};

double relativeSpread(std::vector<double> times)
{
    if (times.size() < 4) return 1;
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    return median > 0 ? (times[times.size() * 3 / 4] - times[times.size() / 4]) / median : 1;
}

/// Takes samples of works in turn, with everything each sample needs around it.
class Sampler
{
public:
    Sampler(std::shared_ptr<CudaContext> context, std::span<const TimedWork> works,
            const TimingOptions &options, ConditionsLog log)
        : context_(std::move(context))
        , works_(works)
        , options_(options)
        , log_(std::move(log))
        , byEvents_(works.size())
    {}

    Result<TimingResult> run()
    {
        if (const auto ready = prepare(); !ready) return forward(ready.error());
        if (const auto warm = warmUp(); !warm) return forward(warm.error());
        log_.begin();
        const auto began = std::chrono::steady_clock::now();
        for (int round = 0; !enough(round, std::chrono::steady_clock::now() - began); ++round) {
            if (options_.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "timing was cancelled");
            for (std::size_t w = 0; w < works_.size(); ++w)
                if (const auto taken = takeSample(w); !taken) return forward(taken.error());
        }
        log_.end();
        return results();
    }

private:
    struct Taken
    {
        std::size_t work = 0;
        double eventsUs = 0;
    };

    Result<void> prepare()
    {
        auto events = EventPair::create(*context_);
        if (!events) return forward(events.error());
        events_ = std::move(*events);
        const std::int64_t cache = context_->attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        if (options_.coldCache) {
            auto flush = CudaMemory::allocate(context_, std::max<std::int64_t>(2 * cache, 1 << 20),
                                              "the cache flush buffer");
            if (!flush) return forward(flush.error());
            flush_ = std::move(*flush);
        }
        auto cupti = CuptiApi::load();
        auto recorder = cupti
                            ? ActivityRecorder::start(*cupti)
                            : Result<std::unique_ptr<ActivityRecorder>>(tl::unexpected<Error>(cupti.error()));
        if (recorder)
            recorder_ = std::move(*recorder);
        else
            note_ = "timed by events, which include launch gaps, since " + recorder.error().message;
        return {};
    }

    Result<void> warmUp()
    {
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0;
             i < options_.warmUps || std::chrono::steady_clock::now() - began < options_.warmUpTime; ++i) {
            if (options_.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "timing was cancelled");
            for (const TimedWork &work : works_)
                if (const auto ran = once(work); !ran) return ran;
        }
        return {};
    }

    Result<void> flushCache()
    {
        const DriverApi &api = context_->api();
        if (const auto reset = context_->check(api.resetPersistingL2(), "resetting persisting L2 lines");
            !reset && context_->isLost())
            return reset; // GPUs without persisting lines refuse the call, and need it not
        if (!flush_) return {};
        // Another value each time, so that no write can be skipped as already there.
        return static_cast<CudaMemory &>(*flush_).fill(++flushValue_);
    }

    Result<void> once(const TimedWork &work)
    {
        if (const auto prepared = prepareRun(work); !prepared) return prepared;
        if (const auto enqueued = work.enqueue(); !enqueued) return enqueued;
        return context_->wait(longestSample, "running " + work.name);
    }

    static Result<void> prepareRun(const TimedWork &work)
    {
        return work.prepare ? work.prepare() : Result<void>();
    }

    Result<void> takeSample(std::size_t w)
    {
        if (const auto prepared = prepareRun(works_[w]); !prepared) return prepared;
        if (const auto marked = markTime(); !marked) return marked;
        if (const auto flushed = flushCache(); !flushed) return flushed;
        if (const auto begun = events_->begin(); !begun) return begun;
        if (const auto enqueued = works_[w].enqueue(); !enqueued) return enqueued;
        if (const auto ended = events_->end(); !ended) return ended;
        if (const auto waited = context_->wait(longestSample, "running " + works_[w].name); !waited)
            return waited;
        const auto us = events_->microseconds();
        if (!us) return forward(us.error());
        log_.afterSample();
        byEvents_[w].push_back(*us);
        taken_.push_back({w, *us});
        // Kernels that prepare the next sample belong to none.
        return markTime();
    }

    /// On the records' clock: twice for each sample, where it begins and where it has ended.
    Result<void> markTime()
    {
        if (!recorder_) return {};
        const auto now = recorder_->now();
        if (!now) return forward(now.error());
        marks_.push_back(*now);
        return {};
    }

    bool enough(int round, std::chrono::steady_clock::duration spent) const
    {
        if (round >= options_.maximumSamples) return true;
        if (round < options_.minimumSamples) return spent > 10 * options_.budget && round >= 3;
        if (spent > options_.budget) return true;
        return std::all_of(byEvents_.begin(), byEvents_.end(), [&](const std::vector<double> &times) {
            return relativeSpread(times) < options_.targetSpread;
        });
    }

    /// One per sample taken, in that order.
    Result<std::vector<TimeSample>> sampleTimes()
    {
        std::vector<TimeSample> times;
        if (!recorder_) {
            for (const Taken &taken : taken_)
                times.push_back({taken.eventsUs, taken.eventsUs, 0});
            return times;
        }
        const auto kernels = recorder_->kernels();
        if (!kernels) return forward(kernels.error());
        const std::vector<TimeSample> periods = samplesByTime(*kernels, marks_);
        for (std::size_t i = 0; i < taken_.size(); ++i)
            times.push_back(periods[2 * i]);
        return times;
    }

    Result<TimingResult> results()
    {
        const auto times = sampleTimes();
        if (!times) return forward(times.error());
        TimingResult result;
        result.timeSource = recorder_ ? "cupti" : "events";
        result.conditions = log_.conditions();
        result.samples.resize(works_.size());
        const std::vector<bool> counted = log_.counted(fewestUnthrottled * works_.size());
        std::size_t empty = 0, throttled = 0;
        for (std::size_t i = 0; i < times->size(); ++i) {
            if (!counted[i])
                ++throttled;
            else if (recorder_ && (*times)[i].kernels == 0)
                ++empty;
            else
                result.samples[taken_[i].work].push_back((*times)[i]);
        }
        addNote(throttledNote(result.conditions, throttled));
        if (recorder_ && (recorder_->dropped() > 0 || empty > 0))
            addNote("CUPTI dropped " + std::to_string(recorder_->dropped()) + " records; " +
                    std::to_string(empty) + " samples without kernels were left out");
        result.note = note_;
        return result;
    }

    static std::string throttledNote(const MeasuringConditions &conditions, std::size_t dropped)
    {
        if (conditions.throttledSamples == 0) return "";
        const std::string why = " (" + joinText(conditions.throttleReasons, ", ") + ")";
        if (dropped > 0)
            return std::to_string(dropped) + " samples taken while the GPU was throttled" + why +
                   " were dropped";
        return "the GPU was throttled" + why + " in " + std::to_string(conditions.throttledSamples) +
               " samples; too few others were left to drop them";
    }

    void addNote(const std::string &text)
    {
        if (!text.empty()) note_ += (note_.empty() ? "" : "; ") + text;
    }

    std::shared_ptr<CudaContext> context_;
    std::span<const TimedWork> works_;
    const TimingOptions &options_;
    ConditionsLog log_;
    std::vector<std::vector<double>> byEvents_;
    std::unique_ptr<EventPair> events_;
    std::unique_ptr<DeviceMemory> flush_;
    std::unique_ptr<ActivityRecorder> recorder_;
    std::vector<Taken> taken_;
    std::vector<std::uint64_t> marks_;
    std::string note_;
    std::uint8_t flushValue_ = 0;
};
} // namespace

Result<TimingResult> timeWorks(const std::shared_ptr<CudaContext> &context, const GpuMonitor *monitor,
                               const std::string &unmonitored, std::span<const TimedWork> works,
                               const TimingOptions &options)
{
    return Sampler(context, works, options, ConditionsLog(monitor, unmonitored)).run();
}

Result<double> energyOf(const std::shared_ptr<CudaContext> &context, const GpuMonitor &monitor,
                        const TimedWork &work, std::chrono::milliseconds longest)
{
    if (work.prepare)
        if (const auto prepared = work.prepare(); !prepared) return forward(prepared.error());
    // Batches of about a millisecond: long enough that waiting for them costs little, short beside the
    // meter's steps.
    int batch = 1;
    const auto callAndWait = [&]() -> Result<int> {
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < batch; ++i)
            if (const auto enqueued = work.enqueue(); !enqueued) return forward(enqueued.error());
        if (const auto waited = context->wait(longestSample, "repeating " + work.name); !waited)
            return forward(waited.error());
        const int called = batch;
        if (std::chrono::steady_clock::now() - began < std::chrono::milliseconds(1) && batch < 256)
            batch *= 2;
        return called;
    };
    return meterEnergy(monitor, callAndWait, longest);
}

} // namespace kernelwright::cuda
