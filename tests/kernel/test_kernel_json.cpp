// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations, candidates, devices, reports and tasks as JSON: names that scripts rely on, and reading back
// the same.
#include "graph_text.h"
#include "kernel/candidate.h"
#include "kernel/device_info.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace kernelwright;

namespace
{
Evaluation sampleEvaluation()
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::Incorrect;
    evaluation.reason = "element [1, 2] of y is wrong";
    evaluation.device = "cuda:0 NVIDIA H200";
    evaluation.timeSource = "cupti";
    evaluation.stages = {{"compile", StageStatus::Passed, "40 registers", 0.125},
                         {"smoke", StageStatus::Failed, "y[1, 2]", 1}};
    evaluation.compile.registers = 40;
    evaluation.compile.spillBytes = 8;
    evaluation.compile.sharedBytes = 1024;
    evaluation.compile.diagnostics = {{3, 7, "warning", "unused variable"}, {0, 0, "remark", ""}};
    evaluation.compile.ptx = ".version 8.0";
    evaluation.compile.log = "ptxas info";
    evaluation.worst = WorstElement{"y", "rows 1", {1, 2}, 3.5, std::nan(""), 1e-6};
    evaluation.latency = {12.5, 0.25, 100, 13};
    evaluation.baselines = {{"eager", {20, 1, 50, 21}}, {"cuda graph", {15, 0.5, 60, 15}}};
    evaluation.floorUs = 9.75;
    evaluation.speedup = 1.2;
    evaluation.metrics = {{"achieved_occupancy", {63.5, "%"}}, {"dram_throughput", {HUGE_VAL, "GB/s"}}};
    evaluation.metricsNote = "counters need permission";
    evaluation.baselines.back().source = "LibTorch 2.11, timed by cupti";
    evaluation.baselines.back().energyMillijoules = 8.5;
    evaluation.baselineNote = "no torch.compile baseline: no Python is configured";
    evaluation.counterPasses = 2;
    evaluation.conditions = {1980.0, 3201.0, 412.5, std::nullopt, 3, {"power cap"}, ""};
    evaluation.energyMillijoules = 7.25;
    evaluation.roofline = Roofline{1e9, 2e9, 4e12, 8e12, 4.2e12, 6e13, "measured"};
    evaluation.tuning = {{"ROWS", 4}};
    evaluation.wallSeconds = 2.5;
    return evaluation;
}

Task sampleTask()
{
    const OperatorGraph graph =
        graphFromText("input x float32[2, 3] strides [3, 1]\nparameter m.w float32[3]\n"
                      "a = aten::mul.Tensor(self=%x, other=%m_w) -> float32[2, 3]\n"
                      "y = aten::exp(self=%a) -> float32[2, 3]\noutput y\n");
    auto task = cutTask(graph, {0, 1}, "title", "pointwise");
    if (!task) qFatal("%s", task.error().message.c_str());
    task->model = "model.pt2";
    task->others = {{"a_1", "y_1"}, {"a_2", "y_2"}};
    return *task;
}

template <class T>
QString roundTrip(const T &value)
{
    const std::string text = writeJson(Json(value));
    const auto back = readJson<T>(Json::parse(text), "value");
    if (!back) return QString::fromStdString(back.error().message);
    return writeJson(Json(*back)) == text ? "same" : "changed";
}

QString refusal(const Json &json)
{
    const auto task = readJson<Task>(json, "task");
    return task ? "accepted" : QString::fromStdString(task.error().message);
}
} // namespace

class TestKernelJson : public QObject
{
    Q_OBJECT

private slots:
    void namesVerdictsAsDocumented_data();
    void namesVerdictsAsDocumented();
    void knowsWhichVerdictsAreCorrect();
    void evaluationsHaveTheDocumentedKeys();
    void evaluationsRoundTrip();
    void evaluationsOfOlderVersionsAreRead();
    void measureOptionsAreReadAndAnUnknownSetIsRefused();
    void evaluationsKeepNumbersThatAreNone();
    void refusesUnknownNames();
    void findsTheStrongestBaseline();
    void candidatesRoundTrip();
    void devicesHaveTheDocumentedKeys();
    void wholeModelReportsRoundTrip();
    void tasksRoundTrip();
    void refusesTasksThatDoNotFitTogether();
    void survivesMissingKeys();
};

