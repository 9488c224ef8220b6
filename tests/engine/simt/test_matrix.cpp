// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix instructions against the same on the host. Small whole numbers make every
// sum exact, so that layouts are proven bit by bit; rounding has rows of its own.
#include "cuda_source.h"
#include "graph/tensor_type.h"
#include "simulator_fixture.h"

#include <cmath>
#include <random>

using namespace kernelwright;

namespace
{

constexpr int warp = 32;

struct MmaRow
{
    const char *opcode;
    int rows, depth; ///< columns are always 8
    int bits;        ///< of an element of A and B
    const char *kind;
    int accumulatorBits;
};

constexpr MmaRow mmaRows[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 16, "f16", 32},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, "f16", 32},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, "f16", 16},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, "f16", 16},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, "bf16", 32},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 16, "bf16", 32},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32, "tf32", 32},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, "tf32", 32},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, 8, "e4m3", 32},
    {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 32, 8, "e5m2 e4m3", 32},
    {"m16n8k16.row.col.f16.e5m2.e5m2.f16", 16, 16, 8, "e5m2", 16},
    {"m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, "s8", 32},
    {"m8n8k16.row.col.satfinite.s32.u8.s8.s32", 8, 16, 8, "u8 s8", 32},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, "s8", 32},
    {"m16n8k32.row.col.s32.s8.u8.s32", 16, 32, 8, "s8 u8", 32},
    {"m8n8k32.row.col.s32.s4.s4.s32", 8, 32, 4, "s4", 32},
    {"m16n8k32.row.col.s32.u4.s4.s32", 16, 32, 4, "u4 s4", 32},
    {"m16n8k64.row.col.s32.s4.u4.s32", 16, 64, 4, "s4 u4", 32},
    {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 128, 1, "b1", 32},
    {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, 1, "b1", 32},
    {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, 1, "b1", 32},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, "f64", 64},
    {"m16n8k4.row.col.f64.f64.f64.f64", 16, 4, 64, "f64", 64},
    {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 64, "f64", 64},
    {"m16n8k16.row.col.f64.f64.f64.f64", 16, 16, 64, "f64", 64},
};

/// A whole number the element type holds exactly, and its bits.
int smallNumber(std::mt19937 &random, const std::string &kind)
{
    const int value = static_cast<int>(random() % 7) - 3;
    if (kind == "b1") return static_cast<int>(random() % 2);
    return kind[0] == 'u' ? std::abs(value) : value;
}

std::uint64_t bitsOf(int value, const std::string &kind)
{
    const auto real = static_cast<float>(value);
    std::uint32_t single = 0;
    std::memcpy(&single, &real, 4);
    if (kind == "f16") return floatToHalf(real);
    if (kind == "bf16") return single >> 16;
    if (kind == "tf32") return single | 0x1abc; // the low bits are not looked at
    if (kind == "f64") {
        const double wide = value;
        std::uint64_t bits = 0;
        std::memcpy(&bits, &wide, 8);
        return bits;
    }
    // 8-bit floats are halves with bits missing; numbers up to 3 need two bits of mantissa.
    if (kind == "e5m2") return floatToHalf(real) >> 8;
    if (kind == "e4m3") {
        const std::uint32_t half = floatToHalf(real);
        return real == 0 ? 0 : ((half >> 8) & 0x80u) | (((half & 0x7fffu) - (8u << 10)) >> 7);
    }
    return static_cast<std::uint64_t>(value) & (kind == "s4" || kind == "u4" ? 0xfu : 0xffu);
}

/// Registers of one operand, 32 lanes each, and the matrix they hold: rows × depth.
struct OperandMatrix
{
    std::vector<int> values;
    std::vector<std::uint64_t> registers;
    int registerCount = 0;
};

