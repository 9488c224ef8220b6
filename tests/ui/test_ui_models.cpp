// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixtures.h"
#include "ui/models/candidate_set.h"
#include "ui/models/candidates_model.h"
#include "ui/models/display_text.h"
#include "ui/models/evaluation_models.h"
#include "ui/models/iteration_series.h"
#include "ui/models/operators_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

namespace
{

/// Attached before a model is filled; any broken promise of the item API fails the test.
struct Tester
{
    explicit Tester(QAbstractItemModel &model)
        : tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest)
    {}
    QAbstractItemModelTester tester;
};

std::vector<Candidate> candidatesFromText(const QStringList &lines)
{
    std::vector<Candidate> candidates;
    for (const QString &line : lines)
        candidates.push_back(candidateFromText(line));
    return candidates;
}

const QStringList search{
    QStringLiteral("1 parent 0 slower 30 x 0.67 by playbook: one thread per row"),
    QStringLiteral("2 parent 1 compile-error by playbook: wider loads"),
    QStringLiteral("3 parent 1 faster 12.5 x 1.60 by playbook: one warp per row"),
    QStringLiteral("4 parent 3 faster 10 x 2.00 by person: two rows per warp"),
};

} // namespace

class TestUiModels : public QObject
{
    Q_OBJECT

private slots:
    void candidatesStandUnderTheirParents();
    void aCandidateWithUnknownParentStandsUnderItsTask();
    void anEvaluationChangesItsRowInPlace();
    void acceptingOneTakesAcceptanceFromItsSiblings();
    void aClearedTreeIsEmpty();
    void sortingPutsUnknownValuesLastInBothOrders();
    void theBestCandidateIsTheFastestCorrectOne();
    void operatorsHaveHeadroomAndAmdahlGain();
    void operatorsWithoutAProfileShowNoNumbers();
    void tasksNameTheirNodes();
    void tablesCopyAsTextAndCsv();
    void allStagesAreListedAndThoseNotReachedArePending();
    void metricsCompareSelectedParentAndBest();
    void latencySeriesHasBaselineFloorAndBestSoFar();
    void longLatenciesAreShownInMilliseconds();
    void metricSeriesFollowTheFastestCandidate();
    void iterationsExportAsCsv();
    void theBadgeSaysWhetherTimesAreModelledOrMeasured_data();
    void theBadgeSaysWhetherTimesAreModelledOrMeasured();
    void theWorstElementIsOneSentence();
};

void TestUiModels::candidatesStandUnderTheirParents()
{
    CandidatesModel model;
    const Tester tester(model);
    model.putTask("task", QStringLiteral("RMSNorm"));
    for (const Candidate &candidate : candidatesFromText(search))
        model.putCandidate(candidate);
    QCOMPARE(printTree(model),
             QStringLiteral("RMSNorm\n"
                            "  #1  one thread per row|slower|30.0 µs|0.67×|±2.5 %|playbook\n"
                            "    #2  wider loads|compile error|–|–|–|playbook\n"
                            "    #3  one warp per row|faster|12.5 µs|1.60×|±2.5 %|playbook\n"
                            "      #4  two rows per warp|faster|10.0 µs|2.00×|±2.5 %|person\n"));
    QCOMPARE(model.candidateAt(model.indexOf(4))->parent, 3);
    QVERIFY(!model.candidateAt(model.index(0, 0)));
}

void TestUiModels::aCandidateWithUnknownParentStandsUnderItsTask()
{
    CandidatesModel model;
    const Tester tester(model);
    model.putCandidate(candidateFromText(QStringLiteral("7 parent 99 evaluating by person: mine")));
    QCOMPARE(printTree(model), QStringLiteral("task\n  #7  mine|evaluating|–|–|–|person\n"));
}

void TestUiModels::anEvaluationChangesItsRowInPlace()
{
    CandidatesModel model;
    const Tester tester(model);
    model.putCandidate(candidateFromText(QStringLiteral("1 parent 0 evaluating by playbook: first")));
    const QPersistentModelIndex row = model.indexOf(1);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    model.putCandidate(candidateFromText(QStringLiteral("1 parent 0 faster 5 x 3.00 by playbook: first")));
    QCOMPARE(changed.size(), 1);
    QCOMPARE(row.data(CandidatesModel::VerdictRole).toInt(), static_cast<int>(Verdict::Faster));
    QCOMPARE(model.rowCount(model.index(0, 0)), 1);
}

