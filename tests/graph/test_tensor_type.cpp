// SPDX-License-Identifier: GPL-3.0-or-later
// Element types, layouts, the sixteen- and eight-bit floats, and reading host tensors.
#include "graph/half_precision.h"
#include "graph/tensor_type.h"

#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace kernelwright;

namespace
{
const std::vector<DType> allTypes{DType::Float64,   DType::Float32,   DType::Float16,    DType::BFloat16,
                                  DType::Int64,     DType::Int32,     DType::Int16,      DType::Int8,
                                  DType::UInt8,     DType::Bool,      DType::Float8E4M3, DType::Float8E5M2,
                                  DType::Complex64, DType::Complex128};

/// What the bits of a float16 say, by the definition of the format.
double halfByDefinition(unsigned bits)
{
    const int exponent = static_cast<int>((bits >> 10U) & 31U);
    const double mantissa = bits & 1023U;
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * mantissa * std::pow(2.0, -24);
    return sign * (1 + mantissa / 1024) * std::pow(2.0, exponent - 15);
}

bool same(double a, double b)
{
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class T>
HostTensor tensorOf(DType dtype, std::vector<std::int64_t> sizes, const std::vector<T> &values)
{
    HostTensor tensor = makeHostTensor(dtype, sizes);
    std::memcpy(tensor.data(), values.data(), values.size() * sizeof(T));
    return tensor;
}
} // namespace

class TestTensorType : public QObject
{
    Q_OBJECT

private slots:
    void namesRoundTrip();
    void takesPyTorchsOtherNames_data();
    void takesPyTorchsOtherNames();
    void knowsSizes();
    void countsElements_data();
    void countsElements();
    void recognisesContiguousLayouts_data();
    void recognisesContiguousLayouts();
    void describesTypes();
    void readsEveryHalf();
    void roundTripsEveryHalf();
    void roundTripsEveryBfloat16();
    void roundsToNearestEven_data();
    void roundsToNearestEven();
    void roundsLikeTheDefinition();
    void readsEightBitFloats();
    void readsElementsOfEveryType();
    void readsStridedTensors();
    void writesAndReadsJson();
    void refusesBadJson_data();
    void refusesBadJson();
};

void TestTensorType::namesRoundTrip()
{
    for (const DType dtype : allTypes) {
        QCOMPARE(dtypeFromName(dtypeName(dtype)), dtype);
        QCOMPARE(dtypeFromName(std::string("torch.") + dtypeName(dtype)), dtype);
    }
    QCOMPARE(std::string(dtypeName(DType::Unknown)), std::string("unknown"));
    for (const char *name : {"", "unknown", "float31", "torch.", "FLOAT32", " float32"})
        QCOMPARE(dtypeFromName(name), DType::Unknown);
}

void TestTensorType::takesPyTorchsOtherNames_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("expected");
    for (const auto &[name, expected] :
         {std::pair("double", "float64"), std::pair("float", "float32"), std::pair("half", "float16"),
          std::pair("long", "int64"), std::pair("int", "int32"), std::pair("short", "int16"),
          std::pair("char", "int8"), std::pair("byte", "uint8"), std::pair("torch.half", "float16")})
        QTest::newRow(name) << name << expected;
}

void TestTensorType::takesPyTorchsOtherNames()
{
    QFETCH(QString, name);
    QFETCH(QString, expected);
    QCOMPARE(QString::fromUtf8(dtypeName(dtypeFromName(name.toStdString()))), expected);
}

void TestTensorType::knowsSizes()
{
    const std::vector<std::size_t> sizes{8, 4, 2, 2, 8, 4, 2, 1, 1, 1, 1, 1, 8, 16};
    for (std::size_t i = 0; i < allTypes.size(); ++i)
        QCOMPARE(dtypeSize(allTypes[i]), sizes[i]);
    QCOMPARE(dtypeSize(DType::Unknown), std::size_t{0});
    int floating = 0;
    for (const DType dtype : allTypes)
        floating += isFloating(dtype);
    QCOMPARE(floating, 6);
    QVERIFY(!isFloating(DType::Complex64) && !isFloating(DType::Unknown) && isFloating(DType::Float8E5M2));
}

