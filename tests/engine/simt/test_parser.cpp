// SPDX-License-Identifier: GPL-3.0-or-later
#include "code/decoder.h"
#include "ptx/parser.h"
#include "simulator_fixture.h"

#include <random>

using namespace kernelwright;

namespace
{

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

const std::string program = header + R"(
.global .align 4 .u32 counter = 7;
.const .align 4 .b8 table[8] = {0, 0, 128, 63, 0, 0, 0, 64};
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 out) twice(.param .b32 in)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [in];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [out+0], %r2;
    ret;
}
.visible .entry kernel(.param .u64 .ptr .global .align 4 x, .param .align 8 .b8 pair[16])
.maxntid 256, 1, 1
{
    .local .align 16 .b8 depot[32];
    .shared .align 4 .b8 tile[128];
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
    .file 1 "kernel.cu"
    .loc 1 5 3
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    setp.lt.s32 %p1|%p2, %r1, 32;
    @!%p1 bra $done;
    { .reg .b32 %r<2>; .param .b32 arg; .param .b32 result;
      st.param.b32 [arg+0], %r1;
      call.uni (result), twice, (arg);
      ld.param.b32 %r1, [result+0]; }
    mov.f32 %f1, 0f3F800000;
    st.global.f32 [%rd1+4], %f1;
$done:
    ret;
}
)";

Result<simt::Program> decode(const std::string &text)
{
    auto module = simt::parsePtx(text);
    if (!module) return forward(module.error());
    return simt::decodeProgram(*module, {{"counter", 0x7f0000000000}, {"table", 0x7f0000100000}});
}

} // namespace

class ParserTest : public QObject
{
    Q_OBJECT

private slots:
    void everyPartOfAModuleIsRead();
    void theFileOfALineIsOutsideTheFunction();
    void truncatedTextsEndInAResultOrAnError();
    void alteredTextsEndInAResultOrAnError();
    void garbageIsRefused_data();
    void garbageIsRefused();
    void unknownInstructionsAreNamedWithTheirLine_data();
    void unknownInstructionsAreNamedWithTheirLine();
};

void ParserTest::everyPartOfAModuleIsRead()
{
    std::string text = program;
    text.erase(text.find("    .file 1"), std::string("    .file 1 \"kernel.cu\"\n").size());
    const auto module = simt::parsePtx(text);
    QVERIFY2(module, module ? "" : module.error().message.c_str());
    QCOMPARE(module->target, std::string("sm_90"));
    QCOMPARE(module->variables.size(), std::size_t{2});
    QCOMPARE(int(module->variables[1].initial[2]), 128);
    const simt::Function *kernel = module->findFunction("kernel");
    QVERIFY(kernel && kernel->isEntry);
    QCOMPARE(kernel->maxThreads, std::int64_t{256});
    QCOMPARE(kernel->parameters[1].byteCount, std::int64_t{16});
    QCOMPARE(kernel->statements.front().location.line, 5);
    const auto decoded = decode(text);
    QVERIFY2(decoded, decoded ? "" : decoded.error().message.c_str());
    const simt::DecodedFunction *entry = decoded->findEntry("kernel");
    QVERIFY(entry);
    QCOMPARE(entry->localBytes, std::uint32_t{32});
    QCOMPARE(entry->sharedBytes, std::uint32_t{128});
    QCOMPARE(entry->kernelParameterBytes, std::uint32_t{24});
}

void ParserTest::theFileOfALineIsOutsideTheFunction()
{
    const auto module = simt::parsePtx(program);
    QVERIFY(!module);
    QVERIFY(module.error().message.find(".file") != std::string::npos);
}

void ParserTest::truncatedTextsEndInAResultOrAnError()
{
    int refused = 0;
    for (std::size_t length = 0; length < program.size(); ++length) {
        const auto decoded = decode(program.substr(0, length));
        if (!decoded) {
            ++refused;
            QVERIFY(!decoded.error().message.empty());
        }
    }
    QVERIFY(refused > 500);
}

void ParserTest::alteredTextsEndInAResultOrAnError()
{
    std::mt19937 random(20240517);
    int refused = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string text = program;
        for (unsigned change = 0; change < 1 + random() % 4; ++change) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
            case 0:
                text[at] = static_cast<char>(random() % 256);
                break;
            case 1:
                text.erase(at, random() % 12);
                break;
            case 2:
                text.insert(at, text.substr(random() % text.size(), random() % 40));
                break;
            default:
                text.insert(at, std::string("9999999999"));
                break;
            }
        }
        refused += !decode(text);
    }
    QVERIFY(refused > 1000);
}

