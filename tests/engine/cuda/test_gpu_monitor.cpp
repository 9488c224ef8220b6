// SPDX-License-Identifier: GPL-3.0-or-later
// What is made of a GPU's own words about clocks, heat and energy, with a monitor that says what the test
// wants.
#include "engine/device/cuda/gpu_monitor.h"
#include "engine/device/cuda/nvml_api.h"

#include <QTest>

#include <limits>

using namespace kernelwright;
using namespace kernelwright::cuda;

namespace
{
constexpr std::uint64_t idle = 0x01, clocksSet = 0x02, powerCap = 0x04, temperature = 0x20;

class ScriptedMonitor final : public GpuMonitor
{
public:
    GpuClocks current;
    GpuState currentState;
    mutable std::optional<double> energy;
    double stepMillijoules = 0; ///< by which the meter moves every `readsPerStep` readings
    int readsPerStep = 3;

    GpuClocks clocks() const override { return current; }
    GpuState state() const override { return currentState; }
    std::optional<double> energyMillijoules() const override
    {
        if (energy && ++reads_ % readsPerStep == 0) *energy += stepMillijoules;
        return energy;
    }

private:
    mutable int reads_ = 0;
};
} // namespace

class TestGpuMonitor : public QObject
{
    Q_OBJECT

private slots:
    void idleAndChosenClocksAreNoThrottling()
    {
        QVERIFY(throttlingAmong(0).empty());
        QVERIFY(throttlingAmong(idle | clocksSet).empty());
        QCOMPARE(throttlingAmong(powerCap | idle), std::vector<std::string>{"power cap"});
        QCOMPARE(throttlingAmong(temperature | powerCap),
                 (std::vector<std::string>{"power cap", "temperature"}));
    }

    void throttledSamplesAreLeftOut()
    {
        ScriptedMonitor monitor;
        ConditionsLog log(&monitor, "");
        log.begin();
        for (int i = 0; i < 12; ++i) {
            monitor.current = {1980.0, i == 3 ? powerCap : std::uint64_t{0}};
            log.afterSample();
        }
        log.end();
        const std::vector<bool> counted = log.counted(10);
        QCOMPARE(std::count(counted.begin(), counted.end(), true), 11);
        QVERIFY(!counted[3]);
        QCOMPARE(log.conditions().throttledSamples, 1);
        QCOMPARE(log.conditions().throttleReasons, std::vector<std::string>{"power cap"});
        QCOMPARE(log.conditions().smClockMhz.value(), 1980.0);
    }

    void aGpuThatIsThrottledAllTheTimeIsMeasuredAllTheSame()
    {
        ScriptedMonitor monitor;
        monitor.current = {1200.0, temperature};
        ConditionsLog log(&monitor, "");
        for (int i = 0; i < 12; ++i)
            log.afterSample();
        const std::vector<bool> counted = log.counted(10);
        QCOMPARE(std::count(counted.begin(), counted.end(), true), 12);
        QCOMPARE(log.conditions().throttledSamples, 12);
    }

    void withoutAMonitorEverySampleCountsAndTheReasonIsKept()
    {
        ConditionsLog log(nullptr, "no NVML here");
        log.begin();
        log.afterSample();
        log.end();
        QCOMPARE(log.counted(0), std::vector<bool>{true});
        const MeasuringConditions conditions = log.conditions();
        QCOMPARE(conditions.note, std::string("no NVML here"));
        QVERIFY(!conditions.smClockMhz && !conditions.powerWatts && !conditions.temperatureCelsius);
    }

    void powerAndTemperatureAreThoseUnderLoad()
    {
        ScriptedMonitor monitor;
        monitor.currentState = {3201.0, 90.0, 30.0};
        ConditionsLog log(&monitor, "");
        log.begin();
        monitor.currentState = {3201.0, 410.0, 45.0};
        log.end();
        QCOMPARE(log.conditions().powerWatts.value(), 410.0);
        QCOMPARE(log.conditions().temperatureCelsius.value(), 45.0);
        QCOMPARE(log.conditions().memoryClockMhz.value(), 3201.0);
    }

    void energyIsCountedBetweenTwoStepsOfTheMeter()
    {
        // The meter moves by 30 J every third reading, so exactly 3 batches of 100 calls lie between two
        // steps.
        ScriptedMonitor monitor;
        monitor.energy = 5e6;
        monitor.stepMillijoules = 30000;
        const auto energy = meterEnergy(
            monitor, []() -> Result<int> { return 100; }, std::chrono::seconds(10));
        QVERIFY2(energy.has_value(), energy ? "" : energy.error().message.c_str());
        QCOMPARE(*energy, 100.0);
    }

    void aMeterThatStandsStillGivesNoNumber()
    {
        ScriptedMonitor monitor;
        monitor.energy = 5e6;
        const auto energy = meterEnergy(
            monitor, []() -> Result<int> { return 1; }, std::chrono::milliseconds(5));
        QVERIFY(!energy);
        QCOMPARE(energy.error().code, ErrorCode::NotSupported);
    }

    void aGpuWithoutMeterSaysSo()
    {
        const auto energy = meterEnergy(
            ScriptedMonitor(), []() -> Result<int> { return 1; }, std::chrono::seconds(1));
        QVERIFY(!energy);
        QVERIFY(energy.error().message.find("no energy meter") != std::string::npos);
    }

    void aFailureOfTheWorkIsPassedOn()
    {
        ScriptedMonitor monitor;
        monitor.energy = 1;
        const auto energy = meterEnergy(
            monitor, []() -> Result<int> { return fail(ErrorCode::DeviceFailure, "illegal address"); },
            std::chrono::seconds(1));
        QVERIFY(!energy);
        QCOMPARE(energy.error().code, ErrorCode::DeviceFailure);
    }

    void uuidsAreWrittenAsNvmlKnowsThem()
    {
        std::array<unsigned char, 16> uuid{};
        for (std::size_t i = 0; i < uuid.size(); ++i)
            uuid[i] = static_cast<unsigned char>(i * 17);
        QCOMPARE(nvmlUuidText(uuid), std::string("GPU-00112233-4455-6677-8899-aabbccddeeff"));
    }

    void withoutNvmlTheReasonIsASentence()
    {
        const auto monitor = openNvmlMonitor({});
        QVERIFY(!monitor);
        QCOMPARE(monitor.error().code, ErrorCode::NotSupported);
        QVERIFY(monitor.error().message.find("clocks, power and throttling are unknown") !=
                std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestGpuMonitor)
#include "test_gpu_monitor.moc"
