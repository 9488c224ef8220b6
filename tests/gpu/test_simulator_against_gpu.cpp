// SPDX-License-Identifier: GPL-3.0-or-later
// The simulator against the hardware: the same kernels, the same inputs; outputs bit for bit where IEEE says
// so, sectors and bank conflicts against CUPTI's counters, modelled times beside measured ones. What was
// found goes as a table into the folder $OUT, or $KERNELWRIGHT_RESULTS, where one is named. With
// KERNELWRIGHT_SIMULATOR_ALONE set, and no GPU, the kernels run on the simulator with all its checks.
#include "base/json.h"
#include "comparison_kernels.h"
#include "engine/compile/compiler.h"
#include "engine/device/cuda/cuda_context.h"
#include "engine/device/cuda/cuda_device.h"
#include "engine/device/cuda/cupti_api.h"
#include "engine/device/cuda/range_profiler.h"
#include "engine/device/simt/simt_device.h"
#include "word_comparison.h"

#include <QDateTime>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

using namespace kernelwright;

namespace
{

/// Ours and CUPTI's name for the same count.
struct ComparedCounter
{
    const char *name, *cupti, *gate; ///< gate: the requests that have to agree for sectors to be comparable
};
constexpr ComparedCounter comparedCounters[] = {
    {"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global_load_requests"},
    {"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global_load_requests"},
    {"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global_store_requests"},
    {"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global_store_requests"},
    {"shared_load_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", ""},
    {"shared_store_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", ""},
};

template <class T>
std::vector<std::byte> argument(T value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// A device with a kernel's program and buffers on it.
struct Loaded
{
    Device *device = nullptr;
    std::unique_ptr<DeviceModule> module;
    std::unique_ptr<DeviceMemory> x, y;
    DeviceLaunch launch;

    Result<void> reset() { return device->fill(*y, 0, false); }
};

Result<Loaded> loadOn(Device &device, const CompiledProgram &program, const ComparisonKernel &kernel,
                      const std::vector<std::uint32_t> &input)
{
    Loaded loaded;
    loaded.device = &device;
    auto module = device.load(program);
    if (!module) return forward(module.error());
    loaded.module = std::move(*module);
    auto x = device.allocate(comparisonWords * 4, "x"), y = device.allocate(comparisonWords * 8, "y");
    if (!x) return forward(x.error());
    if (!y) return forward(y.error());
    loaded.x = std::move(*x);
    loaded.y = std::move(*y);
    if (auto done = device.write(*loaded.x, 0, std::as_bytes(std::span(input))); !done)
        return forward(done.error());
    loaded.launch = {
        "k",
        {kernel.grid, 1, 1},
        {kernel.block, 1, 1},
        kernel.sharedBytes,
        {argument(loaded.x->address()), argument(loaded.y->address()), argument(comparisonWords)}};
    if (auto done = loaded.reset(); !done) return forward(done.error());
    return loaded;
}

Result<std::vector<std::uint32_t>> outputOf(Loaded &loaded)
{
    RunOptions options;
    options.timeout = std::chrono::minutes(1);
    if (auto done = loaded.device->run(*loaded.module, {&loaded.launch, 1}, options); !done)
        return forward(done.error());
    std::vector<std::uint32_t> words(comparisonWords * 2);
    if (auto done = loaded.device->read(*loaded.y, 0, std::as_writable_bytes(std::span(words))); !done)
        return forward(done.error());
    return words;
}

} // namespace

class SimulatorAgainstGpuTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void bothAgree_data();
    void bothAgree();
    void cleanupTestCase();

private:
    void compareCounters(const ComparisonKernel &kernel, Loaded &gpu, Loaded &simulated, Json &row);
    void runAlone(const CompiledProgram &program, const ComparisonKernel &kernel);
    void compareTimes(Loaded &gpu, Loaded &simulated, Json &row);
    void writeTable() const;

    std::unique_ptr<Device> gpu_, simulator_;
    std::shared_ptr<cuda::CudaContext> context_;
    std::unique_ptr<cuda::RangeProfiler> profiler_;
    std::string profilerNote_;
    std::vector<std::uint32_t> input_ = comparisonInput();
    Json rows_ = Json::array();
    std::vector<double> measured_, modelled_;
};

void SimulatorAgainstGpuTest::initTestCase()
{
    auto simulator = openSimtDevice("h200");
    QVERIFY2(simulator, simulator ? "" : simulator.error().message.c_str());
    simulator_ = std::move(*simulator);
    if (listCudaDevices().empty()) {
        if (qEnvironmentVariableIsSet("KERNELWRIGHT_SIMULATOR_ALONE")) return;
        QSKIP("skipped: no GPU");
    }
    auto gpu = openCudaDevice(0);
    QVERIFY2(gpu, gpu ? "" : gpu.error().message.c_str());
    gpu_ = std::move(*gpu);
    const auto driver = cuda::DriverApi::load();
    QVERIFY(driver);
    auto context = cuda::CudaContext::open(*driver, 0);
    QVERIFY(context);
    context_ = *context;
}

