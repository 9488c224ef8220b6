// SPDX-License-Identifier: GPL-3.0-or-later
// What a device's kernels draw and judge is what the host draws and judges, bit for bit: on the simulator
// here, and, compiled once more, on a GPU.
#include "../../exploits/kernel_sources.h"
#include "engine/verify/bench_kernels.h"
#include "engine/verify/comparison.h"
#include "engine/verify/evaluator.h"
#include "engine/verify/input_generator.h"
#include "sample_tasks.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace kernelwright;

namespace
{

constexpr std::array allTypes{DType::Float64, DType::Float32, DType::Float16, DType::BFloat16, DType::Int64,
                              DType::Int32,   DType::Int16,   DType::Int8,    DType::UInt8,    DType::Bool};
constexpr std::array allPatterns{
    InputPattern::LikeCaptured, InputPattern::MixedScale,    InputPattern::AllEqual,
    InputPattern::Zeros,        InputPattern::LargeNegative, InputPattern::NearMaximum,
    InputPattern::Denormals,    InputPattern::Infinities,    InputPattern::NotANumbers};

HostTensor tensorOf(DType dtype, const std::vector<double> &values)
{
    HostTensor tensor = makeHostTensor(dtype, {std::int64_t(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i)
        storeElement(tensor.data() + i * dtypeSize(dtype), dtype, values[i]);
    return tensor;
}

std::span<const std::byte> bytesOf(const HostTensor &tensor)
{
    return {tensor.data(), std::size_t(tensor.type.byteCount())};
}

/// An output as a judge meets them: what float64 gives, what eager gives, what a candidate gives.
struct Judged
{
    HostTensor exact, eager, got;
};

/// `scenario` names what the candidate does.
Judged judged(DType dtype, const std::string &scenario, int count)
{
    std::vector<double> exact, eager, got;
    const double scale = isFloating(dtype) ? 3 : 50;
    for (int i = 0; i < count; ++i) {
        const double right = scale * std::sin(0.37 * i) * std::exp(-0.0007 * i);
        exact.push_back(right);
        eager.push_back(right * (1 + 2e-7 * std::cos(1.3 * i)));
        got.push_back(right * (1 - 1e-7 * std::cos(0.7 * i)));
    }
    const auto at = [count](double share) { return std::size_t(share * (count - 1)); };
    if (scenario == "one element off") got[at(0.7)] += 0.3 + std::fabs(got[at(0.7)]);
    if (scenario == "worse and worse")
        for (int i = 0; i < count; ++i)
            got[std::size_t(i)] *= 1 + 1e-6 * i;
    if (scenario == "not numbers") {
        exact[at(0.2)] = eager[at(0.2)] = got[at(0.2)] = std::numeric_limits<double>::quiet_NaN();
        got[at(0.5)] = std::numeric_limits<double>::quiet_NaN();
        exact[at(0.9)] = eager[at(0.9)] = std::numeric_limits<double>::quiet_NaN();
    }
    if (scenario == "at the edge" && isFloating(dtype)) {
        const double edge = largestFinite(dtype), infinity = std::numeric_limits<double>::infinity();
        exact[at(0.1)] = edge, eager[at(0.1)] = edge, got[at(0.1)] = infinity;
        exact[at(0.4)] = -infinity, eager[at(0.4)] = -infinity, got[at(0.4)] = -edge;
        exact[at(0.8)] = 1, eager[at(0.8)] = infinity, got[at(0.8)] = -7;
    }
    if (scenario == "zeros") std::fill(exact.begin(), exact.end(), 0.0), eager = exact, got[at(0.3)] = 1e-30;
    if (!isFloating(dtype))
        for (auto *values : {&exact, &eager})
            for (double &value : *values)
                value = std::isfinite(value) ? std::nearbyint(value) : 0;
    const DType exactType = isFloating(dtype) ? DType::Float64 : dtype;
    return {tensorOf(exactType, exact), tensorOf(dtype, eager), tensorOf(dtype, got)};
}

bool sameBits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

} // namespace

class TestJudging : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void drawnInputsAreTheHosts_data();
    void drawnInputsAreTheHosts();
    void judgementsAreTheHosts_data();
    void judgementsAreTheHosts();
    void theFirstDifferenceIsFound();
    void theFirstUnwrittenElementIsFound();
    void evaluationsAreTheHosts_data();
    void evaluationsAreTheHosts();

private:
    std::unique_ptr<DeviceMemory> upload(const HostTensor &tensor)
    {
        auto memory = device_->allocate(std::max<std::int64_t>(1, tensor.type.byteCount()), "a tensor");
        if (!memory) qFatal("%s", memory.error().message.c_str());
        if (const auto written = device_->write(**memory, 0, bytesOf(tensor)); !written)
            qFatal("%s", written.error().message.c_str());
        return std::move(*memory);
    }
    std::unique_ptr<Device> device_;
    std::shared_ptr<BenchKernels> kernels_;
};

void TestJudging::initTestCase()
{
    auto device = openDevice(KERNELWRIGHT_TEST_DEVICE);
    if (!device && std::string(KERNELWRIGHT_TEST_DEVICE) != "simt") QSKIP("skipped: no GPU");
    QVERIFY2(device.has_value(), device ? "" : device.error().message.c_str());
    device_ = std::move(*device);
    auto kernels = BenchKernels::load(*device_);
    QVERIFY2(kernels.has_value(), kernels ? "" : kernels.error().message.c_str());
    kernels_ = std::move(*kernels);
}

void TestJudging::drawnInputsAreTheHosts_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("pattern");
    for (const DType dtype : allTypes)
        for (const InputPattern pattern : allPatterns)
            QTest::addRow("%s, %s", dtypeName(dtype), inputPatternName(pattern))
                << int(dtype) << int(pattern);
}

