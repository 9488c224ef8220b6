// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/workspace.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <mutex>

using namespace kernelwright;
using namespace std::chrono_literals;

namespace
{
/// A workspace on the fake engine, with a model file and what the engine was asked for.
class WorkspaceUnderTest
{
public:
    WorkspaceUnderTest()
    {
        QFile file(modelPath());
        if (!file.open(QIODevice::WriteOnly)) qFatal("no temporary file");
        workspace.engine().setOnLogLine([this](const QString &line) {
            const std::lock_guard lock(mutex_);
            asked_ << line;
        });
    }

    QString modelPath() const { return folder_.filePath("model.pt2"); }
    std::string path(const char *name) const { return folder_.filePath(name).toStdString(); }

    /// Opens a device and the model and cuts a task at this node; its id.
    std::string prepare(const char *device = "simt", const char *node = "relu")
    {
        if (!workspace.openDevice(device) || !workspace.openModel(modelPath().toStdString(), {})) return {};
        const Result<Task> task = workspace.cutTask({node});
        return task ? task->id : std::string();
    }

    Evaluation evaluate(const std::string &task, const std::string &source,
                        std::chrono::milliseconds deadline = 1min, const CancelToken &cancel = {})
    {
        stages.clear();
        return workspace.evaluate(
            task, source, {}, {},
            [this](const StageResult &stage) {
                stages << QString("%1 %2").arg(stage.name.c_str(), stageStatusName(stage.status));
            },
            cancel, deadline);
    }

    /// What the engines were asked since the last time, without the workings of Crash.
    QStringList takeAsked()
    {
        workspace.engine().kill(); // with its end the last line is here
        const std::lock_guard lock(mutex_);
        return std::exchange(asked_, {});
    }

    QStringList stages;

private:
    QTemporaryDir folder_;
    std::mutex mutex_;
    QStringList asked_;

public:
    Workspace workspace{EngineCommand{FAKE_MODEL_ENGINE, {}}};
};
} // namespace

class TestWorkspace : public QObject
{
    Q_OBJECT

private slots:
    void answersBecomeValues();
    void aRunIsComparedOnlyWithAnExample();
    void progressIsHandedOn();
    void stagesArriveAsTheyHappen();
    void aCrashIsAVerdictAndTheNextEvaluationWorks();
    void aHangIsAVerdictAndTheNextEvaluationWorks();
    void deviceModelAndTheNeededTaskAreRestored();
    void aTaskFromAFileIsReadAgain();
    void aGpuThatWasLostTakesItsEngineAlong();
    void theSimulatorSurvivesAVerdictOfTimeout();
    void aTaskNobodyCutIsNotRun();
    void aCancelledEvaluationClaimsNothing();
    void anAnswerWithoutSenseClaimsNothing();
    void aModelThatIsGoneClaimsNothingOfTheCandidate();
    void anEngineThatIsMissingClaimsNothingOfTheCandidate();
    void aRefusedModelLeavesTheOneBefore();
    void aNewModelForgetsTheTasksOfTheOneBefore();
};

void TestWorkspace::answersBecomeValues()
{
    WorkspaceUnderTest test;
    const Result<std::vector<DeviceInfo>> devices = test.workspace.devices();
    QVERIFY(devices);
    QCOMPARE(devices->size(), std::size_t(2));
    QCOMPARE(devices->at(1).id, std::string("simt:h200"));
    QCOMPARE(test.workspace.openDevice("simt")->id, std::string("simt:h200"));
    QCOMPARE(test.workspace.device().id, std::string("simt:h200"));
    const Result<ModelSummary> model = test.workspace.openModel(test.modelPath().toStdString(), {});
    QVERIFY(model);
    QCOMPARE(model->path, test.modelPath().toStdString());
    QCOMPARE(model->graph.nodes.size(), std::size_t(3));
    QCOMPARE(model->parameterCount, std::int64_t(12));
    QCOMPARE(model->notes, std::vector<std::string>{"a note"});
    QVERIFY(model->inputsFromFile);
    const Result<Task> task = test.workspace.cutTask({"tanh"});
    QVERIFY(task);
    QCOMPARE(task->nodes, std::vector<std::string>{"tanh"});
    QVERIFY(test.workspace.hasTask(task->id));
    QVERIFY(!test.workspace.hasTask("another"));
}

