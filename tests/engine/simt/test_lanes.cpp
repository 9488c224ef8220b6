// SPDX-License-Identifier: GPL-3.0-or-later
// The two builds of the lane functions have to give the same bits; partial masks have to leave other lanes
// alone.
#include "code/lane_functions.h"

#include <QTest>

#include <array>
#include <cstring>
#include <random>

using namespace kernelwright::simt;

namespace
{

constexpr std::uint32_t slotBytes = 256;

/// Four operands and a result of 32 lanes each.
using Frame = std::array<std::byte, 6 * slotBytes>;

Frame compute(LaneFunction function, Frame frame, std::uint32_t mask)
{
    Instruction instruction;
    instruction.destination = 0;
    instruction.a = slotBytes;
    instruction.b = 2 * slotBytes;
    instruction.c = 3 * slotBytes;
    instruction.d = 4 * slotBytes;
    instruction.secondDestination = 5 * slotBytes;
    instruction.immediate = 0x69;
    std::byte *banks[bankCount] = {frame.data(), frame.data(), frame.data()};
    function(banks, instruction, mask);
    return frame;
}

Frame randomFrame(std::mt19937_64 &random, bool isFloatLike)
{
    static constexpr std::uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
        0x00800000, 0x3f800000, 0xbf800000, 0x7c00,     0x3c00,     0x7bff,     0x0400,     0x03ff};
    Frame frame;
    for (std::size_t i = 0; i < frame.size(); i += 4) {
        auto word = static_cast<std::uint32_t>(random());
        if (isFloatLike && random() % 3 == 0) word = special[random() % std::size(special)];
        std::memcpy(frame.data() + i, &word, 4);
    }
    return frame;
}

std::vector<Operation> everyOperation()
{
    std::vector<Operation> operations;
    for (int op = static_cast<int>(Op::Add); op <= static_cast<int>(Op::PackedCvt); ++op)
        for (int type = static_cast<int>(Type::Predicate); type <= static_cast<int>(Type::E5M2x2); ++type)
            for (int variant = 0; variant < 12; ++variant) {
                Operation operation;
                operation.op = static_cast<Op>(op);
                operation.type = static_cast<Type>(type);
                operation.rounding = static_cast<Rounding>(variant % 5);
                operation.ftz = variant & 1;
                operation.saturate = variant == 2;
                operation.approximate = variant == 3;
                operation.part = static_cast<Part>(variant % 4);
                operation.carry = variant == 5 ? Carry::InOut : Carry::None;
                operation.compare = static_cast<Compare>(1 + variant);
                operation.combine = static_cast<Combine>(variant % 4);
                operation.floatClass = static_cast<FloatClass>(1 + variant % 6);
                operation.propagatesNan = variant & 2;
                operation.left = variant & 1;
                if (operation.op == Op::Cvt || operation.op == Op::PackedCvt || operation.op == Op::Set ||
                    operation.op == Op::Setp || operation.op == Op::Slct)
                    operation.source =
                        static_cast<Type>(1 + (type + 7 * variant) % static_cast<int>(Type::E5M2x2));
                operations.push_back(operation);
            }
    return operations;
}

} // namespace

class LaneTest : public QObject
{
    Q_OBJECT

private slots:
    void bothBuildsGiveTheSameBits();
    void lanesOutsideTheMaskKeepTheirValues();
};

void LaneTest::bothBuildsGiveTheSameBits()
{
    std::mt19937_64 random(11);
    int compared = 0;
    for (const Operation &operation : everyOperation()) {
        const LaneFunction best = selectLaneFunction(operation),
                           baseline = selectBaselineLaneFunction(operation);
        QCOMPARE(best == nullptr, baseline == nullptr);
        if (!best) continue;
        for (int round = 0; round < 3; ++round) {
            const Frame frame = randomFrame(random, round > 0);
            const bool isSame = compute(best, frame, fullMask) == compute(baseline, frame, fullMask);
            QVERIFY2(isSame, qPrintable(QString("op %1 type %2 source %3 rounding %4")
                                            .arg(int(operation.op))
                                            .arg(typeName(operation.type))
                                            .arg(typeName(operation.source))
                                            .arg(int(operation.rounding))));
            ++compared;
        }
    }
    QVERIFY(compared > 2000);
}

void LaneTest::lanesOutsideTheMaskKeepTheirValues()
{
    std::mt19937_64 random(12);
    int compared = 0;
    for (const Operation &operation : everyOperation()) {
        const LaneFunction function = selectLaneFunction(operation);
        if (!function || operation.op == Op::Setp || operation.op == Op::Testp ||
            operation.type == Type::Predicate)
            continue;
        const Frame before = randomFrame(random, true);
        const auto mask = static_cast<std::uint32_t>(random()) & 0x7fffffffu;
        const Frame full = compute(function, before, fullMask), part = compute(function, before, mask);
        // Whether lanes have 4 or 8 bytes shows in which bytes the full run changed.
        bool isWide = false;
        for (std::size_t i = 128; i < slotBytes; ++i)
            isWide = isWide || full[i] != before[i];
        const std::size_t size = isWide ? 8 : 4;
        for (std::size_t lane = 0; lane < warpSize; ++lane) {
            const bool isActive = (mask >> lane) & 1u;
            const std::byte *expected = (isActive ? full : before).data() + lane * size;
            QVERIFY2(std::memcmp(part.data() + lane * size, expected, size) == 0,
                     qPrintable(QString("op %1 type %2 lane %3")
                                    .arg(int(operation.op))
                                    .arg(typeName(operation.type))
                                    .arg(lane)));
        }
        ++compared;
    }
    QVERIFY(compared > 500);
}

QTEST_GUILESS_MAIN(LaneTest)
#include "test_lanes.moc"