void TestJudging::drawnInputsAreTheHosts()
{
    QFETCH(int, dtype);
    QFETCH(int, pattern);
    for (const std::vector<double> &captured :
         {std::vector<double>{0.5, -1.25, 2, 3.5, -0.75, 1, 7, -2, 0.25, 4, 5, 6, -3, -4, -5, 8, 9, 10},
          std::vector<double>{0, 1, 1, 0}, std::vector<double>(5, 0.125)}) {
        Task task;
        const HostTensor real = tensorOf(DType(dtype), captured);
        const TensorType type = contiguousType(DType(dtype), {5003});
        task.inputs = {{"x", "x", type, false}};
        const InputRules rules(task, std::vector<HostTensor>{real});
        const InputRule rule =
            rules.rule(0, type, {InputPattern(pattern), WeightChoice::Captured, 77, false});
        const HostTensor host = makeInput(rule, type);
        const auto memory = upload(makeHostTensor(DType(dtype), type.sizes));
        const auto drawn = kernels_->draw(memory->address(), type.elementCount(), rule.draw);
        QVERIFY2(drawn.has_value(), drawn ? "" : drawn.error().message.c_str());
        HostTensor device = makeHostTensor(DType(dtype), type.sizes);
        QVERIFY(device_->read(*memory, 0, {device.data(), std::size_t(type.byteCount())}));
        const auto difference = firstDifference(host, device);
        QVERIFY2(!difference, difference ? std::to_string(*difference).c_str() : "");
    }
}

void TestJudging::judgementsAreTheHosts_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("scenario");
    for (const DType dtype : allTypes)
        for (const char *scenario :
             {"right", "one element off", "worse and worse", "not numbers", "at the edge", "zeros"})
            QTest::addRow("%s, %s", dtypeName(dtype), scenario) << int(dtype) << scenario;
}

void TestJudging::judgementsAreTheHosts()
{
    QFETCH(int, dtype);
    QFETCH(QString, scenario);
    for (const int count : {1, 4096, 10007}) {
        const Judged output = judged(DType(dtype), scenario.toStdString(), count);
        const auto exact = upload(output.exact), eager = upload(output.eager), got = upload(output.got);
        const OutputComparison host =
            compareOutput("y", "case", output.got, {output.exact, output.eager}, {});
        const auto device = kernels_->judge(DType(dtype), got->address(), exact->address(),
                                            output.exact.type.dtype, eager->address(), count, {});
        QVERIFY2(device.has_value(), device ? "" : device.error().message.c_str());
        QCOMPARE(device->wrongElements, host.wrongElements);
        QVERIFY2(sameBits(device->maxError, host.maxError), std::to_string(device->maxError).c_str());
        QVERIFY(sameBits(device->eagerMaxError, host.eagerMaxError));
        QCOMPARE(device->worst.has_value(), host.worst.has_value());
        if (host.worst) QCOMPARE(*device->worst, host.worst->index.front());
        if (!isFloating(DType(dtype))) continue;
        const AllowedError allowed(DType(dtype), toDoubles(output.exact), toDoubles(output.eager), {});
        QVERIFY(sameBits(device->bound.rms, allowed.scale()));
        QVERIFY(sameBits(device->bound.excess, allowed.excess()));
        if (host.worst && std::isfinite(host.worst->expected))
            QVERIFY(
                sameBits(formula::allowedError(device->bound, elementAsDouble(output.exact, *device->worst)),
                         host.worst->allowed));
    }
}

