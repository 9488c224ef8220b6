// SPDX-License-Identifier: GPL-3.0-or-later
// The whole way of a candidate through the real engine, on the simulator: right ones, wrong ones, and those
// that harm whoever runs them. After each of them the same workspace must go on working.
#include "client/workspace.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <optional>

using namespace kernelwright;
using namespace std::chrono_literals;

namespace
{
constexpr auto patience = 5min; ///< only a broken engine needs it

std::string sample(const char *name)
{
    return (qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/resources/samples/" + name).toStdString();
}

EngineCommand engineCommand()
{
    return EngineCommand{qEnvironmentVariable("KERNELWRIGHT_BIN") + "/kernelwright-engine", {}};
}

bool isAddition(const OperatorGraph &graph, const Node &node)
{
    if (node.op != "aten::add" || node.outputs.size() != 1) return false;
    const std::vector<ValueId> inputs = valuesUsed(node);
    if (inputs.size() != 2 || inputs[0] == inputs[1]) return false;
    const TensorType &type = graph.value(node.outputs[0]).type;
    return type.dtype == DType::Float32 && graph.value(inputs[0]).type.sizes == type.sizes &&
           graph.value(inputs[1]).type.sizes == type.sizes;
}

/// A kernel for the addition task; `body` computes with the pointers a and b into y, at i below n.
std::string kernel(const Task &task, const std::string &body)
{
    const std::string &a = task.inputs[0].name, &b = task.inputs[1].name, &y = task.outputs[0].name;
    return "//@ kernel add_tensors grid=ceildiv(" + y +
           "_numel,256) block=256\n" //
           "extern \"C\" __global__ void add_tensors(const float *" +
           a + ", const float *" + b + ", float *" + y + ", long long " + y +
           "_numel)\n{\n" //
           "    const float *a = " +
           a + ", *b = " + b +
           ";\n" //
           "    float *y = " +
           y +
           ";\n" //
           "    const long long n = " +
           y +
           "_numel;\n"                                                   //
           "    const long long i = blockIdx.x * 256LL + threadIdx.x;\n" //
           "    " +
           body + "\n}\n";
}
} // namespace

class TestEngineOnSimulator : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void theModelIsOnTheSimulator();
    void theProfileRanksTasks();
    void candidatesGetTheirVerdicts_data();
    void candidatesGetTheirVerdicts();
    void stagesAreTold();
    void aTaskSurvivesItsFile();
    void aKilledEngineIsACrashAndTheNextEvaluationWorks();
    void aCancelledEvaluationIsNotRunAndTheNextOneWorks();

private:
    Evaluation evaluate(const std::string &body, const std::function<void(const StageResult &)> &onStage = {},
                        const CancelToken &cancel = {})
    {
        return workspace_->evaluate(task_.id, kernel(task_, body), {}, {}, onStage, cancel, patience);
    }

    std::optional<Workspace> workspace_;
    std::optional<ModelSummary> model_;
    Task task_;
};

namespace
{
const std::string rightBody = "if (i < n) y[i] = a[i] + b[i];";
}

void TestEngineOnSimulator::initTestCase()
{
    workspace_.emplace(engineCommand());
    const Result<DeviceInfo> device = workspace_->openDevice("simt");
    QVERIFY2(device, device ? "" : device.error().message.c_str());
    const Result<ModelSummary> model = workspace_->openModel(sample("gpt_block.pt2"), {});
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    model_ = *model;
    for (const Node &node : model_->graph.nodes) {
        if (!isAddition(model_->graph, node)) continue;
        const Result<Task> task = workspace_->cutTask({node.name});
        QVERIFY2(task, task ? "" : task.error().message.c_str());
        task_ = *task;
        break;
    }
    QCOMPARE(task_.inputs.size(), std::size_t(2)); // the model adds tensors of one size somewhere
    QVERIFY(task_.cases.size() > 1);
}

void TestEngineOnSimulator::theModelIsOnTheSimulator()
{
    QVERIFY(workspace_->device().isSimulated);
    QVERIFY(!model_->graph.nodes.empty());
    QVERIFY(model_->parameterCount > 0);
    const Result<RunSummary> run = workspace_->runModel(sample("gpt_block.io.pt"));
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    QVERIFY(run->compared);
    QVERIFY(run->maxAbsError <= 1e-4);
}

void TestEngineOnSimulator::theProfileRanksTasks()
{
    const Result<ModelProfile> profile = workspace_->profile();
    QVERIFY2(profile, profile ? "" : profile.error().message.c_str());
    QCOMPARE(profile->timeSource, std::string("model"));
    QCOMPARE(profile->operators.size(), model_->graph.nodes.size());
    QVERIFY(profile->totalUs > 0);
    QVERIFY(!profile->tasks.empty());
    for (std::size_t i = 1; i < profile->tasks.size(); ++i)
        QVERIFY(profile->tasks[i - 1].amdahlGain >= profile->tasks[i].amdahlGain);
    const Result<Task> best = workspace_->cutTask(profile->tasks.front().nodes);
    QVERIFY2(best, best ? "" : best.error().message.c_str());
    QCOMPARE(best->title, profile->tasks.front().title);
    QCOMPARE(best->others, profile->tasks.front().others);
}