void TestUiModels::acceptingOneTakesAcceptanceFromItsSiblings()
{
    CandidatesModel model;
    const Tester tester(model);
    std::vector<Candidate> candidates = candidatesFromText(search);
    candidates[2].accepted = true;
    for (const Candidate &candidate : candidates)
        model.putCandidate(candidate);
    candidates[3].accepted = true;
    model.putCandidate(candidates[3]);
    QVERIFY(!model.indexOf(3).data(CandidatesModel::AcceptedRole).toBool());
    QVERIFY(model.indexOf(4).data(CandidatesModel::AcceptedRole).toBool());
}

void TestUiModels::aClearedTreeIsEmpty()
{
    CandidatesModel model;
    const Tester tester(model);
    model.putCandidate(candidateFromText(search.front()));
    model.clear();
    QCOMPARE(model.rowCount(), 0);
    QVERIFY(!model.indexOf(1).isValid());
}

void TestUiModels::sortingPutsUnknownValuesLastInBothOrders()
{
    const auto model = makeOperatorsModel();
    const Tester tester(*model);
    UnknownLastProxy proxy;
    proxy.setSourceModel(model.get());
    const Tester proxyTester(proxy);
    std::vector<OperatorRow> rows{{"slow", "a"}, {"unknown", "b"}, {"quick", "c"}};
    rows[0].timeUs = 9;
    rows[2].timeUs = 1;
    model->setRows(rows);
    const auto order = [&] {
        QStringList names;
        for (int row = 0; row < proxy.rowCount(); ++row)
            names << proxy.index(row, 0).data().toString();
        return names.join(QLatin1Char(' '));
    };
    proxy.sort(1, Qt::AscendingOrder);
    QCOMPARE(order(), QStringLiteral("quick slow unknown"));
    proxy.sort(1, Qt::DescendingOrder);
    QCOMPARE(order(), QStringLiteral("slow quick unknown"));
    proxy.setFilterFixedString(QStringLiteral("QUI"));
    QCOMPARE(order(), QStringLiteral("quick"));
}

void TestUiModels::theBestCandidateIsTheFastestCorrectOne()
{
    CandidateSet set;
    QVERIFY(!set.best("task"));
    for (const Candidate &candidate : candidatesFromText(search))
        set.put(candidate);
    set.put(candidateFromText(QStringLiteral("5 parent 4 suspicious 1 x 20.00 by playbook: too good")));
    QCOMPARE(set.best("task")->id, 4);
    QVERIFY(!set.best("other task"));
    QCOMPARE(set.ofTask("task").size(), 5U);
}

void TestUiModels::operatorsHaveHeadroomAndAmdahlGain()
{
    const ModelProfile profile = smallProfile();
    const auto rows = operatorRows(smallGraph(), &profile);
    QCOMPARE(rows.size(), smallGraph().nodes.size());
    QCOMPARE(rows.front().name, std::string("pow_1"));
    QCOMPARE(rows.front().headroom, 5.0);
    QCOMPARE(rows.front().amdahlGain, 100.0 / 96.0); // 100 µs in all, of which 4 could be saved
    const auto model = makeOperatorsModel();
    const Tester tester(*model);
    model->setRows(rows);
    QCOMPARE(model->index(0, 1).data().toString(), QStringLiteral("5.00 µs"));
    QCOMPARE(model->index(0, 0).data(IdRole).toString(), QStringLiteral("pow_1"));
}

void TestUiModels::operatorsWithoutAProfileShowNoNumbers()
{
    const auto model = makeOperatorsModel();
    const Tester tester(*model);
    model->setRows(operatorRows(smallGraph(), nullptr));
    QCOMPARE(model->index(0, 1).data().toString(), QStringLiteral("–"));
    QVERIFY(!model->index(0, 1).data(SortRole).isValid());
}