OperandMatrix randomOperand(std::mt19937 &random, int rows, int depth, int bits, const std::string &kind)
{
    OperandMatrix matrix;
    matrix.values.resize(static_cast<std::size_t>(rows * depth));
    for (int &value : matrix.values)
        value = smallNumber(random, kind);
    const int perRegister = bits == 64 ? 1 : 32 / bits;
    matrix.registerCount = rows * depth / perRegister / warp;
    matrix.registers.resize(static_cast<std::size_t>(matrix.registerCount * warp));
    for (int index = 0; index < matrix.registerCount; ++index)
        for (int lane = 0; lane < warp; ++lane)
            for (int part = 0; part < perRegister; ++part) {
                // The manual's formulas: "row = groupID (+ 8)", "column = threadID_in_group · n + i (+ 4n)".
                const bool alternates = rows == 16;
                const int row = lane / 4 + (alternates ? 8 * (index % 2) : 0);
                const int column =
                    (lane % 4) * perRegister + part + (alternates ? index / 2 : index) * 4 * perRegister;
                matrix.registers[static_cast<std::size_t>(index * warp + lane)] |=
                    bitsOf(matrix.values[static_cast<std::size_t>(row * depth + column)], kind)
                    << (part * bits);
            }
    return matrix;
}

/// A kernel that loads fragments from a, b, c (64 bits a register and lane) and stores d.
std::string mmaKernel(const MmaRow &row, int aCount, int bCount, int dCount)
{
    const std::string width = row.bits == 64 ? "64" : "32";
    std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
        ".param .u64 c, .param .u64 d)\n{\n.reg .b64 %p<4>, %t, %o;\n.reg .b32 %l;\n.reg .b" +
        width + " %a<9>, %b<9>, %c<9>, %d<9>;\nmov.u32 %l, %tid.x;\nmul.wide.u32 %o, %l, 8;\n";
    const auto list = [](const char *name, int count) {
        std::string registers = "{";
        for (int i = 0; i < count; ++i)
            registers += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
        return registers + "}";
    };
    const char *names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; ++i) {
        const std::string n = names[i], p = "%p" + std::to_string(i);
        text += "ld.param.u64 " + p + ", [" + n + "];\nadd.u64 " + p + ", " + p + ", %o;\n";
        for (int index = 0; i < 3 && index < (i == 0 ? aCount : i == 1 ? bCount : dCount); ++index)
            text += "ld.global.b" + width + " %" + n + std::to_string(index) + ", [" + p + "+" +
                    std::to_string(index * warp * 8) + "];\n";
    }
    text += std::string("mma.sync.aligned.") + row.opcode + " " + list("d", dCount) + ", " +
            list("a", aCount) + ", " + list("b", bCount) + ", " + list("c", dCount) + ";\n";
    for (int index = 0; index < dCount; ++index)
        text += "st.global.b" + width + " [%p3+" + std::to_string(index * warp * 8) + "], %d" +
                std::to_string(index) + ";\n";
    return text + "ret;\n}\n";
}

struct WmmaRow
{
    const char *name;
    int m, n, k;
    const char *type, *kind, *accumulator;
    bool isARow, isBRow, isCRow;
};
constexpr WmmaRow wmmaRows[] = {
    {"half to float", 16, 16, 16, "__half", "f16", "float", true, false, true},
    {"half to half, columns", 16, 16, 16, "__half", "f16", "__half", false, true, false},
    {"tall", 32, 8, 16, "__half", "f16", "float", true, true, true},
    {"wide", 8, 32, 16, "__half", "f16", "float", false, false, false},
    {"bfloat", 16, 16, 16, "__nv_bfloat16", "bf16", "float", true, true, true},
    {"bytes", 16, 16, 16, "signed char", "s8", "int", true, false, true},
    {"bytes by columns", 32, 8, 16, "unsigned char", "u8", "int", false, true, false},
    {"doubles", 8, 8, 4, "double", "f64", "double", true, false, true},
};

int accumulatorBytes(const std::string &type)
{
    return type == "double" ? 8 : type == "__half" ? 2 : 4;
}

std::uint64_t accumulatorBits(int value, const std::string &type)
{
    if (type == "int") return static_cast<std::uint32_t>(value);
    if (type == "double") return bitsOf(value, "f64");
    if (type == "__half") return bitsOf(value, "f16");
    const auto real = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &real, 4);
    return bits;
}

} // namespace

class MatrixTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void mmaAgreesWithTheManualsLayouts_data();
    void mmaAgreesWithTheManualsLayouts();
    void tensorSumsAreCutOffAsDocumented_data();
    void tensorSumsAreCutOffAsDocumented();
    void wmmaMultipliesWhatItLoads_data();
    void wmmaMultipliesWhatItLoads();
    void ldmatrixAndStmatrixMoveRowsAndColumns();
    void aMatrixInstructionNeedsTheWholeWarp();