void TestTensorType::countsElements_data()
{
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<qint64>("count");
    constexpr qint64 most = std::numeric_limits<qint64>::max() / 16;
    QTest::newRow("a scalar") << QList<qint64>{} << qint64{1};
    QTest::newRow("a vector") << QList<qint64>{7} << qint64{7};
    QTest::newRow("three dimensions") << QList<qint64>{2, 3, 4} << qint64{24};
    QTest::newRow("an empty one") << QList<qint64>{2, 0, 4} << qint64{0};
    QTest::newRow("a negative size") << QList<qint64>{-2, 3} << qint64{0};
    QTest::newRow("more than fits") << QList<qint64>{qint64{1} << 62, 4} << most;
    QTest::newRow("far more than fits") << QList<qint64>{qint64{1} << 62, qint64{1} << 62, 9} << most;
    QTest::newRow("more than fits, but empty") << QList<qint64>{qint64{1} << 62, 4, 0} << qint64{0};
}

void TestTensorType::countsElements()
{
    QFETCH(QList<qint64>, sizes);
    QFETCH(qint64, count);
    const TensorType type =
        contiguousType(DType::Complex128, std::vector<std::int64_t>(sizes.begin(), sizes.end()));
    QCOMPARE(qint64{type.elementCount()}, count);
    QCOMPARE(qint64{type.byteCount()}, count * 16);
}

void TestTensorType::recognisesContiguousLayouts_data()
{
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<QList<qint64>>("strides");
    QTest::addColumn<bool>("expected");
    const auto row = [](const char *name, QList<qint64> sizes, QList<qint64> strides, bool expected) {
        QTest::newRow(name) << sizes << strides << expected;
    };
    row("scalar", {}, {}, true);
    row("vector", {5}, {1}, true);
    row("every other", {5}, {2}, false);
    row("matrix", {3, 4}, {4, 1}, true);
    row("transposed", {3, 4}, {1, 3}, false);
    row("rows with gaps", {3, 4}, {8, 1}, false);
    row("one row with a gap", {1, 4}, {8, 1}, true);
    row("expanded", {3, 4}, {0, 1}, false);
    row("expanded by one", {1, 4}, {0, 1}, true);
    row("last of size one", {3, 1}, {1, 77}, true);
    row("empty", {0, 4}, {9, 9}, true);
    row("strides missing", {3, 4}, {1}, false);
}

void TestTensorType::recognisesContiguousLayouts()
{
    QFETCH(QList<qint64>, sizes);
    QFETCH(QList<qint64>, strides);
    QFETCH(bool, expected);
    TensorType type;
    type.dtype = DType::Float32;
    type.sizes.assign(sizes.begin(), sizes.end());
    type.strides.assign(strides.begin(), strides.end());
    QCOMPARE(type.isContiguous(), expected);
}

void TestTensorType::describesTypes()
{
    QCOMPARE(describe(contiguousType(DType::Float32, {2, 64, 512})), std::string("float32[2, 64, 512]"));
    QCOMPARE(describe(contiguousType(DType::Bool, {})), std::string("bool[]"));
    TensorType transposed = contiguousType(DType::Float16, {3, 4});
    transposed.strides = {1, 3};
    QCOMPARE(describe(transposed), std::string("float16[3, 4] strides [1, 3]"));
    QCOMPARE(contiguousStrides({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
    QCOMPARE(contiguousStrides({2, 0, 4}), (std::vector<std::int64_t>{4, 4, 1}));
    QCOMPARE(contiguousStrides({}), std::vector<std::int64_t>{});
}

void TestTensorType::readsEveryHalf()
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const double got = halfToFloat(static_cast<std::uint16_t>(bits));
        if (!same(got, halfByDefinition(bits)))
            QFAIL(qPrintable(QString("float16 0x%1 is %2").arg(bits, 4, 16).arg(got)));
    }
}

void TestTensorType::roundTripsEveryHalf()
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const std::uint16_t back = floatToHalf(halfToFloat(half));
        const bool isNan = (bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0;
        const bool good = isNan ? (back & 0x7C00U) == 0x7C00U && (back & 0x3FFU) != 0 : back == half;
        if (!good) QFAIL(qPrintable(QString("0x%1 came back as 0x%2").arg(bits, 4, 16).arg(back, 4, 16)));
    }
}

