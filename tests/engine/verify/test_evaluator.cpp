// SPDX-License-Identifier: GPL-3.0-or-later
// The evaluator on a device whose kernels are functions of the test. Each cheat here is one that the verdict
// must see through, whatever device it would run on.
#include "cheating_kernels.h"
#include "host_device.h"
#include "sample_tasks.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace kernelwright;
using samples::honest;
using samples::HostDevice;
using samples::KernelArguments;

namespace
{

const char *const softmaxSource =
    "//@ kernel softmax grid=x_size0 block=32\n"
    "extern \"C\" __global__ void softmax(const float *x, float *y, int x_size0, int x_size1) {}\n";

std::string stageOf(const Evaluation &evaluation, StageStatus status)
{
    for (const StageResult &stage : evaluation.stages)
        if (stage.status == status) return stage.name;
    return {};
}

} // namespace

class TestEvaluator : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void anHonestKernelPassesEveryStage();
    void theSlowerKernelIsCalledSlower();
    void withinOnePercentIsAmbiguous();
    void belowTheFloorIsSuspicious();
    void aCompileErrorHasItsPlace();
    void aPlanErrorHasItsPlace();
    void anUnresolvablePlanIsALaunchError();
    void cheatsAreSeenThrough_data();
    void cheatsAreSeenThrough();
    void deviceErrorsBecomeVerdicts_data();
    void deviceErrorsBecomeVerdicts();
    void gpuFaultsHaveTheirSentences_data();
    void gpuFaultsHaveTheirSentences();
    void oneAbsurdSampleChangesNothing();
    void moreKernelsThanThePlanAreSuspicious();
    void reducedPrecisionIsWrittenBesideTheNumber();
    void everyTimedCallHasInputsThatNoneHadBefore();
    void stagesLeftOutClaimNothing();
    void cancellingStopsBetweenStages();
    void stagesAreReportedAsTheyHappen();
    void eachEvaluationLoadsTheProgramAnew();
    void aTaskThatCannotFailVerifiesNothing();
    void redrawnWeightsCatchBakedInWeights();

private:
    Evaluation evaluate(HostDevice &device, const std::string &source = softmaxSource,
                        std::set<std::string> stages = {})
    {
        EvaluatorOptions options;
        options.seed = 3; // what a cheat is refused for must not depend on luck
        auto evaluator = Evaluator::create(softmax_, device, options);
        if (!evaluator) qFatal("%s", evaluator.error().message.c_str());
        EvaluationRequest request;
        request.source = source;
        request.stages = std::move(stages);
        return (*evaluator)->evaluate(request);
    }
    PreparedTask softmax_;
};

void TestEvaluator::initTestCase()
{
    softmax_ = samples::prepared(samples::softmaxTask(6, 40));
}

void TestEvaluator::anHonestKernelPassesEveryStage()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 1;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Faster, evaluation.reason.c_str());
    QCOMPARE(evaluation.stages.size(), std::size_t{9});
    for (const StageResult &stage : evaluation.stages)
        QVERIFY2(stage.status == (stage.name == "dtypes" ? StageStatus::Skipped : StageStatus::Passed),
                 stage.name.c_str());
    QVERIFY(evaluation.latency.medianUs > 0.99 && evaluation.latency.medianUs < 1.01);
    QCOMPARE(evaluation.baselines.size(), std::size_t{1});
    QVERIFY(evaluation.speedup > 1);
    QCOMPARE(evaluation.metrics.at("achieved_occupancy").value, 50.0);
    QVERIFY(!evaluation.worst.has_value());
}

void TestEvaluator::theSlowerKernelIsCalledSlower()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 1000;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Slower, evaluation.reason.c_str());
    QVERIFY(evaluation.speedup < 1);
}

void TestEvaluator::withinOnePercentIsAmbiguous()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 10;
    const Evaluation first = evaluate(device);
    QVERIFY2(!first.baselines.empty(), first.reason.c_str());
    const double eager = first.baselines.front().latency.medianUs;
    device.times["candidate"] = eager * 0.995;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Ambiguous, evaluation.reason.c_str());
}

void TestEvaluator::belowTheFloorIsSuspicious()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 1e-9;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Suspicious, evaluation.reason.c_str());
    QVERIFY(evaluation.reason.find("floor") != std::string::npos);
}