void TestKernelJson::namesVerdictsAsDocumented_data()
{
    QTest::addColumn<int>("verdict");
    QTest::addColumn<QString>("name");
    const std::pair<Verdict, const char *> all[] = {{Verdict::Faster, "faster"},
                                                    {Verdict::Slower, "slower"},
                                                    {Verdict::Ambiguous, "ambiguous"},
                                                    {Verdict::Incorrect, "incorrect"},
                                                    {Verdict::CompileError, "compile error"},
                                                    {Verdict::LaunchError, "launch error"},
                                                    {Verdict::Timeout, "timeout"},
                                                    {Verdict::Crash, "crash"},
                                                    {Verdict::Suspicious, "suspicious"},
                                                    {Verdict::NotRun, "not run"}};
    for (const auto &[verdict, name] : all)
        QTest::newRow(name) << static_cast<int>(verdict) << name;
}

void TestKernelJson::namesVerdictsAsDocumented()
{
    QFETCH(int, verdict);
    QFETCH(QString, name);
    QCOMPARE(QString(verdictName(static_cast<Verdict>(verdict))), name);
    QCOMPARE(static_cast<int>(verdictFromName(name.toStdString())), verdict);
}

void TestKernelJson::knowsWhichVerdictsAreCorrect()
{
    for (const Verdict verdict : {Verdict::Faster, Verdict::Slower, Verdict::Ambiguous})
        QVERIFY(isCorrect(verdict));
    for (const Verdict verdict : {Verdict::Incorrect, Verdict::CompileError, Verdict::LaunchError,
                                  Verdict::Timeout, Verdict::Crash, Verdict::Suspicious, Verdict::NotRun})
        QVERIFY(!isCorrect(verdict));
}

void TestKernelJson::evaluationsHaveTheDocumentedKeys()
{
    const Json json = sampleEvaluation();
    QCOMPARE(json.at("verdict").get<std::string>(), std::string("incorrect"));
    QCOMPARE(json.at("stages")[1].at("status").get<std::string>(), std::string("failed"));
    QCOMPARE(json.at("stages")[1].at("message").get<std::string>(), std::string("y[1, 2]"));
    QCOMPARE(json.at("compile").at("registers").get<int>(), 40);
    QCOMPARE(json.at("compile").at("spill_bytes").get<int>(), 8);
    QCOMPARE(json.at("compile").at("shared_bytes").get<int>(), 1024);
    QCOMPARE(json.at("compile").at("diagnostics")[0].at("line").get<int>(), 3);
    QCOMPARE(json.at("compile").at("diagnostics")[0].at("column").get<int>(), 7);
    QCOMPARE(json.at("compile").at("diagnostics")[0].at("severity").get<std::string>(),
             std::string("warning"));
    QCOMPARE(json.at("latency_us").at("median").get<double>(), 12.5);
    QCOMPARE(json.at("latency_us").at("iqr").get<double>(), 0.25);
    QCOMPARE(json.at("latency_us").at("samples").get<int>(), 100);
    QCOMPARE(json.at("baselines")[0].at("name").get<std::string>(), std::string("eager"));
    QCOMPARE(json.at("baselines")[1].at("median_us").get<double>(), 15.0);
    QCOMPARE(json.at("floor_us").get<double>(), 9.75);
    QCOMPARE(json.at("speedup").get<double>(), 1.2);
    QCOMPARE(json.at("time_source").get<std::string>(), std::string("cupti"));
    QCOMPARE(json.at("metrics").at("achieved_occupancy").at("value").get<double>(), 63.5);
    QCOMPARE(json.at("metrics").at("achieved_occupancy").at("unit").get<std::string>(), std::string("%"));
    QCOMPARE(json.at("tuning").at("ROWS").get<int>(), 4);
}