void TestUiModels::tasksNameTheirNodes()
{
    const auto model = makeTasksModel();
    const Tester tester(*model);
    std::vector<SuggestedTask> tasks = smallProfile().tasks;
    tasks[0].others = {{"a"}, {"b"}};
    model->setRows(tasks);
    QCOMPARE(model->index(0, 0).data().toString(), QStringLiteral("RMSNorm in layers.0.norm  ×3"));
    QCOMPARE(model->index(0, 0).data(IdRole).toStringList().size(), 5);
}

void TestUiModels::tablesCopyAsTextAndCsv()
{
    const auto model = makeTasksModel();
    std::vector<SuggestedTask> tasks = smallProfile().tasks;
    tasks[0].title = "a, \"b\"";
    model->setRows(tasks);
    QCOMPARE(tableAsCsv(*model).section(QLatin1Char('\n'), 1, 1),
             QStringLiteral("\"a, \"\"b\"\"\",1.28×,24.0 µs,2.00 µs"));
    QCOMPARE(tableAsText(*model).section(QLatin1Char('\n'), 0, 0),
             QStringLiteral("Suggested task\tGain\tTime\tFloor"));
}

void TestUiModels::allStagesAreListedAndThoseNotReachedArePending()
{
    const auto model = makeStagesModel();
    const Tester tester(*model);
    model->setRows(allStages({{"compile", StageStatus::Passed, "", 0.2},
                              {"smoke", StageStatus::Failed, "y[3]: expected 1, got 2"},
                              {"invented", StageStatus::Skipped, "not asked for"}}));
    QCOMPARE(model->rowCount(), 10);
    QCOMPARE(model->index(0, 0).data(Qt::DecorationRole).toString(), QStringLiteral("passed"));
    QCOMPARE(model->index(1, 1).data().toString(), QStringLiteral("y[3]: expected 1, got 2"));
    QCOMPARE(model->row(2).status, StageStatus::Pending);
    QCOMPARE(model->index(9, 0).data().toString(), QStringLiteral("invented"));
    for (int row = 0; row < 9; ++row)
        QVERIFY2(!stageExplanation(model->row(row).name).isEmpty(), model->row(row).name.c_str());
}

void TestUiModels::metricsCompareSelectedParentAndBest()
{
    const Candidate parent = candidateFromText(search[0]);
    Candidate selected = candidateFromText(search[2]);
    selected.evaluation->metrics["odd_counter"] = {7, "1"};
    selected.evaluation->energyMillijoules = 12.5;
    selected.evaluation->roofline = Roofline{1e9, 0, 3e12, 0, 4e12, 6e13, ""};
    std::string problem;
    const MetricCatalogue catalogue = installedMetricCatalogue(&problem);
    QVERIFY2(problem.empty(), problem.c_str());
    const auto rows = metricRows(selected, &parent, nullptr, catalogue);
    QCOMPARE(rows.size(), 6U);
    QCOMPARE(rows[0].label, QStringLiteral("Latency"));
    QCOMPARE(metricText(rows[0].selected.value(), rows[0].unit), QStringLiteral("12.5 µs"));
    QCOMPARE(metricText(rows[0].parent.value(), rows[0].unit), QStringLiteral("30.0 µs"));
    QVERIFY(!rows[0].best);
    QCOMPARE(metricText(rows[1].selected.value(), rows[1].unit), QStringLiteral("75.0 %"));
    QCOMPARE(metricText(rows[2].selected.value(), rows[2].unit), QStringLiteral("12.5 mJ"));
    QVERIFY(!rows[2].parent);
    QCOMPARE(rows[3].label, QStringLiteral("Achieved occupancy"));
    QVERIFY(!rows[3].sentence.isEmpty());
    QCOMPARE(rows[5].label, QStringLiteral("Odd counter"));
    QVERIFY(rows[5].sentence.isEmpty());
    QVERIFY(metricRows(candidateFromText(QStringLiteral("1 parent 0 evaluating by x: y")), nullptr, nullptr,
                       catalogue)
                .empty());
}

