// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/statistics.h"

#include <QTest>

#include <random>

using namespace kernelwright;

class TestStatistics : public QObject
{
    Q_OBJECT
private slots:
    void quantilesInterpolateBetweenSamples();
    void intervalTakesTheOrderStatisticsOfTheBinomial();
    void intervalHoldsTheMedianNineteenTimesInTwenty();
    void fewSamplesGiveTheirWholeRange();
    void oneAbsurdSampleChangesNoVerdict();
    void verdictNeedsOnePercentAndSeparateIntervals_data();
    void verdictNeedsOnePercentAndSeparateIntervals();
    void belowTheFloorByMoreThanTheErrorIsSuspicious();
    void summaryTakesSumsAndSpans();
};

void TestStatistics::quantilesInterpolateBetweenSamples()
{
    QCOMPARE(median({}), 0.0);
    QCOMPARE(median({3}), 3.0);
    QCOMPARE(median({4, 1, 3, 2}), 2.5);
    QCOMPARE(quantile({1, 2, 3, 4, 5}, 0.25), 2.0);
    QCOMPARE(quantile({1, 2, 3, 4}, 0.75), 3.25);
    QCOMPARE(interquartileRange({1, 2, 3, 4, 5}), 2.0);
    QCOMPARE(quantile({1, 2}, 7), 2.0);
}

void TestStatistics::intervalTakesTheOrderStatisticsOfTheBinomial()
{
    // Tabulated ranks of the 95 % sign-test interval: n = 20 takes the 6th and 15th, n = 10 the 2nd and 9th.
    std::vector<double> twenty;
    for (int i = 1; i <= 20; ++i)
        twenty.push_back(i);
    QCOMPARE(medianInterval(twenty).low, 6.0);
    QCOMPARE(medianInterval(twenty).high, 15.0);
    const std::vector<double> ten(twenty.begin(), twenty.begin() + 10);
    QCOMPARE(medianInterval(ten).low, 2.0);
    QCOMPARE(medianInterval(ten).high, 9.0);
}

void TestStatistics::intervalHoldsTheMedianNineteenTimesInTwenty()
{
    std::mt19937_64 random(7);
    std::exponential_distribution<double> skewed(1);
    const double truth = std::log(2.0);
    int held = 0;
    constexpr int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> samples(40);
        for (double &sample : samples)
            sample = skewed(random);
        const Interval interval = medianInterval(samples);
        held += interval.low <= truth && truth <= interval.high;
    }
    QVERIFY2(held >= trials * 0.94, qPrintable(QString::number(held)));
    QVERIFY2(held < trials, "an interval that always holds the median says nothing");
}

void TestStatistics::fewSamplesGiveTheirWholeRange()
{
    QCOMPARE(medianInterval({5, 1, 3}).low, 1.0);
    QCOMPARE(medianInterval({5, 1, 3}).high, 5.0);
    QCOMPARE(medianInterval({2}).low, 2.0);
    QCOMPARE(medianInterval({}).high, 0.0);
}

void TestStatistics::oneAbsurdSampleChangesNoVerdict()
{
    std::vector<double> candidate(30, 10.0), baseline(30, 10.0);
    candidate[3] = 1e-9;
    baseline[5] = 1e12;
    QVERIFY(compareTimes(candidate, baseline) == Comparison::Ambiguous);
}

void TestStatistics::verdictNeedsOnePercentAndSeparateIntervals_data()
{
    QTest::addColumn<double>("candidate");
    QTest::addColumn<double>("spread");
    QTest::addColumn<int>("verdict");
    QTest::newRow("clearly faster") << 80.0 << 1.0 << int(Comparison::Faster);
    QTest::newRow("clearly slower") << 130.0 << 1.0 << int(Comparison::Slower);
    QTest::newRow("half a percent") << 99.5 << 0.001 << int(Comparison::Ambiguous);
    QTest::newRow("half a percent slower") << 100.5 << 0.001 << int(Comparison::Ambiguous);
    QTest::newRow("exact two percent") << 98.0 << 0.001 << int(Comparison::Faster);
    QTest::newRow("five percent in noise") << 95.0 << 40.0 << int(Comparison::Ambiguous);
    QTest::newRow("equal") << 100.0 << 1.0 << int(Comparison::Ambiguous);
}

void TestStatistics::verdictNeedsOnePercentAndSeparateIntervals()
{
    QFETCH(double, candidate);
    QFETCH(double, spread);
    std::vector<double> mine, theirs;
    for (int i = 0; i < 21; ++i) {
        const double offset = spread * (i - 10) / 10.0;
        mine.push_back(candidate + offset);
        theirs.push_back(100 + offset);
    }
    QTEST(int(compareTimes(mine, theirs)), "verdict");
    QVERIFY(compareTimes({}, theirs) == Comparison::Ambiguous);
}

void TestStatistics::belowTheFloorByMoreThanTheErrorIsSuspicious()
{
    QVERIFY(isFasterThanPossible(std::vector<double>(10, 5.0), 10));
    QVERIFY(!isFasterThanPossible(std::vector<double>(10, 9.9), 10));
    QVERIFY(!isFasterThanPossible(std::vector<double>(10, 12.0), 10));
    QVERIFY(!isFasterThanPossible({4, 5, 6, 7, 20}, 10));
    QVERIFY(!isFasterThanPossible({}, 10));
    QVERIFY(!isFasterThanPossible({1.0}, 0));
}

void TestStatistics::summaryTakesSumsAndSpans()
{
    const LatencyStatistics summary = summarize({{1, 10, 2}, {3, 30, 2}, {2, 20, 2}});
    QCOMPARE(summary.medianUs, 2.0);
    QCOMPARE(summary.spanUs, 20.0);
    QCOMPARE(summary.iqrUs, 1.0);
    QCOMPARE(summary.samples, 3);
}

QTEST_APPLESS_MAIN(TestStatistics)
#include "test_statistics.moc"