void TestKernelJson::evaluationsRoundTrip()
{
    QCOMPARE(roundTrip(sampleEvaluation()), QString("same"));
    QCOMPARE(roundTrip(Evaluation()), QString("same"));
    const auto back = readJson<Evaluation>(Json(sampleEvaluation()), "evaluation");
    QCOMPARE(back->compile.diagnostics.size(), std::size_t{2});
    QCOMPARE(back->latency.spanUs, 13.0);
    QCOMPARE(back->baselines[1].latency.samples, 60);
    QCOMPARE(back->stages[0].seconds, 0.125);
    QVERIFY(!readJson<Evaluation>(Json(Evaluation()), "evaluation")->worst.has_value());
    QCOMPARE(back->conditions.powerWatts.value(), 412.5);
    QVERIFY(!back->conditions.temperatureCelsius); // what is not known is not 0
    QCOMPARE(back->roofline->arithmeticCeiling, 6e13);
    QVERIFY(!readJson<Evaluation>(Json(Evaluation()), "evaluation")->roofline.has_value());
}

void TestKernelJson::evaluationsOfOlderVersionsAreRead()
{
    Json json = sampleEvaluation();
    for (const char *key : {"conditions", "energy_mj", "roofline", "baseline_note", "counter_passes"})
        json.erase(key);
    for (Json &baseline : json["baselines"]) {
        baseline.erase("source");
        baseline.erase("energy_mj");
    }
    const auto back = readJson<Evaluation>(json, "evaluation");
    QVERIFY2(back.has_value(), back ? "" : back.error().message.c_str());
    QCOMPARE(back->baselines.size(), std::size_t{2});
    QVERIFY(!back->energyMillijoules && !back->roofline);
}

void TestKernelJson::measureOptionsAreReadAndAnUnknownSetIsRefused()
{
    const MeasureOptions options{CounterSet::Full, true, true};
    const auto back = readJson<MeasureOptions>(Json(options), "measure");
    QVERIFY(back && back->counters == CounterSet::Full && back->warmCache && back->compiledBaseline);
    const auto none = readJson<MeasureOptions>(Json::object(), "measure");
    QVERIFY(none && none->counters == CounterSet::Quick && !none->warmCache && !none->compiledBaseline);
    const auto bad = readJson<MeasureOptions>(Json{{"counters", "most"}}, "measure");
    QVERIFY(!bad && bad.error().message.find("none, quick or full") != std::string::npos);
}

void TestKernelJson::evaluationsKeepNumbersThatAreNone()
{
    const auto back = readJson<Evaluation>(Json::parse(writeJson(Json(sampleEvaluation()))), "evaluation");
    QVERIFY(back.has_value());
    QVERIFY(std::isnan(back->worst->got));
    QCOMPARE(back->worst->expected, 3.5);
    QCOMPARE(back->worst->index, (std::vector<std::int64_t>{1, 2}));
    QVERIFY(std::isinf(back->metrics.at("dram_throughput").value));
}

void TestKernelJson::refusesUnknownNames()
{
    Json json = sampleEvaluation();
    json["verdict"] = "great";
    QVERIFY(readJson<Evaluation>(json, "evaluation").error().message.find("'great' is not a verdict") !=
            std::string::npos);
    json = sampleEvaluation();
    json["stages"][0]["status"] = "maybe";
    QVERIFY(readJson<Evaluation>(json, "evaluation").error().message.find("'maybe' is not the status") !=
            std::string::npos);
    QCOMPARE(verdictFromName("great"), Verdict::NotRun);
    QCOMPARE(verdictFromName("compile_error"), Verdict::NotRun);
    for (const StageStatus status : {StageStatus::Pending, StageStatus::Running, StageStatus::Passed,
                                     StageStatus::Failed, StageStatus::Skipped}) {
        const StageResult stage{"smoke", status, "", 0};
        QCOMPARE(readJson<StageResult>(Json(stage), "stage")->status, status);
    }
}