void TestEngineOnSimulator::candidatesGetTheirVerdicts_data()
{
    QTest::addColumn<QString>("body");
    QTest::addColumn<QStringList>("verdicts");
    const QStringList correct{"faster", "slower", "ambiguous"};
    QTest::newRow("right") << QString::fromStdString(rightBody) << correct;
    QTest::newRow("wrong operation") << "if (i < n) y[i] = a[i] - b[i];" << QStringList{"incorrect"};
    QTest::newRow("one element wrong")
        << "if (i < n) y[i] = a[i] + b[i] + (i == n - 1 ? 1.0f : 0.0f);" << QStringList{"incorrect"};
    QTest::newRow("last element left out")
        << "if (i < n - 1) y[i] = a[i] + b[i];" << QStringList{"incorrect"};
    QTest::newRow("does not compile") << "if (i < n) y[i] = a[i] + c[i]" << QStringList{"compile error"};
    QTest::newRow("never ends") << "volatile int go = 1; while (go) {} if (i < n) y[i] = a[i] + b[i];"
                                << QStringList{"timeout"};
    QTest::newRow("writes to address 0") << "*(volatile float *)0 = a[0]; if (i < n) y[i] = a[i] + b[i];"
                                         << QStringList{"crash", "incorrect", "launch error"};
    QTest::newRow("traps") << "asm volatile(\"trap;\"); if (i < n) y[i] = a[i] + b[i];"
                           << QStringList{"crash", "incorrect", "launch error"};
    QTest::newRow("writes past the end")
        << "if (i < n) y[i] = a[i] + b[i]; if (i == 0) y[n] = 1;" << QStringList{"crash", "incorrect"};
}

void TestEngineOnSimulator::candidatesGetTheirVerdicts()
{
    QFETCH(QString, body);
    QFETCH(QStringList, verdicts);
    const qint64 process = workspace_->engine().processId();
    const Evaluation evaluation = evaluate(body.toStdString());
    QVERIFY2(verdicts.contains(verdictName(evaluation.verdict)),
             (std::string(verdictName(evaluation.verdict)) + ": " + evaluation.reason).c_str());
    QVERIFY(!evaluation.reason.empty());
    if (evaluation.verdict == Verdict::CompileError) {
        QVERIFY(!evaluation.compile.diagnostics.empty());
        QCOMPARE(evaluation.compile.diagnostics.front().line, 8);
    }
    QCOMPARE(workspace_->engine().processId(), process); // the simulator takes no harm
    QVERIFY(isCorrect(evaluate(rightBody).verdict));
}

void TestEngineOnSimulator::stagesAreTold()
{
    std::vector<std::string> passed;
    const Evaluation evaluation = evaluate(rightBody, [&](const StageResult &stage) {
        if (stage.status == StageStatus::Passed) passed.push_back(stage.name);
    });
    QVERIFY(isCorrect(evaluation.verdict));
    QCOMPARE(evaluation.timeSource, std::string("model"));
    QVERIFY(evaluation.latency.medianUs > 0);
    QVERIFY(strongestBaseline(evaluation));
    for (const char *stage : {"compile", "smoke", "shapes", "memory", "measure", "recheck"})
        QVERIFY2(std::find(passed.begin(), passed.end(), stage) != passed.end(), stage);
}

void TestEngineOnSimulator::aTaskSurvivesItsFile()
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("add.task").toStdString();
    const Result<void> written = workspace_->writeTask(task_.id, path);
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    Workspace other(engineCommand());
    QVERIFY(other.openDevice("simt"));
    const Result<Task> task = other.readTask(path);
    QVERIFY2(task, task ? "" : task.error().message.c_str());
    QCOMPARE(task->id, task_.id);
    QVERIFY(Json(*task) == Json(task_));
    QVERIFY(isCorrect(other.evaluate(task->id, kernel(*task, rightBody), {}, {}, {}, {}, patience).verdict));
}

void TestEngineOnSimulator::aKilledEngineIsACrashAndTheNextEvaluationWorks()
{
    const int restarts = workspace_->engine().restarts();
    const auto killAtSmoke = [&](const StageResult &stage) {
        if (stage.name == "smoke" && stage.status == StageStatus::Running)
            ::kill(static_cast<pid_t>(workspace_->engine().processId()), SIGKILL);
    };
    const Evaluation killed = evaluate("while (true) { volatile int z = 0; (void)z; }", killAtSmoke);
    QCOMPARE(killed.verdict, Verdict::Crash);
    QVERIFY2(killed.reason.find("Killed") != std::string::npos, killed.reason.c_str());
    QCOMPARE(killed.stages.back().name, std::string("smoke"));
    QVERIFY(isCorrect(evaluate(rightBody).verdict));
    QCOMPARE(workspace_->engine().restarts(), restarts + 1);
}

void TestEngineOnSimulator::aCancelledEvaluationIsNotRunAndTheNextOneWorks()
{
    CancelToken cancel;
    const auto cancelAtSmoke = [&](const StageResult &stage) {
        if (stage.name == "smoke") cancel.cancel();
    };
    QCOMPARE(evaluate(rightBody, cancelAtSmoke, cancel).verdict, Verdict::NotRun);
    QVERIFY(isCorrect(evaluate(rightBody).verdict));
}

QTEST_GUILESS_MAIN(TestEngineOnSimulator)
#include "test_engine_on_simulator.moc"
