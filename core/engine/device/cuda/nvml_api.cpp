// SPDX-License-Identifier: GPL-3.0-or-later
#include "nvml_api.h"

#include "shared_library.h"

namespace kernelwright::cuda
{

namespace
{
using NvmlDevice = struct nvmlDevice_st *;
constexpr int nvmlSuccess = 0;
constexpr int clockOfMultiprocessors = 1; // NVML_CLOCK_SM
constexpr int clockOfMemory = 2;          // NVML_CLOCK_MEM
constexpr int sensorOfGpu = 0;            // NVML_TEMPERATURE_GPU

struct NvmlApi
{
    static Result<NvmlApi> load()
    {
        const Result<SharedLibrary> library = SharedLibrary::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
        if (!library) return forward(library.error(), "clocks, power and throttling are unknown");
        NvmlApi api;
        const bool usable = library->bind(api.init, "nvmlInit_v2") &&
                            library->bind(api.shutdown, "nvmlShutdown") &&
                            library->bind(api.errorString, "nvmlErrorString") &&
                            library->bind(api.handleByUuid, "nvmlDeviceGetHandleByUUID");
        if (!usable)
            return fail(ErrorCode::NotSupported,
                        "clocks, power and throttling are unknown: the NVML at hand is too old");
        // What one of these lacks is left out of the readings.
        library->bind(api.clock, "nvmlDeviceGetClockInfo");
        if (!library->bind(api.throttleReasons, "nvmlDeviceGetCurrentClocksEventReasons"))
            library->bind(api.throttleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
        library->bind(api.power, "nvmlDeviceGetPowerUsage");
        library->bind(api.temperature, "nvmlDeviceGetTemperature");
        library->bind(api.energy, "nvmlDeviceGetTotalEnergyConsumption");
        return api;
    }

    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char *(*errorString)(int) = nullptr;
    int (*handleByUuid)(const char *, NvmlDevice *) = nullptr;
    int (*clock)(NvmlDevice, int, unsigned *) = nullptr;
    int (*throttleReasons)(NvmlDevice, unsigned long long *) = nullptr;
    int (*power)(NvmlDevice, unsigned *) = nullptr;
    int (*temperature)(NvmlDevice, int, unsigned *) = nullptr;
    int (*energy)(NvmlDevice, unsigned long long *) = nullptr;
};

class NvmlMonitor final : public GpuMonitor
{
public:
    explicit NvmlMonitor(const NvmlApi &api)
        : api_(api)
    {}
    ~NvmlMonitor() override { api_.shutdown(); } // NVML counts its users

    int find(const std::string &uuid) { return api_.handleByUuid(uuid.c_str(), &device_); }

    GpuClocks clocks() const override
    {
        GpuClocks clocks;
        unsigned number = 0;
        if (api_.clock && api_.clock(device_, clockOfMultiprocessors, &number) == nvmlSuccess)
            clocks.smMhz = number;
        unsigned long long reasons = 0;
        if (api_.throttleReasons && api_.throttleReasons(device_, &reasons) == nvmlSuccess)
            clocks.reasons = reasons;
        return clocks;
    }

    GpuState state() const override
    {
        GpuState state;
        unsigned number = 0;
        if (api_.clock && api_.clock(device_, clockOfMemory, &number) == nvmlSuccess)
            state.memoryMhz = number;
        if (api_.power && api_.power(device_, &number) == nvmlSuccess) state.watts = number / 1000.0;
        if (api_.temperature && api_.temperature(device_, sensorOfGpu, &number) == nvmlSuccess)
            state.celsius = number;
        return state;
    }

    std::optional<double> energyMillijoules() const override
    {
        unsigned long long millijoules = 0;
        if (!api_.energy || api_.energy(device_, &millijoules) != nvmlSuccess) return std::nullopt;
        return static_cast<double>(millijoules);
    }

private:
    NvmlApi api_;
    NvmlDevice device_ = nullptr;
};
} // namespace

Result<std::unique_ptr<GpuMonitor>> openNvmlMonitor(const std::array<unsigned char, 16> &uuid)
{
    const auto api = NvmlApi::load();
    if (!api) return forward(api.error());
    if (const int code = api->init(); code != nvmlSuccess)
        return fail(ErrorCode::NotSupported,
                    std::string("clocks, power and throttling are unknown: NVML says ") +
                        api->errorString(code));
    auto monitor = std::make_unique<NvmlMonitor>(*api);
    const std::string name = nvmlUuidText(uuid);
    if (const int code = monitor->find(name); code != nvmlSuccess)
        return fail(ErrorCode::NotSupported,
                    "clocks, power and throttling are unknown: NVML does not tell them of " + name + " (" +
                        api->errorString(code) + ")");
    return monitor;
}

std::string nvmlUuidText(const std::array<unsigned char, 16> &uuid)
{
    constexpr const char *digits = "0123456789abcdef";
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits[uuid[i] >> 4];
        text += digits[uuid[i] & 15];
    }
    return text;
}

} // namespace kernelwright::cuda
