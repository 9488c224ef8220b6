// SPDX-License-Identifier: GPL-3.0-or-later
// The order of calls (host object → configuration → counter data image → set, start, launch, stop, decode →
// evaluate) is the one CUPTI documents for automatic ranges with kernel replay.
#include "range_profiler.h"

#include "base/text.h"

namespace kernelwright::cuda
{

#if KERNELWRIGHT_RANGE_PROFILER

namespace
{
/// CUPTI's host-side object that turns metric names into a configuration and counter data into values.
class HostObject
{
public:
    /// The functions must outlive the object; see keep().
    static Result<std::unique_ptr<HostObject>> create(const CuptiApi &api, const std::string &chip,
                                                      const std::vector<std::uint8_t> &availability)
    {
        std::unique_ptr<HostObject> host(new HostObject(api));
        CUpti_Profiler_Host_Initialize_Params params = {CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
        params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        params.pChipName = chip.c_str();
        params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
        if (const auto done = api.check(api.hostInitialize(&params), "preparing counters"); !done)
            return forward(done.error());
        host->object_ = params.pHostObject;
        return host;
    }
    ~HostObject()
    {
        if (!object_) return;
        CUpti_Profiler_Host_Deinitialize_Params params = {
            CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        api_.hostDeinitialize(&params);
    }
    HostObject(const HostObject &) = delete;
    HostObject &operator=(const HostObject &) = delete;

    void keep(std::shared_ptr<const CuptiApi> owner) { owner_ = std::move(owner); }

    bool add(const std::vector<const char *> &metrics)
    {
        CUpti_Profiler_Host_ConfigAddMetrics_Params params = {
            CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        params.ppMetricNames = const_cast<const char **>(metrics.data());
        params.numMetrics = metrics.size();
        return api_.hostAddMetrics(&params) == CUPTI_SUCCESS;
    }

    Result<std::vector<std::uint8_t>> configuration()
    {
        CUpti_Profiler_Host_GetConfigImageSize_Params size = {
            CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
        size.pHostObject = object_;
        if (const auto done = api_.check(api_.hostConfigImageSize(&size), "sizing the counter configuration");
            !done)
            return forward(done.error());
        std::vector<std::uint8_t> image(size.configImageSize);
        CUpti_Profiler_Host_GetConfigImage_Params params = {
            CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        params.configImageSize = image.size();
        params.pConfigImage = image.data();
        if (const auto done = api_.check(api_.hostConfigImage(&params), "making the counter configuration");
            !done)
            return forward(done.error());
        return image;
    }

    int passesOf(std::vector<std::uint8_t> &configuration) const
    {
        CUpti_Profiler_Host_GetNumOfPasses_Params params = {
            CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
        params.configImageSize = configuration.size();
        params.pConfigImage = configuration.data();
        return api_.hostPasses(&params) == CUPTI_SUCCESS ? static_cast<int>(params.numOfPasses) : 0;
    }

    Result<CounterValues> evaluate(const std::vector<std::uint8_t> &data, std::size_t range,
                                   const std::vector<const char *> &metrics)
    {
        std::vector<double> values(metrics.size());
        CUpti_Profiler_Host_EvaluateToGpuValues_Params params = {
            CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
        params.pHostObject = object_;
        params.pCounterDataImage = data.data();
        params.counterDataImageSize = data.size();
        params.rangeIndex = range;
        params.ppMetricNames = const_cast<const char **>(metrics.data());
        params.numMetrics = metrics.size();
        params.pMetricValues = values.data();
        if (const auto done = api_.check(api_.hostEvaluate(&params), "evaluating counters"); !done)
            return forward(done.error());
        CounterValues named;
        for (std::size_t i = 0; i < metrics.size(); ++i)
            named[metrics[i]] = values[i];
        return named;
    }

private:
    explicit HostObject(const CuptiApi &api)
        : api_(api)
    {}
    const CuptiApi &api_;
    std::shared_ptr<const CuptiApi> owner_;
    CUpti_Profiler_Host_Object *object_ = nullptr;
};

/// The profiler enabled on a context, for as long as this object lives.
class EnabledProfiler
{
public:
    static Result<std::unique_ptr<EnabledProfiler>> create(const CuptiApi &api, CUcontext context)
    {
        std::unique_ptr<EnabledProfiler> enabled(new EnabledProfiler(api));
        CUpti_RangeProfiler_Enable_Params params = {CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
        params.ctx = context;
        if (const auto done = api.check(api.rangeEnable(&params), "enabling the range profiler"); !done)
            return forward(done.error());
        enabled->object_ = params.pRangeProfilerObject;
        return enabled;
    }
    ~EnabledProfiler()
    {
        if (!object_) return;
        CUpti_RangeProfiler_Disable_Params params = {CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
        params.pRangeProfilerObject = object_;
        api_.rangeDisable(&params);
    }
    EnabledProfiler(const EnabledProfiler &) = delete;
    EnabledProfiler &operator=(const EnabledProfiler &) = delete;

    Result<std::vector<std::uint8_t>> makeDataImage(const std::vector<const char *> &metrics,
                                                    std::size_t ranges)
    {
        CUpti_RangeProfiler_GetCounterDataSize_Params size = {
            CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
        size.pRangeProfilerObject = object_;
        size.pMetricNames = const_cast<const char **>(metrics.data());
        size.numMetrics = metrics.size();
        size.maxNumOfRanges = ranges;
        size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
        if (const auto done = api_.check(api_.rangeDataSize(&size), "sizing counter data"); !done)
            return forward(done.error());
        std::vector<std::uint8_t> data(size.counterDataSize);
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params params = {
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
        params.pRangeProfilerObject = object_;
        params.counterDataSize = data.size();
        params.pCounterData = data.data();
        if (const auto done = api_.check(api_.rangeDataInitialize(&params), "preparing counter data"); !done)
            return forward(done.error());
        return data;
    }

    Result<void> configure(const std::vector<std::uint8_t> &configuration, std::vector<std::uint8_t> &data,
                           std::size_t ranges)
    {
        CUpti_RangeProfiler_SetConfig_Params params = {CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
        params.pRangeProfilerObject = object_;
        params.configSize = configuration.size();
        params.pConfig = configuration.data();
        params.counterDataImageSize = data.size();
        params.pCounterDataImage = data.data();
        params.range = CUPTI_AutoRange;
        params.replayMode = CUPTI_KernelReplay;
        params.maxRangesPerPass = ranges;
        params.numNestingLevels = 1;
        params.minNestingLevel = 1;
        return api_.check(api_.rangeSetConfig(&params), "configuring the range profiler");
    }

    Result<void> record(const std::function<Result<void>()> &launch)
    {
        CUpti_RangeProfiler_Start_Params start = {CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
        start.pRangeProfilerObject = object_;
        if (const auto done = api_.check(api_.rangeStart(&start), "starting the range profiler"); !done)
            return done;
        const Result<void> launched = launch();
        CUpti_RangeProfiler_Stop_Params stop = {CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
        stop.pRangeProfilerObject = object_;
        const auto stopped = api_.check(api_.rangeStop(&stop), "stopping the range profiler");
        if (!launched) return launched;
        if (!stopped) return stopped;
        CUpti_RangeProfiler_DecodeData_Params decode = {CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
        decode.pRangeProfilerObject = object_;
        return api_.check(api_.rangeDecode(&decode), "decoding counters");
    }

    Result<std::size_t> rangesIn(const std::vector<std::uint8_t> &data)
    {
        CUpti_RangeProfiler_GetCounterDataInfo_Params params = {
            CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
        params.pCounterDataImage = data.data();
        params.counterDataImageSize = data.size();
        if (const auto done = api_.check(api_.rangeDataInfo(&params), "counting profiled kernels"); !done)
            return forward(done.error());
        return params.numTotalRanges;
    }

private:
    explicit EnabledProfiler(const CuptiApi &api)
        : api_(api)
    {}
    const CuptiApi &api_;
    CUpti_RangeProfiler_Object *object_ = nullptr;
};

} // namespace

struct CounterSelection
{
    std::vector<std::string> names;
    std::unique_ptr<HostObject> host;
    std::vector<std::uint8_t> configuration;
    int passes = 0;

    std::vector<const char *> metrics() const
    {
        std::vector<const char *> pointers;
        for (const std::string &name : names)
            pointers.push_back(name.c_str());
        return pointers;
    }
};

namespace
{
/// These metrics together as one configuration; fails where the chip lacks one of them.
Result<std::shared_ptr<CounterSelection>> configure(const CuptiApi &api, const std::string &chip,
                                                    const std::vector<std::uint8_t> &availability,
                                                    const std::vector<std::string> &names)
{
    auto selection = std::make_shared<CounterSelection>();
    selection->names = names;
    auto host = HostObject::create(api, chip, availability);
    if (!host) return forward(host.error());
    if (!(*host)->add(selection->metrics()))
        return fail(ErrorCode::NotSupported, "this chip (" + chip + ") lacks " + joinText(names, ", "));
    auto configuration = (*host)->configuration();
    if (!configuration) return forward(configuration.error());
    selection->configuration = std::move(*configuration);
    selection->passes = (*host)->passesOf(selection->configuration);
    selection->host = std::move(*host);
    return selection;
}
} // namespace

int passesOf(const CounterSelection &selection)
{
    return selection.passes;
}

std::vector<std::string> metricsOf(const CounterSelection &selection)
{
    return selection.names;
}

Result<std::shared_ptr<const CounterSelection>> chooseCounters(std::shared_ptr<const CuptiApi> api,
                                                               const std::string &chip,
                                                               const std::vector<std::uint8_t> &availability,
                                                               const std::vector<std::string> &names,
                                                               int maximumPasses)
{
    if (!api->hasRangeProfiler)
        return fail(ErrorCode::NotSupported,
                    "the CUPTI at hand has no Range Profiler: counters need CUDA 12.6 or newer");
    std::shared_ptr<CounterSelection> chosen;
    std::string reason;
    for (const std::string &name : names) {
        std::vector<std::string> more = chosen ? chosen->names : std::vector<std::string>();
        more.push_back(name);
        auto larger = configure(*api, chip, availability, more);
        if (!larger)
            reason = larger.error().message;
        else if (maximumPasses == 0 || (*larger)->passes <= maximumPasses)
            chosen = std::move(*larger);
    }
    if (!chosen)
        return fail(ErrorCode::NotSupported, "none of the counters asked for can be read: " + reason);
    chosen->host->keep(std::move(api));
    return chosen;
}

Result<std::unique_ptr<RangeProfiler>> RangeProfiler::create(std::shared_ptr<const CuptiApi> api,
                                                             CUcontext context, int device)
{
    if (!api->hasRangeProfiler)
        return fail(ErrorCode::NotSupported,
                    "the CUPTI at hand has no Range Profiler: counters need CUDA 12.6 or newer");
    std::unique_ptr<RangeProfiler> profiler(new RangeProfiler);
    CUpti_Profiler_Initialize_Params init = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    if (const auto done = api->check(api->profilerInitialize(&init), "initialising the profiler"); !done)
        return forward(done.error());
    CUpti_Device_GetChipName_Params chip = {CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    chip.deviceIndex = static_cast<std::size_t>(device);
    if (const auto done = api->check(api->deviceGetChipName(&chip), "asking for the chip's name"); !done)
        return forward(done.error());
    profiler->chip_ = chip.pChipName;
    CUpti_Profiler_GetCounterAvailability_Params params = {
        CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
    params.ctx = context;
    if (const auto done = api->check(api->getCounterAvailability(&params), "asking which counters there are");
        !done)
        return forward(done.error());
    profiler->availability_.resize(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = profiler->availability_.data();
    if (const auto done = api->check(api->getCounterAvailability(&params), "asking which counters there are");
        !done)
        return forward(done.error());
    profiler->api_ = std::move(api);
    profiler->context_ = context;
    return profiler;
}

Result<const CounterSelection *> RangeProfiler::choose(const std::vector<std::string> &names,
                                                       int maximumPasses)
{
    auto &kept = chosen_[{names, maximumPasses}];
    if (!kept) {
        auto selection = chooseCounters(api_, chip_, availability_, names, maximumPasses);
        if (!selection) return forward(selection.error());
        kept = std::move(*selection);
    }
    return kept.get();
}

Result<std::vector<CounterValues>> RangeProfiler::collect(const CounterSelection &selection,
                                                          int maximumKernels,
                                                          const std::function<Result<void>()> &launch)
{
    const auto ranges = static_cast<std::size_t>(maximumKernels);
    const std::vector<const char *> metrics = selection.metrics();
    auto profiler = EnabledProfiler::create(*api_, context_);
    if (!profiler) return forward(profiler.error());
    auto data = (*profiler)->makeDataImage(metrics, ranges);
    if (!data) return forward(data.error());
    if (const auto done = (*profiler)->configure(selection.configuration, *data, ranges); !done)
        return forward(done.error());
    if (const auto done = (*profiler)->record(launch); !done) return forward(done.error());
    const auto count = (*profiler)->rangesIn(*data);
    if (!count) return forward(count.error());

    std::vector<CounterValues> perKernel;
    for (std::size_t range = 0; range < *count; ++range) {
        auto values = selection.host->evaluate(*data, range, metrics);
        if (!values) return forward(values.error());
        perKernel.push_back(std::move(*values));
    }
    return perKernel;
}

#else

Result<std::unique_ptr<RangeProfiler>> RangeProfiler::create(std::shared_ptr<const CuptiApi>, CUcontext, int)
{
    return fail(ErrorCode::NotSupported, "this engine was built with a CUDA toolkit without the Range "
                                         "Profiler: counters need CUDA 12.6 or newer");
}

struct CounterSelection
{};

int passesOf(const CounterSelection &)
{
    return 0;
}

std::vector<std::string> metricsOf(const CounterSelection &)
{
    return {};
}

Result<std::shared_ptr<const CounterSelection>> chooseCounters(std::shared_ptr<const CuptiApi>,
                                                               const std::string &,
                                                               const std::vector<std::uint8_t> &,
                                                               const std::vector<std::string> &, int)
{
    return fail(ErrorCode::NotSupported, "this engine was built without the Range Profiler");
}

Result<const CounterSelection *> RangeProfiler::choose(const std::vector<std::string> &, int)
{
    return fail(ErrorCode::NotSupported, "this engine was built without the Range Profiler");
}

Result<std::vector<CounterValues>> RangeProfiler::collect(const CounterSelection &, int,
                                                          const std::function<Result<void>()> &)
{
    return fail(ErrorCode::NotSupported, "this engine was built without the Range Profiler");
}

#endif

} // namespace kernelwright::cuda