void TestKernelJson::findsTheStrongestBaseline()
{
    Evaluation evaluation = sampleEvaluation();
    QCOMPARE(strongestBaseline(evaluation)->name, std::string("cuda graph"));
    evaluation.baselines.clear();
    QVERIFY(strongestBaseline(evaluation) == nullptr);
}

void TestKernelJson::candidatesRoundTrip()
{
    Candidate candidate;
    candidate.id = 7;
    candidate.taskId = "t1";
    candidate.parent = 3;
    candidate.iteration = 2;
    candidate.author = "playbook";
    candidate.summary = "use vector loads";
    candidate.instruction = "more rows per block";
    candidate.reasoning = "because …\n\"quoted\"";
    candidate.source = "//@ kernel k grid=1 block=1\n";
    candidate.accepted = candidate.pinned = true;
    candidate.name = "best";
    candidate.note = "keep";
    candidate.createdMs = 1700000000123;
    QCOMPARE(roundTrip(candidate), QString("same"));
    QVERIFY(!readJson<Candidate>(Json(candidate), "candidate")->evaluation.has_value());
    candidate.evaluation = sampleEvaluation();
    QCOMPARE(roundTrip(candidate), QString("same"));
    const auto back = readJson<Candidate>(Json(candidate), "candidate");
    QCOMPARE(back->parent, CandidateId{3});
    QCOMPARE(back->reasoning, candidate.reasoning);
    QCOMPARE(back->createdMs, candidate.createdMs);
    QCOMPARE(back->evaluation->verdict, Verdict::Incorrect);
}

void TestKernelJson::devicesHaveTheDocumentedKeys()
{
    DeviceInfo info;
    info.id = "simt:h200";
    info.name = "SIMT simulator modelling an NVIDIA H200";
    info.isSimulated = true;
    info.computeCapability = "9.0";
    info.architecture = "sm_90";
    info.memoryBytes = std::int64_t{141} << 30;
    info.limits.maxGrid[1] = 1234;
    info.limits.smCount = 132;
    info.ceilings.dramBytesPerSecond = 4.8e12;
    info.countersReason = "modelled";
    const Json json = info;
    QCOMPARE(json.at("compute_capability").get<std::string>(), std::string("9.0"));
    QCOMPARE(json.at("memory_bytes").get<std::int64_t>(), std::int64_t{141} << 30);
    QCOMPARE(json.at("counters").at("available").get<bool>(), false);
    QCOMPARE(json.at("counters").at("reason").get<std::string>(), std::string("modelled"));
    QCOMPARE(roundTrip(info), QString("same"));
    const auto back = readJson<DeviceInfo>(json, "device");
    QCOMPARE(back->limits.maxGrid[1], std::int64_t{1234});
    QCOMPARE(back->limits.smCount, std::int64_t{132});
    Json wrong = json;
    wrong["limits"]["max_grid"] = {1, 2};
    QVERIFY(
        readJson<DeviceInfo>(wrong, "device").error().message.find("max_grid has to hold three numbers") !=
        std::string::npos);
}