void TestUiModels::latencySeriesHasBaselineFloorAndBestSoFar()
{
    const IterationSeries series = latencySeries(candidatesFromText(search));
    QCOMPARE(series.unit, QStringLiteral("µs"));
    QCOMPARE(series.points.size(), 3U);
    QCOMPARE(series.failures.size(), 1U);
    QCOMPARE(series.failures.front().candidate, 2);
    QCOMPARE(series.baselines.size(), 1U);
    QCOMPARE(series.baselines.front().second, 20.0);
    QCOMPARE(series.floor.value_or(0), 4.0);
    const std::vector<std::pair<double, double>> steps{{1, 30}, {3, 30}, {3, 12.5}, {4, 12.5}, {4, 10}};
    QCOMPARE(series.bestSoFar, steps);
    QCOMPARE(series.lastIteration, 4);
}

void TestUiModels::longLatenciesAreShownInMilliseconds()
{
    const IterationSeries series =
        latencySeries({candidateFromText(QStringLiteral("1 parent 0 slower 2500 x 0.01 by playbook: slow"))});
    QCOMPARE(series.unit, QStringLiteral("ms"));
    QCOMPARE(series.points.front().value, 2.5);
    QCOMPARE(series.baselines.front().second, 0.02);
}

void TestUiModels::metricSeriesFollowTheFastestCandidate()
{
    const IterationSeries series =
        metricSeries(candidatesFromText(search), "achieved_occupancy", QStringLiteral("Achieved occupancy"));
    QCOMPARE(series.unit, QStringLiteral("%"));
    QCOMPARE(series.points.size(), 3U);
    QCOMPARE(series.bestSoFar.back(), std::pair(4.0, 44.0));
}

void TestUiModels::iterationsExportAsCsv()
{
    const QStringList lines = iterationsAsCsv(candidatesFromText(search)).split(QLatin1Char('\n'));
    QCOMPARE(lines[0],
             QStringLiteral(
                 "iteration,candidate,verdict,latency_us,iqr_us,speedup,achieved_occupancy,dram_throughput"));
    QCOMPARE(lines[1], QStringLiteral("1,1,slower,30,1.5,0.67,41,1001"));
    QCOMPARE(lines[2], QStringLiteral("2,2,compile error,,,,,"));
}

void TestUiModels::theBadgeSaysWhetherTimesAreModelledOrMeasured_data()
{
    QTest::addColumn<bool>("simulated");
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("text");
    QTest::newRow("simulator") << true << QString() << QStringLiteral("simt:h200 · modelled times");
    QTest::newRow("simulator whatever it is told")
        << true << QStringLiteral("cupti") << QStringLiteral("simt:h200 · modelled times");
    QTest::newRow("GPU, CUPTI") << false << QStringLiteral("cupti")
                                << QStringLiteral("cuda:0 NVIDIA H200 · measured by CUPTI");
    QTest::newRow("GPU, events") << false << QStringLiteral("events")
                                 << QStringLiteral("cuda:0 NVIDIA H200 · measured by CUDA events");
    QTest::newRow("GPU, nothing timed") << false << QString() << QStringLiteral("cuda:0 NVIDIA H200");
}

void TestUiModels::theBadgeSaysWhetherTimesAreModelledOrMeasured()
{
    QFETCH(bool, simulated);
    QFETCH(QString, source);
    DeviceInfo device;
    device.isSimulated = simulated;
    device.id = simulated ? "simt:h200" : "cuda:0";
    device.name = simulated ? "SIMT simulator modelling an NVIDIA H200" : "NVIDIA H200";
    QTEST(deviceBadgeText(device, source), "text");
}

void TestUiModels::theWorstElementIsOneSentence()
{
    QCOMPARE(worstElementText({"out", "rows 1", {3, 5}, 0.25, 0.5, 1e-6}),
             QStringLiteral("out[3, 5]: expected 0.25, got 0.5, allowed error 1e-06 (case rows 1)"));
    QCOMPARE(elideMiddle(QStringLiteral("abcdefghij"), 5), QStringLiteral("ab…ij"));
}

QTEST_GUILESS_MAIN(TestUiModels)
#include "test_ui_models.moc"