void SimulatorAgainstGpuTest::bothAgree_data()
{
    QTest::addColumn<int>("index");
    const auto &kernels = comparisonKernels();
    for (std::size_t i = 0; i < kernels.size(); ++i)
        QTest::newRow(kernels[i].name) << static_cast<int>(i);
}

void SimulatorAgainstGpuTest::compareCounters(const ComparisonKernel &, Loaded &gpu, Loaded &simulated,
                                              Json &row)
{
    const auto counted = simulator_->countersOf(*simulated.module, {&simulated.launch, 1}, {});
    QVERIFY2(counted, counted ? "" : counted.error().message.c_str());
    if (!profiler_ && profilerNote_.empty()) {
        const auto api = cuda::CuptiApi::load();
        auto profiler = api ? cuda::RangeProfiler::create(*api, context_->handle(), 0)
                            : Result<std::unique_ptr<cuda::RangeProfiler>>(tl::unexpected(api.error()));
        if (profiler)
            profiler_ = std::move(*profiler);
        else
            profilerNote_ = profiler.error().message;
    }
    if (!profiler_) {
        row["counters_note"] = profilerNote_;
        return;
    }
    std::vector<std::string> wanted;
    for (const ComparedCounter &counter : comparedCounters)
        wanted.push_back(counter.cupti);
    const auto selection = profiler_->choose(wanted, 0);
    QVERIFY2(selection, selection ? "" : selection.error().message.c_str());
    QVERIFY(gpu.reset());
    const auto collected = profiler_->collect(**selection, 1, [&]() -> Result<void> {
        return gpu.device->run(*gpu.module, {&gpu.launch, 1}, {});
    });
    QVERIFY2(collected, collected ? "" : collected.error().message.c_str());
    QVERIFY(!collected->empty());
    const cuda::CounterValues &hardware = collected->front();
    Json counters = Json::object();
    QStringList wrong;
    const auto simulatedCount = [&](const std::string &name) { return counted->metrics.at(name).value; };
    for (const ComparedCounter &counter : comparedCounters) {
        const auto found = hardware.find(counter.cupti);
        if (found == hardware.end()) continue;
        const double ours = simulatedCount(counter.name);
        Json entry{{"gpu", found->second}, {"simulator", ours}, {"agrees", isClose(found->second, ours)}};
        if (!isClose(found->second, ours)) {
            const ComparedCounter *gate = nullptr;
            for (const ComparedCounter &other : comparedCounters)
                if (std::string(other.name) == counter.gate) gate = &other;
            const bool isKept = gate && isClose(hardware.at(gate->cupti), simulatedCount(gate->name));
            entry["reason"] = isKept ? "unexplained"
                              : gate ? "the assembler changed the memory instructions"
                                     : "the hardware counts other turns of the banks too";
            if (isKept) wrong << QString::fromLatin1(counter.name);
        }
        counters[counter.name] = entry;
    }
    row["counters"] = counters;
    row["counters_wrong"] = wrong.join(", ").toStdString();
}

void SimulatorAgainstGpuTest::compareTimes(Loaded &gpu, Loaded &simulated, Json &row)
{
    const TimedWork onGpu{"k", [&] { return gpu.device->enqueue(*gpu.module, {&gpu.launch, 1}); }};
    const TimedWork onSimulator{
        "k", [&] {
            return simulated.device->enqueue(*simulated.module, {&simulated.launch, 1});
        }};
    const auto measured = gpu_->timeInterleaved({&onGpu, 1}, {});
    const auto modelled = simulator_->timeInterleaved({&onSimulator, 1}, {});
    QVERIFY2(measured, measured ? "" : measured.error().message.c_str());
    QVERIFY2(modelled, modelled ? "" : modelled.error().message.c_str());
    std::vector<double> samples;
    for (const TimeSample &sample : measured->samples.front())
        samples.push_back(sample.sumUs);
    QVERIFY(!samples.empty());
    std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2),
                     samples.end());
    measured_.push_back(samples[samples.size() / 2]);
    modelled_.push_back(modelled->samples.front().front().sumUs);
    row["measured_us"] = measured_.back();
    row["modelled_us"] = modelled_.back();
}

void SimulatorAgainstGpuTest::runAlone(const CompiledProgram &program, const ComparisonKernel &kernel)
{
    auto simulated = loadOn(*simulator_, program, kernel, input_);
    if (!simulated && simulated.error().code == ErrorCode::NotSupported && kernel.isMatrix)
        QSKIP(simulated.error().message.c_str());
    QVERIFY2(simulated, simulated ? "" : simulated.error().message.c_str());
    RunOptions options;
    options.allChecks = true;
    options.timeout = std::chrono::minutes(2);
    const auto done = simulator_->run(*simulated->module, {&simulated->launch, 1}, options);
    QVERIFY2(done, done ? "" : done.error().message.c_str());
}