void TestKernelJson::wholeModelReportsRoundTrip()
{
    WholeModelReport report;
    report.maxAbsError = std::nan("");
    report.maxRelError = 1e-7;
    report.withinTolerance = true;
    report.inputSets = 3;
    report.baselineUs = 100;
    report.optimizedUs = 80;
    report.speedupMeasured = 1.25;
    report.speedupPredicted = 1.3;
    report.timeSource = "model";
    report.replaced = {{"t1", "RMSNorm", 4, "replaced"}};
    const Json json = report;
    for (const char *key : {"max_abs_error", "max_rel_error", "baseline_us", "optimized_us",
                            "speedup_measured", "speedup_predicted", "replaced", "time_source"})
        QVERIFY2(json.contains(key), key);
    QCOMPARE(roundTrip(report), QString("same"));
    QVERIFY(std::isnan(readJson<WholeModelReport>(Json::parse(writeJson(json)), "report")->maxAbsError));
    const AcceptedKernel kernel{"t1", "RMSNorm", "source", {{"A", 2}}, {{"a", "b"}, {"c", "d"}}, 1.5, 12};
    QCOMPARE(roundTrip(kernel), QString("same"));
    QCOMPARE(readJson<AcceptedKernel>(Json(kernel), "kernel")->places, kernel.places);
}

void TestKernelJson::tasksRoundTrip()
{
    const Task task = sampleTask();
    QCOMPARE(roundTrip(task), QString("same"));
    const auto back = readJson<Task>(Json(task), "task");
    QCOMPARE(back->id, task.id);
    QCOMPARE(back->others, task.others);
    QCOMPARE(back->inputs[1].name, std::string("w"));
    QVERIFY(back->inputs[1].isWeight && !back->inputs[0].isWeight);
    QCOMPARE(back->cases.size(), std::size_t{1});
    QVERIFY(back->cases[0].inputs == task.cases[0].inputs);
    QCOMPARE(back->cost.flops, task.cost.flops);
    QCOMPARE(back->tolerance.eagerMultiple, 2.0);
    Task guessed = task;
    for (ShapeCase &shapes : guessShapeCases(task, 100000))
        guessed.cases.push_back(std::move(shapes));
    QVERIFY(guessed.cases.size() > 2);
    QCOMPARE(roundTrip(guessed), QString("same"));
}

void TestKernelJson::refusesTasksThatDoNotFitTogether()
{
    const Json good = sampleTask();
    QCOMPARE(refusal(good), QString("accepted"));
    Json json = good;
    json["inputs"].erase(0);
    QVERIFY(refusal(json).contains("do not correspond to those of its subgraph"));
    json = good;
    json["inputs"][0]["value"] = "other";
    QVERIFY(refusal(json).contains("is not the subgraph's 'x'"));
    for (const char *name : {"not a name", "", "float", "1x", "x*y"}) {
        json = good;
        json["inputs"][0]["name"] = name;
        QVERIFY2(refusal(json).contains("is not named by a C identifier"), name);
    }
    json = good;
    json["inputs"][0]["name"] = json["outputs"][0]["name"];
    QVERIFY(refusal(json).contains("two task tensors are called"));
    json = good;
    json["cases"] = Json::array();
    QVERIFY(refusal(json).contains("at least the captured shape case"));
    json = good;
    json["cases"][0]["inputs"].erase(0);
    QVERIFY(refusal(json).contains("the shape case 'captured' does not have the task's tensors"));
    json = good;
    json["subgraph"]["outputs"] = {77};
    QVERIFY(refusal(json).contains("names value 77"));
}

void TestKernelJson::survivesMissingKeys()
{
    const Json good = sampleTask();
    int refused = 0;
    for (const auto &entry : good.items()) {
        Json json = good;
        json.erase(entry.key());
        refused += refusal(json) != "accepted";
    }
    QVERIFY(refused >= 6);
    for (const auto &entry : good.items()) { // and none but null in its place
        Json json = good;
        json[entry.key()] = Json::array({Json()});
        QVERIFY(refusal(json) != "accepted");
    }
    const Json evaluation = sampleEvaluation();
    for (const char *key : {"verdict", "stages", "compile", "latency_us", "baselines", "metrics"}) {
        Json json = evaluation;
        json.erase(key);
        const auto read = readJson<Evaluation>(json, "evaluation");
        QVERIFY(!read);
        QVERIFY(read.error().message.find(key) != std::string::npos);
    }
}

QTEST_APPLESS_MAIN(TestKernelJson)
#include "test_kernel_json.moc"