void ParserTest::garbageIsRefused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("part");
    const auto add = [](const char *name, const std::string &text, const char *part) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(part);
    };
    const auto body = [](const std::string &statements) {
        return header + ".visible .entry k()\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n" +
               statements + "\n}\n";
    };
    add("nothing", "", "not a PTX module");
    add("prose", "Hello, world", "expected a directive");
    add("binary",
        std::string("\x7f"
                    "ELF\x02\x01\x01\0\0",
                    9),
        "unexpected byte");
    add("open comment", header + "/* for ever", "comment is not closed");
    add("open string", header + ".file 1 \"kernel.cu", "string is not closed");
    add("open body", header + ".entry k() { ret;", "is not closed");
    add("32-bit addresses", ".version 9.0\n.target sm_90\n.address_size 32\n", "64-bit addresses");
    add("huge number", body("mov.u32 %r1, 99999999999999999999999;"), "too large");
    add("huge variable", header + ".global .b8 x[9223372036854775807];", "too large");
    add("many registers", body(".reg .b32 %x<1000000000>;"), "too many registers");
    add("undeclared register", body("add.s32 %r1, %r2, %r9;"), "%r9");
    add("undeclared label", body("bra $nowhere;"), "$nowhere");
    add("wrong width", body("add.s64 %r1, %rd1, %rd2;"), "wrong width");
    add("predicate as value", body("add.s32 %r1, %p1, %r2;"), "predicate");
    add("too few operands", body("add.s32 %r1, %r2;"), "number of operands");
    add("store to a parameter",
        header + ".entry k(.param .u32 n) {.reg .b32 %r<2>; st.param.u32 [n], %r1; ret;}",
        "cannot be written");
    add("read past a parameter",
        header + ".entry k(.param .u32 n) {.reg .b64 %r<2>; ld.param.u64 %r1, [n]; ret;}",
        "past the kernel's parameters");
    add("defined twice", header + ".entry k() {ret;} .entry k() {ret;}", "defined twice");
    add("deep scopes", body(std::string(5000, '{')), "nested scopes");
}

void ParserTest::garbageIsRefused()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, part);
    const auto decoded = decode(text.toStdString());
    QVERIFY(!decoded);
    QCOMPARE(decoded.error().code, ErrorCode::BadInput);
    QVERIFY2(decoded.error().message.find(part.toStdString()) != std::string::npos,
             decoded.error().message.c_str());
}

void ParserTest::unknownInstructionsAreNamedWithTheirLine_data()
{
    QTest::addColumn<QByteArray>("instruction");
    for (const char *instruction : {
             "tcgen05.fence::before_thread_sync;",
             "wgmma.fence.sync.aligned;",
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 16;",
             "multimem.red.global.add.f32 [%rd1], %r1;",
             "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r1, 0x0;",
             "tex.2d.v4.f32.f32 {%r1,%r1,%r1,%r1}, [%rd1, {%r1, %r2}];",
             "add.frobnicated.s32 %r1, %r2, %r3;",
             "frobnicate %r1;",
             "barrier.cluster.arrive;",
             "mov.u32 %r1, %envreg3;",
         })
        QTest::newRow(instruction) << QByteArray(instruction);
}

void ParserTest::unknownInstructionsAreNamedWithTheirLine()
{
    QFETCH(QByteArray, instruction);
    const auto decoded = decode(header + ".visible .entry k()\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n" +
                                instruction.toStdString() + "\n}\n");
    QVERIFY(!decoded);
    QCOMPARE(decoded.error().code, ErrorCode::NotSupported);
    const std::string opcode =
        instruction.left(instruction.indexOf(instruction.contains(' ') ? ' ' : ';')).toStdString();
    QVERIFY2(decoded.error().message.find("PTX line 7") != std::string::npos,
             decoded.error().message.c_str());
    QVERIFY2(decoded.error().message.find(opcode) != std::string::npos, decoded.error().message.c_str());
}

QTEST_GUILESS_MAIN(ParserTest)
#include "test_parser.moc"
