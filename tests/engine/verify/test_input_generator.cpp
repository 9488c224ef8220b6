// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/comparison.h"
#include "engine/verify/input_generator.h"
#include "engine/verify/tolerance.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace kernelwright;

namespace
{

HostTensor filled(DType dtype, const std::vector<std::int64_t> &sizes, const std::vector<double> &cycle)
{
    HostTensor tensor = makeHostTensor(dtype, sizes);
    for (std::int64_t i = 0; i < tensor.type.elementCount(); ++i)
        storeElement(tensor.data() + i * std::int64_t(dtypeSize(dtype)), dtype,
                     cycle[std::size_t(i) % cycle.size()]);
    return tensor;
}

struct Sample
{
    Task task;
    ShapeCase shapes;
    std::vector<HostTensor> captured;
};

Sample sampleWith(HostTensor captured, bool isWeight)
{
    Sample sample;
    sample.task.inputs = {{"x", "x", captured.type, isWeight}};
    sample.shapes.name = "captured";
    sample.shapes.inputs = {captured.type};
    sample.captured = {std::move(captured)};
    return sample;
}

std::vector<double> draw(const Sample &sample, InputPattern pattern,
                         WeightChoice weights = WeightChoice::Captured, std::uint64_t seed = 5)
{
    return toDoubles(
        generateInputs(sample.task, sample.shapes, sample.captured, pattern, weights, seed).front());
}

std::vector<double> spread(int count)
{
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
        values.push_back(3 + 2 * std::sin(i * 1.7) + 0.01 * i);
    return values;
}

} // namespace

class TestInputGenerator : public QObject
{
    Q_OBJECT
private slots:
    void theSameSeedGivesTheSameBytes();
    void drawnValuesHaveTheCapturedMeanAndDeviation();
    void positiveTensorsStayPositive();
    void masksKeepToTheirValues();
    void integersStayInRange();
    void weightsAreCapturedOrRedrawn();
    void aBiasOfZerosIsRedrawnToOthers();
    void patternsAreWhatTheirNamesSay();
    void specialValuesArePlantedHoweverSmallTheTensor();
    void stridedCasesAreFilledInTheirLayout();
    void storedElementsAreRoundedAndSaturated();
};

void TestInputGenerator::theSameSeedGivesTheSameBytes()
{
    const Sample sample = sampleWith(filled(DType::Float32, {8, 64}, spread(500)), false);
    QCOMPARE(draw(sample, InputPattern::LikeCaptured), draw(sample, InputPattern::LikeCaptured));
    QVERIFY(draw(sample, InputPattern::LikeCaptured) !=
            draw(sample, InputPattern::LikeCaptured, WeightChoice::Captured, 6));
}

void TestInputGenerator::drawnValuesHaveTheCapturedMeanAndDeviation()
{
    Sample sample = sampleWith(
        filled(DType::Float32, {100, 100}, {-4, -1, 0.5, 2, 7, 3, 8, -6, 4, 1, 9, 5, -3, 6, 10, -2, 0.25}),
        false);
    const std::vector<double> real = toDoubles(sample.captured.front()),
                              made = draw(sample, InputPattern::LikeCaptured);
    const auto mean = [](const std::vector<double> &v) {
        double sum = 0;
        for (const double value : v)
            sum += value;
        return sum / double(v.size());
    };
    const auto deviation = [&](const std::vector<double> &v) {
        double sum = 0;
        for (const double value : v)
            sum += (value - mean(v)) * (value - mean(v));
        return std::sqrt(sum / double(v.size()));
    };
    QVERIFY(std::fabs(mean(made) - mean(real)) < 0.1 * deviation(real));
    QVERIFY(std::fabs(deviation(made) / deviation(real) - 1) < 0.1);
}

void TestInputGenerator::positiveTensorsStayPositive()
{
    std::vector<double> positive = spread(400);
    for (double &value : positive)
        value = std::fabs(value) + 0.001;
    const std::vector<double> made =
        draw(sampleWith(filled(DType::Float32, {400}, positive), false), InputPattern::LikeCaptured);
    QVERIFY(*std::min_element(made.begin(), made.end()) > 0);
}

void TestInputGenerator::masksKeepToTheirValues()
{
    const double minus = -std::numeric_limits<double>::infinity();
    const std::vector<double> made =
        draw(sampleWith(filled(DType::Float32, {64, 64}, {0, minus, 0}), false), InputPattern::LikeCaptured);
    QCOMPARE(std::set<double>(made.begin(), made.end()), (std::set<double>{minus, 0.0}));
}

void TestInputGenerator::integersStayInRange()
{
    const std::vector<double> made =
        draw(sampleWith(filled(DType::Int64, {1000}, {3, 17, 99}), false), InputPattern::LikeCaptured);
    QVERIFY(*std::min_element(made.begin(), made.end()) >= 3);
    QVERIFY(*std::max_element(made.begin(), made.end()) <= 99);
    QVERIFY(std::set<double>(made.begin(), made.end()).size() > 20);
}

