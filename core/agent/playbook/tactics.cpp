// SPDX-License-Identifier: GPL-3.0-or-later
#include "tactics.h"

#include "tactic_offers.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

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
    {"share-operands", shareOperands},
    {"tile-size", otherTiles},
    {"tile-depth", deeperTiles},
    {"narrow-index", narrowIndex},
    {"simplify-algebra", simplifyAlgebra},
    {"keep-values", keepValues},
    {"reciprocal", reciprocal},
    {"float-sums", floatSums},
    {"streaming", streamAccesses},
    {"resident-blocks", residentBlocks},
    {"fast-functions", fastFunctions},
};

} // namespace

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

bool isInstructionBound(const Situation &s)
{
    if (s.isChainBound()) return true;
    if (s.issueUtilisation) return *s.issueUtilisation > 40 && s.bandwidthShare() < 0.8;
    return s.latencyUs > 0 && s.bandwidthShare() < 0.7;
}

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