void TestEvaluator::aCompileErrorHasItsPlace()
{
    HostDevice device;
    const Evaluation evaluation = evaluate(
        device,
        "//@ kernel k grid=1 block=1\nextern \"C\" __global__ void k(float *y) {\n    y[0] = what;\n}\n");
    QVERIFY(evaluation.verdict == Verdict::CompileError);
    QVERIFY2(evaluation.reason.find("line 3, column 12") != std::string::npos, evaluation.reason.c_str());
    QCOMPARE(evaluation.stages.size(), std::size_t{1});
    QCOMPARE(evaluation.compile.diagnostics.front().line, 3);
}

void TestEvaluator::aPlanErrorHasItsPlace()
{
    HostDevice device;
    const Evaluation evaluation =
        evaluate(device, "//@ kernel\nextern \"C\" __global__ void k(float *y) {}\n");
    QVERIFY(evaluation.verdict == Verdict::CompileError);
    QVERIFY2(evaluation.reason.find("line 1") != std::string::npos, evaluation.reason.c_str());
}

void TestEvaluator::anUnresolvablePlanIsALaunchError()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    for (const char *grid : {"1/0", "x_size0*1e30", "0-5", "nothing"}) {
        std::string source = softmaxSource;
        source.replace(source.find("x_size0 block"), 7, grid);
        const Evaluation evaluation = evaluate(device, source);
        QVERIFY2(evaluation.verdict == Verdict::LaunchError || evaluation.verdict == Verdict::CompileError,
                 grid);
        QCOMPARE(device.runs, 0);
    }
}

void TestEvaluator::cheatsAreSeenThrough_data()
{
    QTest::addColumn<int>("index");
    HostDevice device;
    const std::vector<samples::Cheat> all = samples::cheats(device);
    for (std::size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].name) << int(i);
}

void TestEvaluator::cheatsAreSeenThrough()
{
    QFETCH(int, index);
    HostDevice device;
    device.times["candidate"] = 1;
    const samples::Cheat cheat = samples::cheats(device)[std::size_t(index)];
    device.kernels["softmax"] = cheat.kernel;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(!isCorrect(evaluation.verdict), evaluation.reason.c_str());
    QVERIFY2(evaluation.verdict == Verdict::Incorrect || evaluation.verdict == Verdict::Crash,
             evaluation.reason.c_str());
    const std::string failed = stageOf(evaluation, StageStatus::Failed);
    QVERIFY2(std::string(cheat.stage).find(failed) != std::string::npos,
             (failed + ": " + evaluation.reason).c_str());
}

void TestEvaluator::deviceErrorsBecomeVerdicts_data()
{
    QTest::addColumn<int>("code");
    QTest::addColumn<int>("verdict");
    QTest::newRow("launch") << int(ErrorCode::LaunchError) << int(Verdict::LaunchError);
    QTest::newRow("fault") << int(ErrorCode::DeviceFailure) << int(Verdict::Crash);
    QTest::newRow("hang") << int(ErrorCode::Timeout) << int(Verdict::Timeout);
    QTest::newRow("unknown instruction") << int(ErrorCode::NotSupported) << int(Verdict::NotRun);
}

void TestEvaluator::deviceErrorsBecomeVerdicts()
{
    QFETCH(int, code);
    QFETCH(int, verdict);
    HostDevice device;
    device.kernels["softmax"] = [code](const KernelArguments &) -> Result<void> {
        return fail(ErrorCode(code), "the device said no");
    };
    const Evaluation evaluation = evaluate(device);
    QCOMPARE(int(evaluation.verdict), verdict);
    QVERIFY(evaluation.reason.find("the device said no") != std::string::npos);
    QCOMPARE(stageOf(evaluation, StageStatus::Failed), std::string("smoke"));
}

void TestEvaluator::gpuFaultsHaveTheirSentences_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("verdict");
    QTest::addColumn<QString>("sentence");
    QTest::addColumn<bool>("isLost");
    const auto row = [](const char *name, Verdict verdict, const char *sentence, bool isLost) {
        QTest::newRow(name) << name << int(verdict) << sentence << isLost;
    };
    row("CUDA_ERROR_ILLEGAL_ADDRESS", Verdict::Crash, "where no memory is", true);
    row("CUDA_ERROR_MISALIGNED_ADDRESS", Verdict::Crash, "no multiple", true);
    row("CUDA_ERROR_ASSERT", Verdict::Crash, "assertion", true);
    row("CUDA_ERROR_LAUNCH_FAILED", Verdict::Crash, "trapped", true);
    row("CUDA_ERROR_ECC_UNCORRECTABLE", Verdict::NotRun, "says nothing of the candidate", true);
    row("CUDA_ERROR_DEVICE_UNAVAILABLE", Verdict::NotRun, "the GPU or its driver is gone", true);
    row("CUDA_ERROR_OUT_OF_MEMORY", Verdict::NotRun, "too little free memory", false);
}

