// SPDX-License-Identifier: GPL-3.0-or-later
// What the playbook writes is right: every sample task under several schedules passes the evaluator's
// correctness stages on the simulator, against LibTorch in float64, at every shape the reference has.
#include "agent/playbook/kernel_source.h"
#include "agent/playbook/tile_plan.h"
#include "engine/device/device.h"
#include "engine/verify/evaluator.h"
#include "engine/verify/input_generator.h"
#include "sample_tasks.h"

#include <QtTest>

#include <map>

using namespace kernelwright;
using namespace kernelwright::playbook;

namespace
{

Schedule scheduleNamed(const std::string &name)
{
    Schedule s;
    if (name == "packs") s.vector = 4, s.wideIndex = false, s.lanes = 128, s.simplified = true;
    if (name == "rows per block")
        s.lanes = 16, s.rows = 8, s.vector = 2, s.wideIndex = false, s.streaming = true, s.blocksPerSm = 1;
    if (name == "registers")
        s.lanes = 32, s.rows = 2, s.keep = Keep::Registers, s.items = 4, s.vector = 4, s.reciprocal = true,
        s.keepsValues = true, s.wideIndex = false;
    if (name == "shared") s.lanes = 64, s.rows = 2, s.keep = Keep::Shared, s.vector = 2;
    if (name == "thread per row") s.lanes = 1, s.rows = 64, s.wideIndex = false;
    if (name == "small tiles") s.tiles = {8, 16, 8, 1, 2};
    if (name == "tiles") s.tiles = {32, 32, 16, 4, 2}, s.wideIndex = false, s.exactSums = false;
    return s;
}

const std::vector<std::string> scheduleNames = {"simplest", "packs",          "rows per block", "registers",
                                                "shared",   "thread per row", "small tiles",    "tiles"};

// Values as activations have them: both signs, a few units wide, different everywhere.
std::vector<HostTensor> activations(const Task &task)
{
    std::vector<HostTensor> inputs;
    std::uint64_t state = 7;
    for (const TaskTensor &input : task.inputs) {
        HostTensor tensor = makeStridedTensor(input.type);
        for (std::int64_t i = 0; i < input.type.elementCount(); ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const double unit = static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
            const double value = input.type.dtype == DType::Bool ? unit > 0.5
                                 : isFloating(input.type.dtype)  ? 4 * unit - 2
                                                                 : std::floor(20 * unit) - 10;
            storeElement(tensor.data() + elementOffset(input.type, i) *
                                             static_cast<std::int64_t>(dtypeSize(input.type.dtype)),
                         input.type.dtype, value);
        }
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

} // namespace

class WrittenKernelsTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void passesEveryCorrectnessStage_data();
    void passesEveryCorrectnessStage();

private:
    std::unique_ptr<Device> device_;
    std::map<std::string, std::unique_ptr<Evaluator>> evaluators_;
};

void WrittenKernelsTest::initTestCase()
{
    Result<std::unique_ptr<Device>> device = openDevice("simt");
    QVERIFY2(device, device ? "" : device.error().message.c_str());
    device_ = std::move(*device);
}

void WrittenKernelsTest::passesEveryCorrectnessStage_data()
{
    QTest::addColumn<QString>("task");
    QTest::addColumn<QString>("schedule");
    for (const SampleTask &sample : sampleTasks()) {
        if (sample.isRefused) continue;
        const Result<Composition> composition = compose(sampleTask(sample.name));
        const bool reduces = composition->reduces();
        const bool isProduct = planTiles(composition->program, composition->main()).has_value();
        for (const std::string &name : scheduleNames) {
            const bool isForRows = name == "registers" || name == "shared" || name == "thread per row";
            const bool isInTiles = name.find("tiles") != std::string::npos;
            if ((isForRows && !reduces) || (isInTiles && !isProduct)) continue;
            QTest::addRow("%s, %s", sample.name.c_str(), name.c_str())
                << QString::fromStdString(sample.name) << QString::fromStdString(name);
        }
    }
}

void WrittenKernelsTest::passesEveryCorrectnessStage()
{
    QFETCH(QString, task);
    QFETCH(QString, schedule);
    std::unique_ptr<Evaluator> &evaluator = evaluators_[task.toStdString()];
    if (!evaluator) {
        const Task raw = sampleTask(task.toStdString());
        Result<PreparedTask> prepared = prepareTask(raw, {}, activations(raw));
        QVERIFY2(prepared, prepared ? "" : prepared.error().message.c_str());
        QVERIFY(prepared->task.cases.size() >= 3);
        // The inputs differ from run to run. Twice the usual error keeps a test of shapes and semantics from
        // being one of luck in the last place; a wrong element is off by far more.
        prepared->task.tolerance.eagerMultiple = 4;
        Result<std::unique_ptr<Evaluator>> made = Evaluator::create(std::move(*prepared), *device_);
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        evaluator = std::move(*made);
    }
    const Result<Composition> composition = compose(evaluator->task().task);
    QVERIFY(composition);
    EvaluationRequest request;
    request.source = writeSource(
        *composition, legalised(scheduleNamed(schedule.toStdString()), *composition, device_->info().limits));
    request.stages = {"compile", "smoke", "shapes", "numerics", "determinism", "memory"};
    const Evaluation evaluation = evaluator->evaluate(request);
    for (const StageResult &stage : evaluation.stages)
        QVERIFY2(stage.status != StageStatus::Failed,
                 (stage.name + ": " + stage.message + "\n" + request.source).c_str());
    QVERIFY2(evaluation.verdict == Verdict::NotRun || isCorrect(evaluation.verdict),
             evaluation.reason.c_str());
}

QTEST_APPLESS_MAIN(WrittenKernelsTest)
#include "test_written_kernels.moc"
