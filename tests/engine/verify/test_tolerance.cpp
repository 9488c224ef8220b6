// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/comparison.h"
#include "engine/verify/input_generator.h"
#include "engine/verify/tolerance.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace kernelwright;

namespace
{

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_ = std::numeric_limits<double>::quiet_NaN();

HostTensor tensorOf(DType dtype, const std::vector<double> &values)
{
    HostTensor tensor = makeHostTensor(dtype, {static_cast<std::int64_t>(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i)
        storeElement(tensor.data() + i * dtypeSize(dtype), dtype, values[i]);
    return tensor;
}

OutputComparison compare(DType dtype, const std::vector<double> &got, const std::vector<double> &exact,
                         const std::vector<double> &eager)
{
    return compareOutput(
        "y", "captured", tensorOf(dtype, got),
        {tensorOf(isFloating(dtype) ? DType::Float64 : dtype, exact), tensorOf(dtype, eager)}, {});
}

bool passes(DType dtype, const std::vector<double> &got, const std::vector<double> &exact,
            const std::vector<double> &eager)
{
    return !compare(dtype, got, exact, eager).worst;
}

} // namespace

class TestTolerance : public QObject
{
    Q_OBJECT
private slots:
    void halfUlpIsHalfTheSpacing_data();
    void halfUlpIsHalfTheSpacing();
    void roundingOverflowsToInfinity();
    void allowedErrorFollowsTheWrittenFormula();
    void eagersOwnErrorWidensTheTolerance();
    void zerosNeverPass_data();
    void zerosNeverPass();
    void aSmallOutputIsJudgedByItsOwnScale();
    void halfAccumulationIsTooInaccurateForFloat32();
    void nanIsRightOnlyWhereTheReferenceHasIt_data();
    void nanIsRightOnlyWhereTheReferenceHasIt();
    void whereEagerFailsTheRestIsStillJudged();
    void integersMustBeEqual();
    void wideIntegersAreComparedByTheirBits();
    void worstElementIsNamed();
    void anotherShapeIsWrong();
};

void TestTolerance::halfUlpIsHalfTheSpacing_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<double>("magnitude");
    QTest::addColumn<double>("expected");
    QTest::newRow("float32 at 1") << int(DType::Float32) << 1.0 << std::ldexp(1, -24);
    QTest::newRow("float32 just below 2") << int(DType::Float32) << 1.999 << std::ldexp(1, -24);
    QTest::newRow("float32 at 2") << int(DType::Float32) << 2.0 << std::ldexp(1, -23);
    QTest::newRow("float32 negative") << int(DType::Float32) << -1.0 << std::ldexp(1, -24);
    QTest::newRow("float32 subnormal") << int(DType::Float32) << 1e-40 << std::ldexp(1, -150);
    QTest::newRow("float16 at 1") << int(DType::Float16) << 1.0 << std::ldexp(1, -11);
    QTest::newRow("float16 at zero") << int(DType::Float16) << 0.0 << std::ldexp(1, -25);
    QTest::newRow("bfloat16 at 1") << int(DType::BFloat16) << 1.0 << std::ldexp(1, -8);
    QTest::newRow("float64 at 1") << int(DType::Float64) << 1.0 << std::ldexp(1, -53);
    QTest::newRow("infinite") << int(DType::Float16) << inf << 16.0;
    QTest::newRow("int32") << int(DType::Int32) << 5.0 << 0.0;
}

void TestTolerance::halfUlpIsHalfTheSpacing()
{
    QFETCH(int, dtype);
    QFETCH(double, magnitude);
    QFETCH(double, expected);
    QCOMPARE(halfUlp(DType(dtype), magnitude), expected);
}

void TestTolerance::roundingOverflowsToInfinity()
{
    QCOMPARE(roundTo(DType::Float16, 65504), 65504.0);
    QCOMPARE(roundTo(DType::Float16, 65519.9), 65504.0);
    QCOMPARE(roundTo(DType::Float16, 65520), inf);
    QCOMPARE(roundTo(DType::Float16, -1e6), -inf);
    QCOMPARE(roundTo(DType::Float32, 1e39), inf);
    QCOMPARE(roundTo(DType::Float32, 0.1), double(0.1f));
    QVERIFY(std::isnan(roundTo(DType::Float32, nan_)));
    QCOMPARE(roundTo(DType::Int64, 3.5), 3.5);
}

void TestTolerance::allowedErrorFollowsTheWrittenFormula()
{
    // Eager is exact here: what remains is 2·(4u·|r| + u·rms + h) + h with |r| = rms = 1 and u = h = 2^-24.
    const std::vector<double> ones(16, 1.0);
    const AllowedError allowed(DType::Float32, ones, ones, {});
    QCOMPARE(allowed.scale(), 1.0);
    QCOMPARE(allowed.excess(), 0.0);
    QCOMPARE(allowed.at(1.0), 13 * std::ldexp(1, -24));
    Tolerance strict;
    strict.eagerMultiple = 1;
    strict.outputRoundings = 0;
    QCOMPARE(AllowedError(DType::Float32, ones, ones, strict).at(1.0), 6 * std::ldexp(1, -24));
}

void TestTolerance::eagersOwnErrorWidensTheTolerance()
{
    const std::vector<double> exact{1, 1, 1, 1};
    const std::vector<double> eager{1, 1.001, 1, 1};
    QVERIFY(passes(DType::Float32, {1.0015, 1, 1, 1}, exact, eager));
    QVERIFY(!passes(DType::Float32, {1.0035, 1, 1, 1}, exact, eager));
    QVERIFY(!passes(DType::Float32, {1.0015, 1, 1, 1}, exact, exact));
}

void TestTolerance::zerosNeverPass_data()
{
    QTest::addColumn<double>("scale");
    for (const double scale : {1e-30, 1e-6, 1.0, 1e6, 1e30})
        QTest::newRow(qPrintable(QString::number(scale))) << scale;
}

void TestTolerance::zerosNeverPass()
{
    QFETCH(double, scale);
    const std::vector<double> exact{scale, -scale, 2 * scale, 0.5 * scale};
    QVERIFY(passes(DType::Float32, exact, exact, exact));
    QVERIFY(!passes(DType::Float32, {0, 0, 0, 0}, exact, exact));
    QVERIFY(!passes(DType::Float32, {scale, -scale, 2 * scale, 0}, exact, exact));
}

void TestTolerance::aSmallOutputIsJudgedByItsOwnScale()
{
    QVERIFY(!passes(DType::Float32, {2e-8, 1e-8}, {1e-8, 1e-8}, {1e-8, 1e-8}));
}

void TestTolerance::halfAccumulationIsTooInaccurateForFloat32()
{
    const double exact = 0.7310585786;
    QVERIFY(!passes(DType::Float32, {roundTo(DType::Float16, exact)}, {exact}, {exact}));
    QVERIFY(!passes(DType::Float32, {roundTo(DType::BFloat16, exact)}, {exact}, {exact}));
    QVERIFY(
        passes(DType::Float16, {roundTo(DType::Float16, exact)}, {exact}, {roundTo(DType::Float16, exact)}));
}

void TestTolerance::nanIsRightOnlyWhereTheReferenceHasIt_data()
{
    QTest::addColumn<double>("got");
    QTest::addColumn<double>("exact");
    QTest::addColumn<double>("eager");
    QTest::addColumn<bool>("right");
    QTest::newRow("NaN for a number") << nan_ << 1.0 << 1.0 << false;
    QTest::newRow("NaN for NaN") << nan_ << nan_ << nan_ << true;
    QTest::newRow("number for NaN") << 1.0 << nan_ << nan_ << false;
    QTest::newRow("Inf for Inf") << inf << inf << inf << true;
    QTest::newRow("-Inf for Inf") << -inf << inf << inf << false;
    QTest::newRow("number for Inf") << 1e30 << inf << inf << false;
    QTest::newRow("NaN for Inf") << nan_ << inf << inf << false;
    QTest::newRow("eager overflows inside, candidate does not") << 1.0 << 1.0 << inf << true;
    QTest::newRow("eager overflows inside, candidate too") << inf << 1.0 << inf << true;
    QTest::newRow("eager overflows inside, candidate otherwise") << -inf << 1.0 << inf << true;
    QTest::newRow("eager loses all digits, candidate too") << 0.0 << 1.0 << 3.0 << true;
    QTest::newRow("eager is far off, but not beyond measure") << 0.0 << 1.0 << 1.2 << false;
    QTest::newRow("overflow of the output type") << inf << 1e39 << inf << true;
    QTest::newRow("largest finite for a value at the border")
        << 3.4028234663852886e38 << 3.40282352e38 << 3.4028234663852886e38 << true;
}

void TestTolerance::nanIsRightOnlyWhereTheReferenceHasIt()
{
    QFETCH(double, got);
    QFETCH(double, exact);
    QFETCH(double, eager);
    QTEST(passes(DType::Float32, {got, 1}, {exact, 1}, {eager, 1}), "right");
}

void TestTolerance::whereEagerFailsTheRestIsStillJudged()
{
    const std::vector<double> exact{1, 1, 1, 1}, eager{nan_, 7, 1, 1};
    QVERIFY(passes(DType::Float32, {5, nan_, 1, 1}, exact, eager));
    // Its failure widens nothing for the others.
    QVERIFY(!passes(DType::Float32, {5, nan_, 1.00001, 1}, exact, eager));
    QVERIFY(!passes(DType::Float32, {5, nan_, 1, nan_}, exact, eager));
}

void TestTolerance::integersMustBeEqual()
{
    QVERIFY(passes(DType::Int32, {1, 2}, {1, 2}, {1, 2}));
    QVERIFY(!passes(DType::Int32, {1, 3}, {1, 2}, {1, 2}));
    QVERIFY(!passes(DType::Bool, {1}, {0}, {0}));
    // A comparison can fall out differently in float64 than in eager's type: both are right.
    QVERIFY(passes(DType::Bool, {1}, {0}, {1}));
}

void TestTolerance::wideIntegersAreComparedByTheirBits()
{
    HostTensor exact = makeHostTensor(DType::Int64, {1}), got = makeHostTensor(DType::Int64, {1});
    *reinterpret_cast<std::int64_t *>(exact.data()) = (std::int64_t{1} << 60);
    *reinterpret_cast<std::int64_t *>(got.data()) = (std::int64_t{1} << 60);
    QVERIFY(!compareOutput("y", "c", got, {exact, exact}, {}).worst);
    *reinterpret_cast<std::int64_t *>(got.data()) = (std::int64_t{1} << 60) + 4096;
    QVERIFY(compareOutput("y", "c", got, {exact, exact}, {}).worst.has_value());
}

void TestTolerance::worstElementIsNamed()
{
    HostTensor exact = makeHostTensor(DType::Float32, {2, 3}), got = makeHostTensor(DType::Float32, {2, 3});
    for (int i = 0; i < 6; ++i) {
        reinterpret_cast<float *>(exact.data())[i] = 1;
        reinterpret_cast<float *>(got.data())[i] = 1;
    }
    reinterpret_cast<float *>(got.data())[1] = 1.5f;
    reinterpret_cast<float *>(got.data())[5] = 3;
    const OutputComparison comparison = compareOutput("y", "rows 2", got, {exact, exact}, {});
    QVERIFY(comparison.worst.has_value());
    QCOMPARE(comparison.wrongElements, std::int64_t{2});
    QCOMPARE(comparison.worst->index, (std::vector<std::int64_t>{1, 2}));
    QCOMPARE(comparison.worst->expected, 1.0);
    QCOMPARE(comparison.worst->got, 3.0);
    const std::string text = describe(*comparison.worst);
    QVERIFY2(text.find("output y[1, 2] in case 'rows 2': expected 1, got 3, allowed error ") == 0,
             text.c_str());
}

void TestTolerance::anotherShapeIsWrong()
{
    const HostTensor two = makeHostTensor(DType::Float32, {2}), three = makeHostTensor(DType::Float32, {3});
    QVERIFY(compareOutput("y", "c", two, {three, three}, {}).worst.has_value());
    const HostTensor half = makeHostTensor(DType::Float16, {3});
    QVERIFY(compareOutput("y", "c", half, {three, three}, {}).worst.has_value());
}

QTEST_APPLESS_MAIN(TestTolerance)
#include "test_tolerance.moc"