void TestEvaluator::gpuFaultsHaveTheirSentences()
{
    QFETCH(QString, name);
    QFETCH(int, verdict);
    QFETCH(QString, sentence);
    QFETCH(bool, isLost);
    HostDevice device;
    device.kernels["softmax"] = [&](const KernelArguments &) -> Result<void> {
        return fail(ErrorCode::DeviceFailure, "running softmax: words (" + name.toStdString() + ")");
    };
    auto evaluator = Evaluator::create(softmax_, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    const Evaluation evaluation = evaluator->evaluate(request);
    QCOMPARE(int(evaluation.verdict), verdict);
    QVERIFY2(evaluation.reason.find(sentence.toStdString()) != std::string::npos, evaluation.reason.c_str());
    QCOMPARE(evaluator->isDeviceLost(), isLost);
}

void TestEvaluator::oneAbsurdSampleChangesNothing()
{
    for (const double absurd : {1e-9, 1e9}) {
        HostDevice device;
        device.kernels["softmax"] = honest;
        device.times["candidate"] = 5;
        device.absurdSamples["candidate"] = absurd;
        const Evaluation evaluation = evaluate(device);
        QVERIFY2(evaluation.verdict == Verdict::Slower || evaluation.verdict == Verdict::Faster,
                 evaluation.reason.c_str());
        QVERIFY(evaluation.latency.medianUs > 4.99 && evaluation.latency.medianUs < 5.02);
        QVERIFY(evaluation.speedup < 100);
    }
}

void TestEvaluator::moreKernelsThanThePlanAreSuspicious()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 5;
    device.kernelsPerSample = 2;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Suspicious, evaluation.reason.c_str());
    QVERIFY(evaluation.reason.find("2 kernels ran where the launch plan has 1") != std::string::npos);
}

void TestEvaluator::reducedPrecisionIsWrittenBesideTheNumber()
{
    PreparedTask task = softmax_;
    task.task.tolerance.allowReducedPrecision = true;
    HostDevice device;
    device.kernels["softmax"] = honest;
    device.times["candidate"] = 1;
    auto evaluator = Evaluator::create(task, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    const Evaluation evaluation = evaluator->evaluate(request);
    QVERIFY2(evaluation.verdict == Verdict::Faster, evaluation.reason.c_str());
    QVERIFY(evaluation.reason.find("with reduced precision, which eager does not use") != std::string::npos);
}

void TestEvaluator::everyTimedCallHasInputsThatNoneHadBefore()
{
    HostDevice device;
    std::set<float> firsts;
    int calls = 0, known = 0;
    device.kernels["softmax"] = [&](const KernelArguments &arguments) -> Result<void> {
        if (device.isTiming) {
            ++calls;
            known += !firsts.insert(arguments.pointer<float>(0)[0]).second;
            // No answer of an earlier call lies there either: every byte of the output is the same.
            const auto *output = arguments.pointer<unsigned char>(1);
            known +=
                !std::all_of(output, output + 6 * 40 * 4, [&](unsigned char b) { return b == output[0]; });
        }
        return honest(arguments);
    };
    device.times["candidate"] = 1;
    const Evaluation evaluation = evaluate(device);
    QVERIFY2(evaluation.verdict == Verdict::Faster, evaluation.reason.c_str());
    QVERIFY(calls >= 30);
    QCOMPARE(known, 0);
}

void TestEvaluator::stagesLeftOutClaimNothing()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    const Evaluation evaluation = evaluate(device, softmaxSource, {"smoke", "measure"});
    QVERIFY(evaluation.verdict == Verdict::NotRun);
    QVERIFY(evaluation.latency.samples > 0);
    QVERIFY(evaluation.reason.find("shapes") != std::string::npos);
}

