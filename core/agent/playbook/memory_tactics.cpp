// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "kernel_writer.h"
#include "tactic_offers.h"

#include <algorithm>

namespace kernelwright::playbook
{

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

} // namespace kernelwright::playbook