void TestTensorType::roundTripsEveryBfloat16()
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto brain = static_cast<std::uint16_t>(bits);
        const float value = bfloat16ToFloat(brain);
        if (std::bit_cast<std::uint32_t>(value) != bits << 16U)
            QFAIL("the upper half of a float32 is not what it reads");
        const std::uint16_t back = floatToBfloat16(value);
        const bool good = std::isnan(value) ? std::isnan(bfloat16ToFloat(back)) : back == brain;
        if (!good) QFAIL(qPrintable(QString("0x%1 came back as 0x%2").arg(bits, 4, 16).arg(back, 4, 16)));
    }
}

void TestTensorType::roundsToNearestEven_data()
{
    QTest::addColumn<float>("value");
    QTest::addColumn<int>("half");
    QTest::addColumn<int>("brain");
    const float tiny = std::ldexp(1.0F, -24);
    QTest::newRow("one") << 1.0F << 0x3C00 << 0x3F80;
    QTest::newRow("minus two") << -2.0F << 0xC000 << 0xC000;
    QTest::newRow("largest half") << 65504.0F << 0x7BFF << 0x4780;
    QTest::newRow("just below the tie to infinity") << 65519.996F << 0x7BFF << 0x4780;
    QTest::newRow("the tie to infinity") << 65520.0F << 0x7C00 << 0x4780;
    QTest::newRow("minus far too large") << -1e10F << 0xFC00 << 0xD015;
    QTest::newRow("tie down to even") << 1.0F + std::ldexp(1.0F, -11) << 0x3C00 << 0x3F80;
    QTest::newRow("tie up to even") << 1.0F + 3 * std::ldexp(1.0F, -11) << 0x3C02 << 0x3F80;
    QTest::newRow("above a tie") << 1.0F + std::ldexp(1.0F, -11) + std::ldexp(1.0F, -20) << 0x3C01 << 0x3F80;
    QTest::newRow("tie of bfloat16, down") << 1.0F + std::ldexp(1.0F, -8) << 0x3C04 << 0x3F80;
    QTest::newRow("tie of bfloat16, up") << 1.0F + 3 * std::ldexp(1.0F, -8) << 0x3C0C << 0x3F82;
    QTest::newRow("smallest subnormal half") << tiny << 0x0001 << 0x3380;
    QTest::newRow("half of it, to zero") << tiny / 2 << 0x0000 << 0x3300;
    QTest::newRow("a little more than half of it") << tiny * 0.5001F << 0x0001 << 0x3300;
    QTest::newRow("one and a half of it, to even") << tiny * 1.5F << 0x0002 << 0x33C0;
    QTest::newRow("largest subnormal half") << tiny * 1023 << 0x03FF << 0x3880;
    QTest::newRow("up from the subnormals") << tiny * 1023.6F << 0x0400 << 0x3880;
    QTest::newRow("minus zero") << -0.0F << 0x8000 << 0x8000;
    QTest::newRow("infinity") << HUGE_VALF << 0x7C00 << 0x7F80;
    QTest::newRow("largest float32") << std::numeric_limits<float>::max() << 0x7C00 << 0x7F80;
}

void TestTensorType::roundsToNearestEven()
{
    QFETCH(float, value);
    QFETCH(int, half);
    QFETCH(int, brain);
    QCOMPARE(int{floatToHalf(value)}, half);
    QCOMPARE(int{floatToBfloat16(value)}, brain);
}

