// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/service_outputs.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace kernelwright;

namespace
{
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

HostTensor tensor(const std::vector<float> &numbers)
{
    HostTensor made = makeHostTensor(DType::Float32, {static_cast<std::int64_t>(numbers.size())});
    std::memcpy(made.data(), numbers.data(), numbers.size() * sizeof(float));
    return made;
}
} // namespace

class TestServiceOutputs : public QObject
{
    Q_OBJECT

private slots:
    void errorsAreTheLargestOverAllOutputs();
    void specialNumbersCount_data();
    void specialNumbersCount();
    void zerosAreComparedWithTheOutputsOwnScale();
    void otherShapesTypesAndNumbersOfOutputsAreRefused();
};

void TestServiceOutputs::errorsAreTheLargestOverAllOutputs()
{
    const std::vector<HostTensor> got{tensor({1, 2, 3.5F}), tensor({100, 8})};
    const std::vector<HostTensor> stored{tensor({1, 2, 3}), tensor({100, 10})};
    const auto difference = compareOutputs(got, stored);
    QVERIFY(difference);
    QCOMPARE(difference->maxAbsError, 2.0);
    QCOMPARE(difference->maxRelError, 0.2);
}

void TestServiceOutputs::specialNumbersCount_data()
{
    QTest::addColumn<float>("got");
    QTest::addColumn<float>("stored");
    QTest::addColumn<double>("error");
    QTest::newRow("NaN for NaN") << notANumber << notANumber << 0.0;
    QTest::newRow("infinity for infinity") << inf << inf << 0.0;
    QTest::newRow("NaN for a number") << notANumber << 1.0F << infinity;
    QTest::newRow("a number for NaN") << 1.0F << notANumber << infinity;
    QTest::newRow("infinity for a number") << inf << 1.0F << infinity;
    QTest::newRow("the other infinity") << -inf << inf << infinity;
}

void TestServiceOutputs::specialNumbersCount()
{
    QFETCH(float, got);
    QFETCH(float, stored);
    QFETCH(double, error);
    const std::vector<HostTensor> outputs{tensor({1, got, 1})}, example{tensor({1, stored, 1})};
    const auto difference = compareOutputs(outputs, example);
    QVERIFY(difference);
    QCOMPARE(difference->maxAbsError, error);
    QCOMPARE(difference->maxRelError, error);
}

void TestServiceOutputs::zerosAreComparedWithTheOutputsOwnScale()
{
    const std::vector<HostTensor> got{tensor({1000, 1e-3F})}, stored{tensor({1000, 0})};
    const auto difference = compareOutputs(got, stored);
    QVERIFY(difference);
    QVERIFY(std::fabs(difference->maxRelError - 1) < 1e-6); // 1e-3 / (1e-6 · 1000)
    const std::vector<HostTensor> some{tensor({1e-3F})}, zero{tensor({0})};
    QCOMPARE(compareOutputs(some, zero)->maxRelError, infinity);
}

void TestServiceOutputs::otherShapesTypesAndNumbersOfOutputsAreRefused()
{
    const std::vector<HostTensor> two{tensor({1, 2})}, three{tensor({1, 2, 3})}, none;
    const std::vector<HostTensor> halves{makeHostTensor(DType::Float16, {2})};
    for (const auto &[got, stored] : {std::pair(two, three), std::pair(two, halves), std::pair(two, none)}) {
        const auto difference = compareOutputs(got, stored);
        QVERIFY(!difference);
        QCOMPARE(difference.error().code, ErrorCode::BadInput);
    }
    QVERIFY(compareOutputs(two, three).error().message.find("float32[3]") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestServiceOutputs)
#include "test_service_outputs.moc"