private:
    std::unique_ptr<Device> device_;
};

void MatrixTest::mmaAgreesWithTheManualsLayouts_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(mmaRows); ++i)
        QTest::addRow("%s", mmaRows[i].opcode) << static_cast<int>(i);
}

void MatrixTest::mmaAgreesWithTheManualsLayouts()
{
    QFETCH(int, index);
    const MmaRow &row = mmaRows[index];
    const std::string kinds = row.kind;
    const std::size_t space = kinds.find(' ');
    const std::string aKind = kinds.substr(0, space),
                      bKind = space == std::string::npos ? aKind : kinds.substr(space + 1);
    std::mt19937 random(static_cast<unsigned>(index));
    const OperandMatrix a = randomOperand(random, row.rows, row.depth, row.bits, aKind);
    const OperandMatrix b = randomOperand(random, 8, row.depth, row.bits, bKind);
    const bool isInteger = aKind[0] == 's' || aKind[0] == 'u' || aKind == "b1";
    const std::string type = row.accumulatorBits == 64   ? "double"
                             : row.accumulatorBits == 16 ? "__half"
                             : isInteger                 ? "int"
                                                         : "float";
    const int positions = row.rows * 8 / warp, perRegister = row.accumulatorBits == 16 ? 2 : 1;
    std::vector<std::uint64_t> c(static_cast<std::size_t>(positions / perRegister * warp)),
        expected(c.size());
    for (int position = 0; position < positions; ++position)
        for (int lane = 0; lane < warp; ++lane) {
            const int r = lane / 4 + 8 * (position / 2), column = 2 * (lane % 4) + position % 2;
            const int start = smallNumber(random, "s8");
            int sum = start;
            for (int k = 0; k < row.depth; ++k)
                sum += a.values[static_cast<std::size_t>(r * row.depth + k)] *
                       b.values[static_cast<std::size_t>(column * row.depth + k)];
            const auto place = static_cast<std::size_t>(position / perRegister * warp + lane);
            const int shift = 16 * (position % perRegister);
            c[place] |= accumulatorBits(start, type) << shift;
            expected[place] |= accumulatorBits(sum, type) << shift;
        }
    const auto module =
        loadPtx(*device_, mmaKernel(row, a.registerCount, b.registerCount, positions / perRegister));
    const auto aMemory = upload(*device_, a.registers, "a"), bMemory = upload(*device_, b.registers, "b"),
               cMemory = upload(*device_, c, "c"),
               dMemory = upload(*device_, std::vector<std::uint64_t>(expected.size()), "d");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 1, warp,
                                      {argument(aMemory->address()), argument(bMemory->address()),
                                       argument(cMemory->address()), argument(dMemory->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    QCOMPARE(download<std::uint64_t>(*device_, *dMemory), expected);
}

void MatrixTest::tensorSumsAreCutOffAsDocumented_data()
{
    QTest::addColumn<float>("first");  // a[0][0] · 1
    QTest::addColumn<float>("second"); // a[0][1] · 1
    QTest::addColumn<float>("start");  // c[0][0]
    QTest::addColumn<float>("sum");
    QTest::newRow("exact") << 1.0f << 2.0f << 3.0f << 6.0f;
    QTest::newRow("cut toward zero, not rounded") << 0x1p-23f << 0x1p-24f << 1.0f << 1.0f + 0x1p-23f;
    QTest::newRow("cut toward zero below zero") << -0x1p-24f << -0x1p-24f << -1.0f << -(1.0f + 0x1p-23f);
    QTest::newRow("two halves of the last place meet") << 0x1p-24f << 0x1p-24f << 1.0f << 1.0f + 0x1p-23f;
    QTest::newRow("terms below the kept bits are lost") << 0x1p-13f << 0x1p-13f << 0x1p13f << 8192.0f;
    QTest::newRow("a denormal half counts") << 0x1p-24f << 0.0f << 0.0f << 0x1p-24f;
    QTest::newRow("infinity") << INFINITY << 1.0f << 0.0f << INFINITY;
    QTest::newRow("infinities cancel to NaN") << INFINITY << -INFINITY << 0.0f << NAN;
    QTest::newRow("NaN") << NAN << 1.0f << 0.0f << NAN;
    QTest::newRow("zeros") << 0.0f << 0.0f << 0.0f << 0.0f;
}

void MatrixTest::tensorSumsAreCutOffAsDocumented()
{
    QFETCH(float, first);
    QFETCH(float, second);
    QFETCH(float, start);
    QFETCH(float, sum);
    const MmaRow row{"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, "f16", 32};
    std::vector<std::uint64_t> a(4 * warp), b(2 * warp), c(4 * warp);
    a[0] = floatToHalf(first) | (std::uint64_t{floatToHalf(second)} << 16);
    b[0] = 0x3c003c00;
    std::memcpy(c.data(), &start, 4);
    const auto module = loadPtx(*device_, mmaKernel(row, 4, 2, 4));
    const auto aMemory = upload(*device_, a, "a"), bMemory = upload(*device_, b, "b"),
               cMemory = upload(*device_, c, "c"), dMemory = upload(*device_, c, "d");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 1, warp,
                                      {argument(aMemory->address()), argument(bMemory->address()),
                                       argument(cMemory->address()), argument(dMemory->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    float result = 0;
    std::memcpy(&result, download<std::uint64_t>(*device_, *dMemory).data(), 4);
    if (std::isnan(sum))
        QVERIFY(std::isnan(result));
    else
        QVERIFY2(result == sum, qPrintable(QString("%1").arg(double(result), 0, 'g', 12)));
}

void MatrixTest::wmmaMultipliesWhatItLoads_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(wmmaRows); ++i)
        QTest::newRow(wmmaRows[i].name) << static_cast<int>(i);
}

void MatrixTest::wmmaMultipliesWhatItLoads()
{
    QFETCH(int, index);
    const WmmaRow &row = wmmaRows[index];
    const auto layout = [](bool isRow) { return isRow ? "row_major" : "col_major"; };
    // One module for all rows would hide which shape does not compile.
    std::string source = "#include <mma.h>\nusing namespace nvcuda;\n";
    source += std::string("extern \"C\" __global__ void k(const ") + row.type + " *a, const " + row.type +
              " *b, const " + row.accumulator + " *c, " + row.accumulator + " *d) {\n#define SHAPE " +
              std::to_string(row.m) + ", " + std::to_string(row.n) + ", " + std::to_string(row.k) + "\n";
    source += std::string("wmma::fragment<wmma::matrix_a, SHAPE, ") + row.type +
              ", wmma::" + layout(row.isARow) + "> fa; wmma::fragment<wmma::matrix_b, SHAPE, " + row.type +
              ", wmma::" + layout(row.isBRow) + "> fb; wmma::fragment<wmma::accumulator, SHAPE, " +
              row.accumulator + "> fc;\n";
    const std::string cStride = std::to_string(row.isCRow ? row.n : row.m),
                      cLayout = std::string("wmma::mem_") + layout(row.isCRow);
    source += "wmma::load_matrix_sync(fa, a, " + std::to_string(row.isARow ? row.k : row.m) +
              "); wmma::load_matrix_sync(fb, b, " + std::to_string(row.isBRow ? row.n : row.k) +
              "); wmma::load_matrix_sync(fc, c, " + cStride + ", " + cLayout +
              "); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(d, fc, " + cStride + ", " +
              cLayout + "); }\n";
    const auto module = loadPtx(*device_, compileToPtx(source));

    std::mt19937 random(static_cast<unsigned>(index));
    const std::string kind = row.kind, type = row.accumulator;
    const std::size_t bytes = kind == "f64" ? 8 : kind == "s8" || kind == "u8" ? 1 : 2;
    const auto cBytes = static_cast<std::size_t>(accumulatorBytes(type));
    const auto matrix = [&](int rows, int columns, bool isRow, std::vector<std::uint8_t> &memory) {
        std::vector<int> values(static_cast<std::size_t>(rows * columns));
        memory.resize(values.size() * bytes);
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                const int value = values[static_cast<std::size_t>(r * columns + c)] =
                    smallNumber(random, kind);
                const std::uint64_t bits = bitsOf(value, kind);
                std::memcpy(memory.data() +
                                static_cast<std::size_t>(isRow ? r * columns + c : c * rows + r) * bytes,
                            &bits, bytes);
            }
        return values;
    };
    std::vector<std::uint8_t> aBytes, bBytes;
    const auto a = matrix(row.m, row.k, row.isARow, aBytes), b = matrix(row.k, row.n, row.isBRow, bBytes);
    std::vector<std::uint8_t> cMemory(static_cast<std::size_t>(row.m * row.n) * cBytes),
        expected(cMemory.size());
    for (int r = 0; r < row.m; ++r)
        for (int column = 0; column < row.n; ++column) {
            int sum = r - column;
            const std::uint64_t before = accumulatorBits(sum, type);
            for (int k = 0; k < row.k; ++k)
                sum += a[static_cast<std::size_t>(r * row.k + k)] *
                       b[static_cast<std::size_t>(k * row.n + column)];
            const std::uint64_t after = accumulatorBits(sum, type);
            const auto place =
                static_cast<std::size_t>(row.isCRow ? r * row.n + column : column * row.m + r) * cBytes;
            std::memcpy(cMemory.data() + place, &before, cBytes);
            std::memcpy(expected.data() + place, &after, cBytes);
        }
    const auto am = upload(*device_, aBytes, "a"), bm = upload(*device_, bBytes, "b"),
               cm = upload(*device_, cMemory, "c"),
               dm = upload(*device_, std::vector<std::uint8_t>(expected.size()), "d");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 1, warp,
                                      {argument(am->address()), argument(bm->address()),
                                       argument(cm->address()), argument(dm->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    QCOMPARE(download<std::uint8_t>(*device_, *dm), expected);
}

void MatrixTest::ldmatrixAndStmatrixMoveRowsAndColumns()
{
    // Four matrices, loaded as they are and transposed, stored as they are and transposed, and moved across.
    const auto module = loadPtx(*device_, compileToPtx(R"(
extern "C" __global__ void k(const unsigned short *x, unsigned short *y) {
    __shared__ __align__(16) unsigned short s[256], t[256];
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = x[i];
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(s) + threadIdx.x * 16, q = (unsigned)__cvta_generic_to_shared(t) + threadIdx.x * 16;
    unsigned a, b, c, d, e, f, g;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(e), "=r"(f) : "r"(p));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(g) : "r"(c));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(q), "r"(a), "r"(e), "r"(g), "r"(d) : "memory");
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) y[i] = t[i];
    ((unsigned *)y)[128 + threadIdx.x] = b;
    ((unsigned *)y)[160 + threadIdx.x] = f;
})"));
    std::vector<std::uint16_t> x(256);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<std::uint16_t>(1000 + i);
    const auto in = upload(*device_, x, "x"), out = upload(*device_, std::vector<std::uint16_t>(384), "y");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 1, warp, {argument(in->address()), argument(out->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    std::vector<std::uint16_t> expected(384);
    const auto at = [&](std::size_t matrix, std::size_t row, std::size_t column) {
        return x[64 * matrix + 8 * row + column];
    };
    for (std::size_t row = 0; row < 8; ++row)
        for (std::size_t column = 0; column < 8; ++column) {
            const std::size_t place = 8 * row + column;
            expected[place] = at(0, column, row);       // loaded straight, stored across
            expected[64 + place] = at(0, row, column);  // across twice
            expected[128 + place] = at(2, row, column); // moved across, stored across
            expected[192 + place] = at(3, column, row);
            expected[256 + place] = at(1, row, column);
            expected[320 + place] = at(1, column, row);
        }
    QCOMPARE(download<std::uint16_t>(*device_, *out), expected);
}

void MatrixTest::aMatrixInstructionNeedsTheWholeWarp()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
extern "C" __global__ void k(unsigned *y) {
    __shared__ __align__(16) unsigned s[128];
    if (threadIdx.x < 16) {
        unsigned a;
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(s)));
        y[threadIdx.x] = a;
    }
})"));
    const auto out = upload(*device_, std::vector<std::uint32_t>(32), "y");
    const auto done = runOne(*device_, *module, launchOf("k", 1, warp, {argument(out->address())}), false);
    QVERIFY(!done);
    QVERIFY2(done.error().message.find("all 32 threads") != std::string::npos, done.error().message.c_str());
}

QTEST_GUILESS_MAIN(MatrixTest)
#include "test_matrix.moc"