void TestTensorType::roundsLikeTheDefinition()
{
    // Between each two neighbouring finite halves: a point below, at and above the middle.
    for (unsigned bits = 0; bits < 0x7BFFU; ++bits) {
        const double low = halfByDefinition(bits), high = halfByDefinition(bits + 1),
                     middle = (low + high) / 2;
        const auto below = std::nextafter(static_cast<float>(middle), 0.0F);
        const auto above = std::nextafter(static_cast<float>(middle), HUGE_VALF);
        const unsigned even = bits % 2 == 0 ? bits : bits + 1;
        const bool good = floatToHalf(below) == bits && floatToHalf(above) == bits + 1 &&
                          floatToHalf(static_cast<float>(middle)) == even &&
                          floatToHalf(-static_cast<float>(middle)) == (even | 0x8000U);
        if (!good) QFAIL(qPrintable(QString("wrong rounding above 0x%1").arg(bits, 4, 16)));
    }
}

void TestTensorType::readsEightBitFloats()
{
    QCOMPARE(float8E4M3ToFloat(0x00), 0.0F);
    QCOMPARE(float8E4M3ToFloat(0x01), std::ldexp(1.0F, -9));
    QCOMPARE(float8E4M3ToFloat(0x08), std::ldexp(1.0F, -6));
    QCOMPARE(float8E4M3ToFloat(0x38), 1.0F);
    QCOMPARE(float8E4M3ToFloat(0xB8), -1.0F);
    QCOMPARE(float8E4M3ToFloat(0x7E), 448.0F);
    QVERIFY(std::isnan(float8E4M3ToFloat(0x7F)) && std::isnan(float8E4M3ToFloat(0xFF)));
    QCOMPARE(float8E5M2ToFloat(0x3C), 1.0F);
    QCOMPARE(float8E5M2ToFloat(0x7B), 57344.0F);
    QCOMPARE(float8E5M2ToFloat(0x01), std::ldexp(1.0F, -16));
    QVERIFY(std::isinf(float8E5M2ToFloat(0x7C)) && std::isnan(float8E5M2ToFloat(0x7D)));
    for (int bits = 0; bits < 127; ++bits) // both formats grow with their bits
        QVERIFY(bits == 126 || float8E4M3ToFloat(static_cast<std::uint8_t>(bits)) <
                                   float8E4M3ToFloat(static_cast<std::uint8_t>(bits + 1)));
}

void TestTensorType::readsElementsOfEveryType()
{
    QCOMPARE(elementAsDouble(tensorOf<double>(DType::Float64, {2}, {0.1, -2.5}), 1), -2.5);
    QCOMPARE(elementAsDouble(tensorOf<float>(DType::Float32, {2}, {0.1F, 7.0F}), 0),
             static_cast<double>(0.1F));
    QCOMPARE(elementAsDouble(tensorOf<std::uint16_t>(DType::Float16, {1}, {0x3E00}), 0), 1.5);
    QCOMPARE(elementAsDouble(tensorOf<std::uint16_t>(DType::BFloat16, {1}, {0x3FC0}), 0), 1.5);
    QCOMPARE(elementAsDouble(tensorOf<std::int64_t>(DType::Int64, {1}, {-5000000000}), 0), -5e9);
    QCOMPARE(elementAsDouble(tensorOf<std::int32_t>(DType::Int32, {1}, {-7}), 0), -7.0);
    QCOMPARE(elementAsDouble(tensorOf<std::int16_t>(DType::Int16, {1}, {-300}), 0), -300.0);
    QCOMPARE(elementAsDouble(tensorOf<std::int8_t>(DType::Int8, {1}, {-3}), 0), -3.0);
    QCOMPARE(elementAsDouble(tensorOf<std::uint8_t>(DType::UInt8, {1}, {200}), 0), 200.0);
    QCOMPARE(elementAsDouble(tensorOf<std::uint8_t>(DType::Bool, {2}, {0, 77}), 1), 1.0);
    QCOMPARE(elementAsDouble(tensorOf<std::uint8_t>(DType::Float8E4M3, {1}, {0x38}), 0), 1.0);
    QCOMPARE(elementAsDouble(tensorOf<float>(DType::Complex64, {2}, {1, 2, 3, 4}), 1), 3.0);
    QCOMPARE(elementAsDouble(tensorOf<double>(DType::Complex128, {1}, {8, 9}), 0), 8.0);
}

