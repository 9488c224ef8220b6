// SPDX-License-Identifier: GPL-3.0-or-later
#include "tactics.h"

#include "base/text.h"
#include "kernel_writer.h"

#include <algorithm>
#include <cmath>

namespace kernelwright::playbook
{

namespace
{

using Offer = std::optional<Move>;

int powerOfTwoAtLeast(std::int64_t value)
{
    int power = 1;
    while (power < value && power < 1024)
        power *= 2;
    return power;
}

// The time a change leaves when it closes a part of the gap to the least time.
double closing(const Situation &s, double part)
{
    if (s.latencyUs <= 0) return 1 - 0.5 * part;
    const double least = std::min(s.leastUs(), s.latencyUs);
    return std::max(0.05, (s.latencyUs - part * (s.latencyUs - least)) / s.latencyUs);
}

// Bytes of one row that several passes read.
std::int64_t keptBytesPerElement(const Situation &s)
{
    std::int64_t bytes = 0;
    for (const TaskTensor &tensor : s.composition->task.inputs)
        if (tensor.type.elementCount() >= s.rows * s.columns)
            bytes += static_cast<std::int64_t>(dtypeSize(tensor.type.dtype));
    return std::max<std::int64_t>(bytes, 2);
}

Offer keepRow(const Situation &s)
{
    if (s.composition->main().passes() < 2 || s.schedule.keep != Keep::Nothing) return std::nullopt;
    const double ratio = s.dramBytes && s.taskBytes > 0 ? *s.dramBytes / s.taskBytes : 0;
    if (ratio < 1.2 && s.latencyUs < 1.3 * s.leastUs()) return std::nullopt;
    Move move{"keep-row", keepingRow(s.schedule, s), 1, {}};
    // Where every pass reaches DRAM the time goes with the bytes; where the caches catch the repeats, a part
    // is saved.
    move.expectedFactor = ratio > 1.2 ? std::max(1 / ratio, closing(s, 1)) : closing(s, 0.4);
    const bool inRegisters = move.schedule.keep == Keep::Registers;
    const std::int64_t each = std::int64_t{move.schedule.items} * move.schedule.vector;
    move.facts["kept_in"] = inRegisters ? "registers, " + std::to_string(each) +
                                              (each == 1 ? " element" : " elements") + " a thread"
                                        : "shared memory";
    move.facts["saving"] = ratio > 1.2 ? "The traffic should fall to about " + formatBytes(s.taskBytes)
                                       : "Each later pass saves its loads";
    move.facts["where_repeats_go"] =
        ratio > 1.2 ? "the repeats reach DRAM"
                    : "the caches catch the repeats, but each still costs a trip to them";
    return move;
}

Offer vectorise(const Situation &s)
{
    const int widest = widestVector(s.composition->task);
    // Work that does not fill the device needs its threads more than wide accesses.
    if (s.schedule.vector >= widest || s.bandwidthShare() > 0.9 || s.isChainBound()) return std::nullopt;
    int vector = widest;
    if (s.composition->main().reduces)
        while (vector > s.schedule.vector && s.columns % vector != 0)
            vector /= 2;
    // Few elements are better spread over more threads than gathered in fewer.
    const std::int64_t threads = s.rows * s.columns / vector;
    while (vector > 1 && threads < 32 * s.request->device.limits.smCount && vector > 4)
        vector /= 2;
    if (vector <= s.schedule.vector) return std::nullopt;
    Move move{"vectorise", s.schedule, closing(s, 0.45), {}};
    move.schedule.vector = vector;
    if (move.schedule.keep == Keep::Registers)
        move.schedule.items = std::max(1, move.schedule.items * s.schedule.vector / vector);
    if (s.composition->main().reduces)
        while (move.schedule.lanes > 32 && std::int64_t{move.schedule.lanes} * vector >= 2 * s.columns) {
            move.schedule.lanes /= 2;
            move.schedule.rows *= 2;
        }
    const auto bytes = static_cast<int>(dtypeSize(s.composition->task.inputs.empty()
                                                      ? s.composition->task.outputs[0].type.dtype
                                                      : s.composition->task.inputs[0].type.dtype));
    move.facts["new_vector"] = std::to_string(vector);
    move.facts["element_bytes"] = std::to_string(bytes);
    move.facts["access_bytes"] = std::to_string(bytes * s.schedule.vector);
    move.facts["new_access_bytes"] = std::to_string(bytes * vector);
    move.facts["sector_sentence"] = s.sectorsPerRequest
                                        ? "A request moves " + formatFixed(*s.sectorsPerRequest, 1) +
                                              " sectors of 32 bytes where 16 are possible. "
                                        : "";
    return move;
}

Offer shareBlock(const Situation &s)
{
    if (!s.composition->main().reduces || s.isChainBound()) return std::nullopt;
    const std::int64_t useful = (s.columns + s.schedule.vector - 1) / s.schedule.vector;
    if (useful * 2 > s.schedule.lanes || s.schedule.lanes <= 1) return std::nullopt;
    if (s.rows < 4 * s.request->device.limits.smCount) return std::nullopt;
    Move move{"rows-per-block", s.schedule, 1, {}};
    move.schedule.lanes = useful > 32 ? powerOfTwoAtLeast((useful + 1) / 2) : powerOfTwoAtLeast(useful);
    const int threads = s.rows < s.request->device.limits.smCount * 8 ? 128 : 256;
    move.schedule.rows = std::max(1, threads / move.schedule.lanes);
    const double idle = 1 - static_cast<double>(useful) / s.schedule.lanes;
    move.expectedFactor = closing(s, 0.8 * idle);
    move.facts["idle_share"] = formatFixed(100 * idle, 0) + " %";
    move.facts["new_lanes"] = std::to_string(move.schedule.lanes);
    move.facts["new_rows"] = std::to_string(move.schedule.rows);
    return move;
}

// A row that one warp can hold needs no barrier and no shared memory.
Offer warpPerRow(const Situation &s)
{
    constexpr std::int64_t mostPerLane = 32;
    if (!s.composition->main().reduces || s.schedule.lanes <= 32 || s.columns > 32 * mostPerLane)
        return std::nullopt;
    if (s.bandwidthShare() > 0.8) return std::nullopt;
    Move move{"warp-per-row", s.schedule, closing(s, s.isChainBound() ? 0.45 : 0.3), {}};
    Schedule &w = move.schedule;
    w.lanes = 32;
    w.vector = widestVector(s.composition->task);
    while (w.vector > 1 && (s.columns % w.vector != 0 || s.columns < 32 * std::int64_t{w.vector}))
        w.vector /= 2;
    const std::int64_t perProcessor = s.rows / std::max<std::int64_t>(1, s.request->device.limits.smCount);
    w.rows = perProcessor >= 32 ? 8 : perProcessor >= 8 ? 4 : 1;
    if (s.composition->main().passes() > 1) {
        w.keep = Keep::Registers;
        w.items =
            static_cast<int>((s.columns + 32 * std::int64_t{w.vector} - 1) / (32 * std::int64_t{w.vector}));
    }
    move.facts["new_rows"] = std::to_string(w.rows);
    move.facts["per_lane"] = std::to_string((s.columns + 31) / 32);
    move.facts["barriers"] = std::to_string(2 * s.composition->main().stages.size());
    return move;
}

// Non-trailing reductions: neighbouring rows lie side by side in memory, neighbouring columns do not.
Offer threadPerRow(const Situation &s)
{
    if (!s.composition->main().reduces || s.schedule.lanes == 1 || s.rows < 64) return std::nullopt;
    bool rowsAreNeighbours = false;
    for (const TaskTensor &tensor : s.composition->task.inputs) {
        const bool isWhole = tensor.type.elementCount() == s.rows * s.columns && tensor.type.sizes.size() > 1;
        if (!isWhole) continue;
        const std::int64_t last = tensor.type.sizes.back();
        rowsAreNeighbours = tensor.type.strides.back() == 1 && last != s.columns && s.columns > 1 &&
                            last > 1 && s.rows % last == 0 && s.columns % last != 0;
    }
    if (!rowsAreNeighbours) return std::nullopt;
    Move move{"thread-per-row", s.schedule, closing(s, 0.6), {}};
    move.schedule.lanes = 1;
    move.schedule.rows = s.rows < 128 * s.request->device.limits.smCount ? 64 : 256;
    move.schedule.vector = 1;
    move.schedule.keep = Keep::Nothing;
    move.facts["new_rows"] = std::to_string(move.schedule.rows);
    return move;
}

Offer moreBlocks(const Situation &s)
{
    const std::int64_t processors = s.request->device.limits.smCount;
    if (s.blocks >= processors || s.blocks <= 0) return std::nullopt;
    Move move{"more-blocks", s.schedule, 1, {}};
    if (s.schedule.reduces) {
        while (move.schedule.rows > 1 && s.rows / move.schedule.rows < processors &&
               move.schedule.threads() > 32)
            move.schedule.rows /= 2;
        const std::int64_t useful = (s.columns + s.schedule.vector - 1) / s.schedule.vector;
        while (move.schedule.lanes * 2 <= useful && move.schedule.lanes < 1024 && s.rows < processors)
            move.schedule.lanes *= 2;
        if (move.schedule.keep == Keep::Registers && move.schedule.lanes > s.schedule.lanes)
            move.schedule.items = std::max(1, s.schedule.items * s.schedule.lanes / move.schedule.lanes);
    } else {
        while (move.schedule.lanes > 64 &&
               s.columns / (std::int64_t{move.schedule.lanes} * move.schedule.vector) < processors)
            move.schedule.lanes /= 2;
        while (move.schedule.vector > 1 &&
               s.columns / (std::int64_t{move.schedule.lanes} * move.schedule.vector) < processors)
            move.schedule.vector /= 2;
    }
    move.expectedFactor = closing(s, s.isChainBound() ? 0.1 : 0.4);
    move.facts["idle_processors"] = std::to_string(processors - s.blocks);
    return move;
}

// A few bytes are what calls of the math library save; only more than that is a thread that holds too much.
constexpr int harmlessSpill = 64;

Offer relieveRegisters(const Situation &s)
{
    if (s.spillBytes <= harmlessSpill) return std::nullopt;
    Move move{"fewer-registers", s.schedule, closing(s, 0.5), {}};
    if (s.schedule.keep == Keep::Registers && s.schedule.lanes < 1024 && s.schedule.items > 1) {
        move.schedule.lanes *= 2;
        move.schedule.rows = std::max(1, s.schedule.rows / 2);
        move.schedule.items = (s.schedule.items + 1) / 2;
    } else if (s.schedule.minimumBlocks) {
        move.schedule.minimumBlocks = 0;
    } else {
        move.schedule.keep = s.schedule.keep == Keep::Registers ? Keep::Shared : s.schedule.keep;
        move.schedule.items = 0;
        move.schedule.vector = std::max(1, s.schedule.vector / 2);
    }
    return move;
}

Offer moreWarps(const Situation &s)
{
    if (!s.theoreticalOccupancy || *s.theoreticalOccupancy >= 50 || s.registers <= 32 || s.spillBytes > 64)
        return std::nullopt;
    if (s.schedule.minimumBlocks || s.bandwidthShare() > 0.8) return std::nullopt;
    Move move{"launch-bounds", s.schedule, closing(s, 0.25), {}};
    move.schedule.minimumBlocks = std::max(1, 1024 / s.schedule.threads());
    move.facts["new_blocks"] = std::to_string(move.schedule.minimumBlocks);
    move.facts["new_registers"] =
        std::to_string(65536 / (move.schedule.minimumBlocks * s.schedule.threads()));
    return move;
}

Offer otherBlockSize(const Situation &s)
{
    const bool hasFewWarps = s.achievedOccupancy && s.theoreticalOccupancy &&
                             *s.achievedOccupancy < 0.75 * *s.theoreticalOccupancy;
    if (!hasFewWarps || s.blocks < 2 * s.request->device.limits.smCount) return std::nullopt;
    Move move{"block-size", s.schedule, closing(s, 0.2), {}};
    if (s.schedule.reduces && s.schedule.lanes > 128) {
        move.schedule.lanes /= 2;
        if (move.schedule.keep == Keep::Registers) move.schedule.items *= 2;
    } else if (s.schedule.threads() > 128) {
        if (s.schedule.reduces)
            move.schedule.rows = std::max(1, s.schedule.rows / 2);
        else
            move.schedule.lanes /= 2;
    } else {
        if (s.schedule.reduces)
            move.schedule.rows *= 2;
        else
            move.schedule.lanes *= 2;
    }
    move.facts["new_threads"] = std::to_string(move.schedule.threads());
    return move;
}

Offer avoidConflicts(const Situation &s)
{
    if (!s.bankConflicts || *s.bankConflicts < 1 || s.schedule.keep != Keep::Shared) return std::nullopt;
    const double perRow = *s.bankConflicts / std::max<double>(1, static_cast<double>(s.rows));
    if (perRow < 1) return std::nullopt;
    Move move{"bank-conflicts", s.schedule, closing(s, 0.3), {}};
    const std::int64_t perThread = (s.columns + s.schedule.lanes - 1) / s.schedule.lanes;
    if (perThread * keptBytesPerElement(s) <= 256) {
        move.schedule.keep = Keep::Registers;
        move.schedule.items = static_cast<int>((perThread + s.schedule.vector - 1) / s.schedule.vector);
    } else {
        move.schedule.vector = s.schedule.vector > 4 ? 4 : 1;
    }
    move.facts["conflicts_per_row"] = formatFixed(perRow, 1);
    return move;
}

bool isInstructionBound(const Situation &s)
{
    if (s.isChainBound()) return true;
    if (s.issueUtilisation) return *s.issueUtilisation > 40 && s.bandwidthShare() < 0.8;
    return s.latencyUs > 0 && s.bandwidthShare() < 0.7;
}

Offer narrowIndex(const Situation &s)
{
    if (!s.schedule.wideIndex || !isInstructionBound(s)) return std::nullopt;
    for (const std::vector<TaskTensor> *list : {&s.composition->task.inputs, &s.composition->task.outputs})
        for (const TaskTensor &tensor : *list) {
            std::int64_t furthest = 0;
            for (std::size_t i = 0; i < tensor.type.sizes.size(); ++i)
                furthest += std::max<std::int64_t>(0, tensor.type.sizes[i] - 1) * tensor.type.strides[i];
            if (furthest >= std::int64_t{1} << 30) return std::nullopt;
        }
    Move move{"narrow-index", s.schedule, closing(s, s.isChainBound() ? 0.5 : 0.2), {}};
    move.schedule.wideIndex = false;
    return move;
}

Offer simplifyAlgebra(const Situation &s)
{
    if (s.schedule.simplified || !isInstructionBound(s) || !canSimplify(s.composition->program))
        return std::nullopt;
    Move move{"simplify-algebra", s.schedule, closing(s, 0.5), {}};
    move.schedule.simplified = true;
    return move;
}

// A quotient per element by something that a whole row shares.
bool dividesByRow(const Composition &composition, std::int64_t elements)
{
    const TensorProgram &program = composition.program;
    for (const TensorId id : program.reachable()) {
        const TensorNode &node = program.node(id);
        if (node.op != Op::Divide || isWhole(node.dtype)) continue;
        std::int64_t own = 1, divisor = 1;
        for (const Index &extent : node.extents)
            own *= extent.captured();
        for (const Index &extent : program.node(node.operands[1]).extents)
            divisor *= extent.captured();
        const bool isPerElement = own == elements && divisor < own;
        if (isPerElement && program.node(node.operands[1]).op != Op::Literal) return true;
    }
    return false;
}

Offer reciprocal(const Situation &s)
{
    if (s.schedule.reciprocal || !s.schedule.reduces || !isInstructionBound(s) ||
        !dividesByRow(*s.composition, s.rows * s.columns))
        return std::nullopt;
    Move move{"reciprocal", s.schedule, closing(s, 0.15), {}};
    move.schedule.reciprocal = true;
    return move;
}

Offer floatSums(const Situation &s)
{
    if (!s.schedule.exactSums || !isInstructionBound(s)) return std::nullopt;
    Move move{"float-sums", s.schedule, closing(s, 0.15), {}};
    move.schedule.exactSums = false;
    move.facts["additions"] = std::to_string((s.columns + s.schedule.lanes - 1) / s.schedule.lanes);
    return move;
}

Offer streamAccesses(const Situation &s)
{
    if (s.schedule.streaming || s.bandwidthShare() < 0.5) return std::nullopt;
    const bool readsAgain = s.composition->main().passes() > 1 && s.schedule.keep == Keep::Nothing;
    constexpr double cacheBytes = 32.0 * 1024 * 1024; // what a smaller working set may find in L2 again
    if (readsAgain || s.taskBytes < cacheBytes) return std::nullopt;
    Move move{"streaming", s.schedule, closing(s, 0.25), {}};
    move.schedule.streaming = true;
    return move;
}

Offer residentBlocks(const Situation &s)
{
    const std::int64_t processors = s.request->device.limits.smCount;
    const int resident = std::max(1, 2048 / s.schedule.threads());
    if (s.schedule.blocksPerSm || s.blocks < 8 * processors * resident) return std::nullopt;
    Move move{"resident-blocks", s.schedule, closing(s, 0.15), {}};
    move.schedule.blocksPerSm = std::min(16, resident);
    move.facts["new_blocks"] = std::to_string(move.schedule.blocksPerSm);
    move.facts["waves"] =
        formatFixed(static_cast<double>(s.blocks) / static_cast<double>(processors * resident), 1);
    return move;
}

Offer fastFunctions(const Situation &s)
{
    if (s.schedule.fastMath || !s.composition->task.tolerance.allowReducedPrecision || !isInstructionBound(s))
        return std::nullopt;
    Move move{"fast-functions", s.schedule, closing(s, 0.4), {}};
    move.schedule.fastMath = true;
    return move;
}

// The numbers point to no single cause any more, but a neighbouring block shape may still fit the chip
// better.
Offer neighbour(const Situation &s, int which)
{
    if (s.latencyUs <= 0 || s.isNearFloor()) return std::nullopt;
    Move move{"neighbour", s.schedule, 0.98 + 0.002 * which, {}};
    Schedule &n = move.schedule;
    const auto rescaleItems = [&] {
        if (n.keep == Keep::Registers)
            n.items = static_cast<int>((s.columns + std::int64_t{n.lanes} * n.vector - 1) /
                                       (std::int64_t{n.lanes} * n.vector));
    };
    switch (which) {
    case 0:
        if (n.lanes >= 1024 || (n.reduces && std::int64_t{n.lanes} * n.vector >= s.columns))
            return std::nullopt;
        n.lanes *= 2;
        n.rows = std::max(1, n.rows / 2);
        break;
    case 1:
        if (n.lanes <= 32) return std::nullopt;
        n.lanes /= 2;
        break;
    case 2:
        if (!n.reduces || n.threads() >= 1024 || s.rows / n.rows < 2 * s.request->device.limits.smCount)
            return std::nullopt;
        n.rows *= 2;
        break;
    default:
        if (n.vector <= 1) return std::nullopt;
        n.vector /= 2;
        break;
    }
    rescaleItems();
    if (n.items > 64) return std::nullopt;
    move.facts["neighbour_change"] = describeChange(s.schedule, n);
    return move;
}

struct Tactic
{
    const char *id;
    Offer (*offer)(const Situation &);
};

const Tactic tactics[] = {
    {"keep-row", keepRow},
    {"vectorise", vectorise},
    {"rows-per-block", shareBlock},
    {"warp-per-row", warpPerRow},
    {"thread-per-row", threadPerRow},
    {"more-blocks", moreBlocks},
    {"fewer-registers", relieveRegisters},
    {"launch-bounds", moreWarps},
    {"block-size", otherBlockSize},
    {"bank-conflicts", avoidConflicts},
    {"narrow-index", narrowIndex},
    {"simplify-algebra", simplifyAlgebra},
    {"reciprocal", reciprocal},
    {"float-sums", floatSums},
    {"streaming", streamAccesses},
    {"resident-blocks", residentBlocks},
    {"fast-functions", fastFunctions},
};

} // namespace

Schedule keepingRow(Schedule schedule, const Situation &s)
{
    // A quarter of the register file's 255 per thread may hold the row; a thread more shares it where that is
    // too few.
    constexpr std::int64_t mostBytes = 256;
    int lanes = schedule.lanes;
    const auto bytesPerThread = [&] { return (s.columns + lanes - 1) / lanes * keptBytesPerElement(s); };
    while (bytesPerThread() > mostBytes && lanes < 1024)
        lanes *= 2;
    if (bytesPerThread() > mostBytes) {
        schedule.keep = Keep::Shared;
        return schedule;
    }
    schedule.rows = std::max(1, schedule.rows * schedule.lanes / lanes);
    schedule.lanes = lanes;
    schedule.keep = Keep::Registers;
    schedule.items = static_cast<int>((s.columns + std::int64_t{lanes} * schedule.vector - 1) /
                                      (std::int64_t{lanes} * schedule.vector));
    return schedule;
}

std::vector<std::string> tacticIds()
{
    std::vector<std::string> ids;
    for (const Tactic &tactic : tactics)
        ids.emplace_back(tactic.id);
    ids.emplace_back("neighbour");
    return ids;
}

std::vector<Move> movesFor(const Situation &situation)
{
    std::vector<Move> moves;
    const auto consider = [&](Offer move) {
        if (!move) return;
        move->schedule = legalised(move->schedule, *situation.composition, situation.request->device.limits);
        if (!(move->schedule == situation.schedule)) moves.push_back(std::move(*move));
    };
    for (const Tactic &tactic : tactics)
        consider(tactic.offer(situation));
    for (const int which : {0, 1, 2, 3})
        consider(neighbour(situation, which));
    std::stable_sort(moves.begin(), moves.end(), [](const Move &left, const Move &right) {
        return left.expectedFactor < right.expectedFactor;
    });
    return moves;
}

} // namespace kernelwright::playbook