void SimulatorAgainstGpuTest::bothAgree()
{
    QFETCH(int, index);
    const ComparisonKernel &kernel = comparisonKernels()[static_cast<std::size_t>(index)];
    Json row{{"kernel", kernel.name}};
    CompileRequest request;
    request.source = sourceOf(kernel);
    request.architecture = (gpu_ ? *gpu_ : *simulator_).info().architecture;
    const auto compiled = compileCandidate(request);
    QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
    QVERIFY2(compiled->succeeded, compiled->program.report.log.c_str());
    if (!gpu_) return runAlone(compiled->program, kernel);
    auto gpu = loadOn(*gpu_, compiled->program, kernel, input_);
    QVERIFY2(gpu, gpu ? "" : gpu.error().message.c_str());
    auto simulated = loadOn(*simulator_, compiled->program, kernel, input_);
    if (!simulated && simulated.error().code == ErrorCode::NotSupported && kernel.isMatrix) {
        row["note"] = simulated.error().message;
        rows_.push_back(row);
        QSKIP(simulated.error().message.c_str());
    }
    QVERIFY2(simulated, simulated ? "" : simulated.error().message.c_str());
    const auto gpuWords = outputOf(*gpu), simulatedWords = outputOf(*simulated);
    QVERIFY2(gpuWords, gpuWords ? "" : gpuWords.error().message.c_str());
    QVERIFY2(simulatedWords, simulatedWords ? "" : simulatedWords.error().message.c_str());
    const Difference difference = compare(kernel, *gpuWords, *simulatedWords);
    row["different_words"] = difference.count;
    row["worst_ulps"] = realToJson(difference.worst);
    row["allowed_ulps"] = kernel.ulps;
    compareTimes(*gpu, *simulated, row);
    compareCounters(kernel, *gpu, *simulated, row);
    rows_.push_back(row);
    const std::size_t first = difference.first;
    QVERIFY2(difference.count == 0,
             qPrintable(QString("%1 words differ, the first at %2: 0x%3 on the GPU, 0x%4 on the simulator")
                            .arg(difference.count)
                            .arg(first)
                            .arg((*gpuWords)[first], 8, 16, QChar('0'))
                            .arg((*simulatedWords)[first], 8, 16, QChar('0'))));
    if (row.contains("counters_wrong"))
        QVERIFY2(row.at("counters_wrong").get<std::string>().empty(),
                 (row.at("counters_wrong").get<std::string>() + ": " + row.at("counters").dump()).c_str());
}

void SimulatorAgainstGpuTest::writeTable() const
{
    QByteArray folder = qgetenv("KERNELWRIGHT_RESULTS");
    if (folder.isEmpty()) folder = qgetenv("OUT");
    if (folder.isEmpty()) return;
    const std::string stem = folder.toStdString() + "/simulator_against_gpu";
    const Json all{{"device", gpu_->info().name},
                   {"date", QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString()},
                   {"spearman_of_times", spearman(measured_, modelled_)},
                   {"kernels", rows_}};
    std::ofstream(stem + ".json") << all.dump(1) << "\n";
    std::ofstream table(stem + ".md");
    table << "# Simulator against " << gpu_->info().name << ", " << all.at("date").get<std::string>()
          << "\n\n"
          << "| kernel | words that differ | worst ulps | measured us | modelled us |";
    for (const ComparedCounter &counter : comparedCounters)
        table << " " << counter.name << " (GPU / simulator) |";
    table << "\n|";
    for (std::size_t column = 0; column < 5 + std::size(comparedCounters); ++column)
        table << " --- |";
    table << "\n";
    for (const Json &row : rows_) {
        table << "| " << row.at("kernel").get<std::string>() << " | ";
        if (row.contains("note")) {
            table << row.at("note").get<std::string>() << " |\n";
            continue;
        }
        table << row.at("different_words") << " | " << row.at("worst_ulps") << " | "
              << row.value("measured_us", 0.0) << " | " << row.value("modelled_us", 0.0) << " |";
        for (const ComparedCounter &counter : comparedCounters) {
            if (!row.contains("counters") || !row.at("counters").contains(counter.name)) {
                table << " |";
                continue;
            }
            const Json &entry = row.at("counters").at(counter.name);
            table << " " << entry.at("gpu").get<double>() << " / " << entry.at("simulator").get<double>()
                  << (entry.at("agrees").get<bool>() ? ""
                                                     : " (" + entry.at("reason").get<std::string>() + ")")
                  << " |";
        }
        table << "\n";
    }
}

void SimulatorAgainstGpuTest::cleanupTestCase()
{
    if (!gpu_) return;
    qInfo("times: Spearman %.3f over %zu kernels", spearman(measured_, modelled_), measured_.size());
    writeTable();
}

QTEST_GUILESS_MAIN(SimulatorAgainstGpuTest)
#include "test_simulator_against_gpu.moc"