void TestWorkspace::aRunIsComparedOnlyWithAnExample()
{
    WorkspaceUnderTest test;
    QVERIFY(!test.workspace.runModel("")->compared);
    const Result<RunSummary> run = test.workspace.runModel("example.io.pt");
    QVERIFY(run->compared);
    QCOMPARE(run->maxAbsError, 0.25);
    QVERIFY(std::isinf(run->maxRelError));
}

void TestWorkspace::progressIsHandedOn()
{
    WorkspaceUnderTest test;
    QStringList texts;
    test.workspace.setOnProgress([&](double fraction, const std::string &text) {
        texts << QString("%1 %2").arg(fraction).arg(text.c_str());
    });
    QVERIFY(test.workspace.profile());
    QCOMPARE(texts, QStringList("-1 Timing"));
}

void TestWorkspace::stagesArriveAsTheyHappen()
{
    WorkspaceUnderTest test;
    const Evaluation evaluation = test.evaluate(test.prepare(), "good");
    QCOMPARE(evaluation.verdict, Verdict::Faster);
    QCOMPARE(evaluation.device, std::string("told by the engine"));
    QVERIFY(evaluation.wallSeconds > 0);
    QCOMPARE(test.stages, (QStringList{"compile running", "compile passed", "smoke running"}));
}

void TestWorkspace::aCrashIsAVerdictAndTheNextEvaluationWorks()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    const Evaluation crashed = test.evaluate(task, "crash");
    QCOMPARE(crashed.verdict, Verdict::Crash);
    QVERIFY2(crashed.reason.find("Segmentation fault") != std::string::npos, crashed.reason.c_str());
    QCOMPARE(crashed.device, std::string("simt:h200 (modelled)"));
    QCOMPARE(crashed.stages.size(), std::size_t(2));
    QCOMPARE(crashed.stages[0].status, StageStatus::Passed);
    QCOMPARE(crashed.stages[1].name, std::string("smoke"));
    QCOMPARE(crashed.stages[1].status, StageStatus::Failed);
    QCOMPARE(test.evaluate(task, "good").verdict, Verdict::Faster);
    QCOMPARE(test.workspace.engine().restarts(), 1);
}

void TestWorkspace::aHangIsAVerdictAndTheNextEvaluationWorks()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    const Evaluation hung = test.evaluate(task, "hang", 300ms);
    QCOMPARE(hung.verdict, Verdict::Timeout);
    QVERIFY2(hung.reason.find("300 ms") != std::string::npos, hung.reason.c_str());
    QCOMPARE(hung.stages.back().status, StageStatus::Failed);
    QCOMPARE(test.evaluate(task, "good").verdict, Verdict::Faster);
}

void TestWorkspace::deviceModelAndTheNeededTaskAreRestored()
{
    WorkspaceUnderTest test;
    const std::string relu = test.prepare("simt", "relu");
    QVERIFY(test.workspace.cutTask({"tanh"}));
    test.evaluate(relu, "crash");
    QVERIFY(test.takeAsked().contains("asked evaluate crash"));
    test.evaluate(relu, "good");
    test.evaluate(relu, "better");
    const QString open = "asked open_model " + test.modelPath();
    QCOMPARE(test.takeAsked(), (QStringList{"asked open_device simt:h200", open, "asked cut_task relu",
                                            "asked evaluate good", "asked evaluate better"}));
}

void TestWorkspace::aTaskFromAFileIsReadAgain()
{
    WorkspaceUnderTest test;
    const std::string cut = test.prepare();
    QVERIFY(test.workspace.writeTask(cut, test.path("relu.task")));
    WorkspaceUnderTest other; // no model there
    QVERIFY(other.workspace.openDevice("simt"));
    const Result<Task> task = other.workspace.readTask(test.path("relu.task"));
    QVERIFY(task);
    QCOMPARE(task->id, cut);
    QCOMPARE(other.evaluate(task->id, "crash").verdict, Verdict::Crash);
    QCOMPARE(other.evaluate(task->id, "good").verdict, Verdict::Faster);
    QCOMPARE(other.takeAsked().filter("read_task").size(), 2);
    QVERIFY(QFile::remove(QString::fromStdString(test.path("relu.task"))));
    const Evaluation gone = other.evaluate(task->id, "good");
    QCOMPARE(gone.verdict, Verdict::NotRun);
    QVERIFY2(gone.reason.find("relu.task") != std::string::npos, gone.reason.c_str());
}