void TestJudging::theFirstDifferenceIsFound()
{
    for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::Int8}) {
        const HostTensor left = tensorOf(dtype, std::vector<double>(9001, 1));
        HostTensor right = tensorOf(dtype, std::vector<double>(9001, 1));
        const auto onDevice = [&] {
            const auto a = upload(left), b = upload(right);
            return kernels_->firstDifference(a->address(), b->address(), dtypeSize(dtype), 9001).value();
        };
        QCOMPARE(onDevice(), std::optional<std::int64_t>());
        storeElement(right.data() + 8999 * dtypeSize(dtype), dtype, 2);
        QCOMPARE(onDevice(), std::optional<std::int64_t>(8999));
        storeElement(right.data() + 4100 * dtypeSize(dtype), dtype, 2);
        QCOMPARE(onDevice(), std::optional<std::int64_t>(4100));
    }
}

void TestJudging::theFirstUnwrittenElementIsFound()
{
    HostTensor first = tensorOf(DType::Float32, std::vector<double>(5000, 1));
    HostTensor second = tensorOf(DType::Float32, std::vector<double>(5000, 1));
    const auto onDevice = [&] {
        const auto a = upload(first), b = upload(second);
        return kernels_->firstUnwritten(a->address(), 0xFF, b->address(), 0x4B, 4, 5000).value();
    };
    std::memset(first.data() + 4 * 17, 0xFF, 4); // a NaN that was meant
    QCOMPARE(onDevice(), std::optional<std::int64_t>());
    std::memset(first.data() + 4 * 4500, 0xFF, 4);
    std::memset(second.data() + 4 * 4500, 0x4B, 4);
    QCOMPARE(onDevice(), std::optional<std::int64_t>(4500));
}

void TestJudging::evaluationsAreTheHosts_data()
{
    using namespace exploits;
    QTest::addColumn<QString>("task");
    QTest::addColumn<QString>("source");
    const auto row = [](const char *name, const char *task, const std::string &source) {
        QTest::newRow(name) << task << QString::fromStdString(source);
    };
    row("honest", "softmax", softmax(honestSoftmax));
    row("writes zeros", "softmax",
        softmax("{ for (int c = threadIdx.x; c < x_size1; c += 64) y[blockIdx.x * x_size1 + c] = 0; }\n"));
    row("leaves out the last row", "softmax", softmaxIf("blockIdx.x + 1 < gridDim.x", ""));
    row("turns NaN into numbers", "softmax",
        softmax(replaced(honestSoftmax, "out[c] = (float)(expf(row[c] - largest) / sum)",
                         "out[c] = sum == sum ? (float)(expf(row[c] - largest) / sum) : 0.025f")));
    row("knows the captured input", "bias",
        scaleBiasRelu("x[1] == 1.3884354f ? x[i] * scale[c] + bias[c] : x[i]"));
    row("changes its input", "bias",
        replaced(scaleBiasRelu("x[i] * scale[c] + bias[c]"),
                 "    y[i] =", "    const_cast<float *>(x)[i] = value;\n    y[i] ="));
    row("honest bias", "bias", scaleBiasRelu("x[i] * scale[c] + bias[c]"));
}

void TestJudging::evaluationsAreTheHosts()
{
    QFETCH(QString, task);
    QFETCH(QString, source);
    const PreparedTask prepared = samples::prepared(task == "softmax" ? samples::softmaxTask(6, 40)
                                                                      : samples::scaleBiasReluTask(4, 24));
    const auto evaluate = [&](EvaluatorOptions::Bench bench) {
        EvaluatorOptions options;
        options.seed = 11;
        options.bench = bench;
        options.benchKernels = kernels_;
        auto evaluator = Evaluator::create(prepared, *device_, options);
        if (!evaluator) qFatal("%s", evaluator.error().message.c_str());
        EvaluationRequest request;
        request.source = source.toStdString();
        request.stages = {"compile", "smoke", "shapes", "numerics", "determinism", "memory"};
        return (*evaluator)->evaluate(request);
    };
    const Evaluation host = evaluate(EvaluatorOptions::Bench::Host);
    const Evaluation device = evaluate(EvaluatorOptions::Bench::Device);
    QCOMPARE(QString(verdictName(device.verdict)), QString(verdictName(host.verdict)));
    QCOMPARE(QString::fromStdString(device.reason), QString::fromStdString(host.reason));
    QCOMPARE(device.stages.size(), host.stages.size());
    // But for the compiler's own words, which NVRTC leaves out for what it has compiled before.
    for (std::size_t i = 1; i < host.stages.size(); ++i)
        QCOMPARE(QString::fromStdString(device.stages[i].message),
                 QString::fromStdString(host.stages[i].message));
}

QTEST_APPLESS_MAIN(TestJudging)
#include "test_bench.moc"