void TestInputGenerator::weightsAreCapturedOrRedrawn()
{
    const Sample sample = sampleWith(filled(DType::Float32, {64}, spread(64)), true);
    const std::vector<double> real = toDoubles(sample.captured.front());
    QCOMPARE(draw(sample, InputPattern::LikeCaptured, WeightChoice::Captured), real);
    QVERIFY(draw(sample, InputPattern::LikeCaptured, WeightChoice::Redrawn) != real);
    const Sample indices = sampleWith(filled(DType::Int64, {4}, {2, 0, 1, 3}), true);
    QCOMPARE(draw(indices, InputPattern::LikeCaptured, WeightChoice::Redrawn),
             (std::vector<double>{2, 0, 1, 3}));
}

void TestInputGenerator::aBiasOfZerosIsRedrawnToOthers()
{
    const std::vector<double> made = draw(sampleWith(filled(DType::Float32, {64}, {0}), true),
                                          InputPattern::LikeCaptured, WeightChoice::Redrawn);
    QVERIFY(std::set<double>(made.begin(), made.end()).size() > 10);
}

void TestInputGenerator::patternsAreWhatTheirNamesSay()
{
    const Sample sample = sampleWith(filled(DType::Float16, {64, 64}, spread(900)), false);
    const auto all = [](const std::vector<double> &values, auto condition) {
        return std::all_of(values.begin(), values.end(), condition);
    };
    const std::vector<double> equal = draw(sample, InputPattern::AllEqual);
    QVERIFY(all(equal, [&](double value) { return value == equal.front(); }));
    QVERIFY(all(draw(sample, InputPattern::Zeros), [](double value) { return value == 0; }));
    QVERIFY(all(draw(sample, InputPattern::LargeNegative),
                [](double value) { return value <= -1000 && std::isfinite(value); }));
    QVERIFY(all(draw(sample, InputPattern::NearMaximum),
                [](double value) { return std::fabs(value) >= 32750 && std::isfinite(value); }));
    QVERIFY(all(draw(sample, InputPattern::Denormals),
                [](double value) { return value != 0 && std::fabs(value) < 1e-4; }));
    const std::vector<double> mixed = draw(sample, InputPattern::MixedScale);
    double least = 1e9, most = 0;
    for (const double value : mixed) {
        if (value != 0) least = std::min(least, std::fabs(value));
        most = std::max(most, std::fabs(value));
    }
    QVERIFY(most / least > 1e4);
}

void TestInputGenerator::specialValuesArePlantedHoweverSmallTheTensor()
{
    const Sample tiny = sampleWith(filled(DType::Float32, {2}, {1, 2}), false);
    const auto count = [](const std::vector<double> &values, auto condition) {
        return std::count_if(values.begin(), values.end(), condition);
    };
    QVERIFY(count(draw(tiny, InputPattern::NotANumbers), [](double value) { return std::isnan(value); }) > 0);
    QVERIFY(count(draw(tiny, InputPattern::Infinities), [](double value) { return std::isinf(value); }) > 0);
    QCOMPARE(
        count(draw(tiny, InputPattern::LikeCaptured), [](double value) { return !std::isfinite(value); }), 0);
}

void TestInputGenerator::stridedCasesAreFilledInTheirLayout()
{
    Sample sample = sampleWith(filled(DType::Float32, {3, 5}, spread(15)), true);
    sample.shapes.inputs[0].strides = {1, 3};
    const HostTensor made = generateInputs(sample.task, sample.shapes, sample.captured,
                                           InputPattern::LikeCaptured, WeightChoice::Captured, 1)
                                .front();
    QCOMPARE(made.type.strides, (std::vector<std::int64_t>{1, 3}));
    QCOMPARE(toDoubles(made), toDoubles(sample.captured.front()));
    float second = 0;
    std::memcpy(&second, made.data() + 3 * sizeof(float), sizeof second);
    QCOMPARE(double(second), elementAsDouble(sample.captured.front(), 1));
    TensorType padded = made.type;
    padded.strides = {8, 1};
    QCOMPARE(storageElements(padded), std::int64_t{2 * 8 + 4 + 1});
    padded.sizes = {0, 5};
    QCOMPARE(storageElements(padded), std::int64_t{0});
}

void TestInputGenerator::storedElementsAreRoundedAndSaturated()
{
    std::byte bytes[8];
    storeElement(bytes, DType::Int8, 300);
    QCOMPARE(int(std::int8_t(bytes[0])), 127);
    storeElement(bytes, DType::UInt8, -5);
    QCOMPARE(int(bytes[0]), 0);
    storeElement(bytes, DType::Int64, 1e300);
    std::int64_t wide = 0;
    std::memcpy(&wide, bytes, sizeof wide);
    QCOMPARE(wide, std::numeric_limits<std::int64_t>::max());
    storeElement(bytes, DType::Int64, std::numeric_limits<double>::quiet_NaN());
    std::memcpy(&wide, bytes, sizeof wide);
    QCOMPARE(wide, std::numeric_limits<std::int64_t>::lowest());
    storeElement(bytes, DType::Bool, 0.5);
    QCOMPARE(int(bytes[0]), 1);
}

QTEST_APPLESS_MAIN(TestInputGenerator)
#include "test_input_generator.moc"