void TestWorkspace::aGpuThatWasLostTakesItsEngineAlong()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare("cuda:0");
    QCOMPARE(test.evaluate(task, "lost").verdict, Verdict::Timeout);
    QCOMPARE(test.workspace.engine().processId(), qint64(0));
    QCOMPARE(test.evaluate(task, "good").verdict, Verdict::Faster);
}

void TestWorkspace::theSimulatorSurvivesAVerdictOfTimeout()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare("simt");
    const qint64 process = test.workspace.engine().processId();
    QCOMPARE(test.evaluate(task, "lost").verdict, Verdict::Timeout);
    QCOMPARE(test.workspace.engine().processId(), process);
}

void TestWorkspace::aTaskNobodyCutIsNotRun()
{
    WorkspaceUnderTest test;
    const Evaluation evaluation = test.evaluate("t0", "good");
    QCOMPARE(evaluation.verdict, Verdict::NotRun);
    QVERIFY(evaluation.reason.find("'t0'") != std::string::npos);
    QVERIFY(!test.workspace.writeTask("t0", test.path("t0.task")));
}

void TestWorkspace::aCancelledEvaluationClaimsNothing()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    CancelToken cancel;
    cancel.cancel();
    QCOMPARE(test.evaluate(task, "good", 1min, cancel).verdict, Verdict::NotRun);
    QVERIFY(test.stages.isEmpty());
    CancelToken later;
    const Evaluation cancelled = test.workspace.evaluate(
        task, "hang", {}, {},
        [&](const StageResult &stage) {
            if (stage.name == "smoke") later.cancel();
        },
        later);
    QCOMPARE(cancelled.verdict, Verdict::NotRun);
    QCOMPARE(cancelled.stages.back().status, StageStatus::Skipped);
}

void TestWorkspace::anAnswerWithoutSenseClaimsNothing()
{
    WorkspaceUnderTest test;
    const Evaluation evaluation = test.evaluate(test.prepare(), "nonsense");
    QCOMPARE(evaluation.verdict, Verdict::NotRun);
    QVERIFY2(evaluation.reason.find("splendid") != std::string::npos, evaluation.reason.c_str());
}

void TestWorkspace::aModelThatIsGoneClaimsNothingOfTheCandidate()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    test.workspace.engine().kill();
    QVERIFY(QFile::remove(test.modelPath()));
    const Evaluation evaluation = test.evaluate(task, "good");
    QCOMPARE(evaluation.verdict, Verdict::NotRun);
    QVERIFY2(evaluation.reason.find("model.pt2") != std::string::npos, evaluation.reason.c_str());
}

void TestWorkspace::anEngineThatIsMissingClaimsNothingOfTheCandidate()
{
    QTemporaryDir folder;
    const QString program = folder.filePath("engine");
    QVERIFY(QFile::link(FAKE_MODEL_ENGINE, program));
    Workspace workspace(EngineCommand{program, {}});
    QFile model(folder.filePath("model.pt2"));
    QVERIFY(model.open(QIODevice::WriteOnly));
    QVERIFY(workspace.openModel(model.fileName().toStdString(), {}));
    const Result<Task> task = workspace.cutTask({"relu"});
    QVERIFY(task);
    workspace.engine().kill();
    QVERIFY(QFile::remove(program));
    const Evaluation evaluation = workspace.evaluate(task->id, "good", {}, {}, {}, {});
    QCOMPARE(evaluation.verdict, Verdict::NotRun);
    QVERIFY2(evaluation.reason.find(program.toStdString()) != std::string::npos, evaluation.reason.c_str());
}

void TestWorkspace::aRefusedModelLeavesTheOneBefore()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    const Result<ModelSummary> refused = test.workspace.openModel(test.path("no.pt2"), {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::BadInput);
    QVERIFY(!test.workspace.openDevice("cuda:9"));
    QCOMPARE(test.workspace.device().id, std::string("simt:h200"));
    test.workspace.engine().kill();
    QCOMPARE(test.evaluate(task, "good").verdict, Verdict::Faster);
}

void TestWorkspace::aNewModelForgetsTheTasksOfTheOneBefore()
{
    WorkspaceUnderTest test;
    const std::string task = test.prepare();
    QVERIFY(test.workspace.openModel(test.modelPath().toStdString(), {}));
    QVERIFY(!test.workspace.hasTask(task));
    QCOMPARE(test.evaluate(task, "good").verdict, Verdict::NotRun);
}

QTEST_GUILESS_MAIN(TestWorkspace)
#include "test_workspace.moc"