void TestTensorType::readsStridedTensors()
{
    std::vector<float> numbers(24);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<float>(i);
    HostTensor tensor = tensorOf<float>(DType::Float32, {24}, numbers);
    tensor.type.sizes = {2, 3, 2};
    tensor.type.strides = {1, 4, 2};
    tensor.offset = 5 * 4;
    const std::vector<double> expected{5, 7, 9, 11, 13, 15, 6, 8, 10, 12, 14, 16};
    QCOMPARE(toDoubles(tensor), expected);
    for (std::size_t i = 0; i < expected.size(); ++i)
        QCOMPARE(elementAsDouble(tensor, static_cast<std::int64_t>(i)), expected[i]);

    tensor.type.strides = {0, 1, 0}; // expanded
    QCOMPARE(toDoubles(tensor), (std::vector<double>{5, 5, 6, 6, 7, 7, 5, 5, 6, 6, 7, 7}));

    tensor.type = contiguousType(DType::Float32, {});
    QCOMPARE(toDoubles(tensor), std::vector<double>{5});
    QVERIFY(toDoubles(makeHostTensor(DType::Float32, {3, 0})).empty());
    QVERIFY(makeHostTensor(DType::Float32, {0}).isDefined());
    QVERIFY(!HostTensor{.type = contiguousType(DType::Float32, {2})}.isDefined());
    QCOMPARE(toDoubles(makeHostTensor(DType::Float16, {2, 2})), (std::vector<double>{0, 0, 0, 0}));
}

void TestTensorType::writesAndReadsJson()
{
    TensorType type = contiguousType(DType::BFloat16, {2, 3});
    type.symbols = {"s0", ""};
    QCOMPARE(readJson<TensorType>(Json(type), "t").value(), type);
    type.symbols.clear();
    type.strides = {1, 2};
    QCOMPARE(readJson<TensorType>(Json(type), "t").value(), type);
    QCOMPARE(readJson<TensorType>(Json(TensorType{}), "t").value(), TensorType{});
}

void TestTensorType::refusesBadJson_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    QTest::newRow("no dtype") << R"({"shape": [], "strides": []})"
                              << "dtype";
    QTest::newRow("shape no list") << R"({"dtype": "bool", "shape": 3, "strides": []})"
                                   << "array";
    QTest::newRow("negative size") << R"({"dtype": "bool", "shape": [-1], "strides": [1]})"
                                   << "negative size or stride";
    QTest::newRow("negative stride") << R"({"dtype": "bool", "shape": [2], "strides": [-1]})"
                                     << "negative size or stride";
    QTest::newRow("strides missing") << R"({"dtype": "bool", "shape": [2, 2], "strides": [1]})"
                                     << "2 sizes but 1 strides";
    QTest::newRow("symbols missing")
        << R"({"dtype": "bool", "shape": [2, 2], "strides": [2, 1], "symbols": ["s"]})"
        << "2 sizes but 1 symbols";
}

void TestTensorType::refusesBadJson()
{
    QFETCH(QString, text);
    QFETCH(QString, message);
    const auto type = readJson<TensorType>(Json::parse(text.toStdString()), "type of 'x'");
    QVERIFY(!type);
    QCOMPARE(type.error().code, ErrorCode::BadInput);
    QVERIFY2(QString::fromStdString(type.error().message).contains(message), type.error().message.c_str());
    QVERIFY(QString::fromStdString(type.error().message).startsWith("type of 'x': "));
}

QTEST_APPLESS_MAIN(TestTensorType)
#include "test_tensor_type.moc"