void TestEvaluator::cancellingStopsBetweenStages()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    auto evaluator = Evaluator::create(softmax_, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    request.onStage = [cancel = request.cancel](const StageResult &stage) {
        if (stage.name == "smoke") cancel.cancel();
    };
    const Evaluation evaluation = evaluator->evaluate(request);
    QVERIFY(evaluation.verdict == Verdict::NotRun);
    QVERIFY2(evaluation.reason.find("cancel") != std::string::npos, evaluation.reason.c_str());
    QVERIFY(evaluation.stages.size() <= 3);
}

void TestEvaluator::stagesAreReportedAsTheyHappen()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    auto evaluator = Evaluator::create(softmax_, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    std::vector<std::string> seen;
    request.onStage = [&seen](const StageResult &stage) {
        seen.push_back(stage.name + " " + stageStatusName(stage.status));
    };
    evaluator->evaluate(request);
    QCOMPARE(seen.size(), std::size_t{18});
    QCOMPARE(seen[0], std::string("compile running"));
    QCOMPARE(seen[1], std::string("compile passed"));
    QCOMPARE(seen[17], std::string("recheck passed"));
}

void TestEvaluator::eachEvaluationLoadsTheProgramAnew()
{
    HostDevice device;
    device.kernels["softmax"] = honest;
    auto evaluator = Evaluator::create(softmax_, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    evaluator->evaluate(request);
    const int loads = device.loads;
    evaluator->evaluate(request);
    QVERIFY(device.loads > loads);
}

void TestEvaluator::aTaskThatCannotFailVerifiesNothing()
{
    PreparedTask empty = samples::prepared(samples::softmaxTask(0, 8));
    empty.task.cases.resize(1);
    HostDevice device;
    device.kernels["softmax"] = honest;
    auto evaluator = Evaluator::create(empty, device).value();
    EvaluationRequest request;
    request.source = softmaxSource;
    request.source.replace(request.source.find("x_size0 block"), 7, "1");
    const Evaluation evaluation = evaluator->evaluate(request);
    QVERIFY2(evaluation.verdict == Verdict::NotRun, evaluation.reason.c_str());
    QVERIFY(evaluation.reason.find("untouched memory") != std::string::npos);
}

void TestEvaluator::redrawnWeightsCatchBakedInWeights()
{
    const PreparedTask task = samples::prepared(samples::scaleBiasReluTask(4, 24));
    const std::vector<double> scale = toDoubles(task.capturedInputs[1]),
                              bias = toDoubles(task.capturedInputs[2]);
    const auto source =
        "//@ kernel k grid=1 block=32\n"
        "extern \"C\" __global__ void k(const float *x, const float *scale, const float *bias, float *y, int "
        "x_numel, int x_size1) {}\n";
    const auto compute = [](const KernelArguments &a, const auto &scaleAt,
                            const auto &biasAt) -> Result<void> {
        const int columns = a.scalar<int>(5);
        for (int i = 0; i < a.scalar<int>(4); ++i) {
            const float value = a.pointer<float>(0)[i] * float(scaleAt(i % columns));
            const float sum = value + float(biasAt(i % columns));
            a.pointer<float>(3)[i] = sum < 0 ? 0 : sum;
        }
        return {};
    };
    HostDevice device;
    device.times["candidate"] = 1;
    auto evaluator = Evaluator::create(task, device).value();
    EvaluationRequest request;
    request.source = source;
    device.kernels["k"] = [&](const KernelArguments &a) {
        return compute(
            a, [&](int c) { return a.pointer<float>(1)[c]; }, [&](int c) { return a.pointer<float>(2)[c]; });
    };
    const Evaluation honestOne = evaluator->evaluate(request);
    QVERIFY2(honestOne.verdict == Verdict::Faster, honestOne.reason.c_str());
    device.kernels["k"] = [&](const KernelArguments &a) {
        const auto baked = [&](const std::vector<double> &values, int c, std::size_t index) {
            return a.scalar<int>(5) == 24 ? float(values[std::size_t(c)]) : a.pointer<float>(index)[c];
        };
        return compute(
            a, [&](int c) { return baked(scale, c, 1); }, [&](int c) { return baked(bias, c, 2); });
    };
    const Evaluation baked = evaluator->evaluate(request);
    QVERIFY2(baked.verdict == Verdict::Incorrect, baked.reason.c_str());
    QCOMPARE(stageOf(baked, StageStatus::Failed), std::string("shapes"));
}

QTEST_APPLESS_MAIN(TestEvaluator)
#include "test_evaluator.moc"
