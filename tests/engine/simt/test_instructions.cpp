// SPDX-License-Identifier: GPL-3.0-or-later
#include "instruction_rows.h"
#include "simulator_fixture.h"

using namespace kernelwright;

namespace
{

/// A kernel around one instruction: three operands in every width, the result widened to 64 bits.
std::string kernelAround(const InstructionRow &row)
{
    std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n"
                       ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
                       ".reg .b64 %out, %a64, %b64, %c64, %d64;\n.reg .b32 %a32, %b32, %c32, %d32, %x32;\n"
                       ".reg .b16 %a16, %b16, %c16, %d16, %x16;\n.reg .pred %dp, %xp;\n"
                       "ld.param.u64 %out, [out];\n";
    for (const char *name : {"a", "b", "c"}) {
        const std::string n = name;
        text += "ld.param.u64 %" + n + "64, [" + n + "];\ncvt.u32.u64 %" + n + "32, %" + n +
                "64;\ncvt.u16.u64 %" + n + "16, %" + n + "64;\n";
    }
    text += std::string(row.text) + "\n";
    switch (row.result) {
    case 1:
        text += "selp.u64 %d64, 1, 0, %dp;\n";
        break;
    case 16:
        text += "cvt.u64.u16 %d64, %d16;\n";
        break;
    case 32:
        text += "cvt.u64.u32 %d64, %d32;\n";
        break;
    default:
        break;
    }
    return text + "st.global.u64 [%out], %d64;\nret;\n}\n";
}

void addRows(std::span<const InstructionRow> rows)
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < rows.size(); ++i)
        QTest::addRow("%s %zu", rows[i].text, i) << static_cast<int>(i);
}

} // namespace

class InstructionTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void integersAreExact_data() { addRows(integerRows()); }
    void integersAreExact() { check(integerRows()); }
    void floatsRoundAsTheInstructionSays_data() { addRows(floatRows()); }
    void floatsRoundAsTheInstructionSays() { check(floatRows()); }
    void sixteenBitFloatsRoundOnce_data() { addRows(halfRows()); }
    void sixteenBitFloatsRoundOnce() { check(halfRows()); }
    void conversionsRoundAndSaturate_data() { addRows(conversionRows()); }
    void conversionsRoundAndSaturate() { check(conversionRows()); }
    void rareInstructionsAreExact_data() { addRows(rareRows()); }
    void rareInstructionsAreExact() { check(rareRows()); }

private:
    void check(std::span<const InstructionRow> rows)
    {
        QFETCH(int, index);
        const InstructionRow &row = rows[static_cast<std::size_t>(index)];
        const auto module = loadPtx(*device_, kernelAround(row));
        const auto out = upload(*device_, std::vector<std::uint64_t>{0xdeadbeef}, "result");
        const auto done =
            runOne(*device_, *module,
                   launchOf("k", 1, 1,
                            {argument(out->address()), argument(row.a), argument(row.b), argument(row.c)}));
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        QCOMPARE(QString::number(download<std::uint64_t>(*device_, *out)[0], 16),
                 QString::number(row.expected, 16));
    }

    std::unique_ptr<Device> device_;
};

QTEST_GUILESS_MAIN(InstructionTest)
#include "test_instructions.moc"
