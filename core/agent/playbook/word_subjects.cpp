// SPDX-License-Identifier: GPL-3.0-or-later
// What each subject's words mean for the schedule.
#include "base/text.h"
#include "kernel_writer.h"
#include "tactics.h"
#include "words_reader.h"

#include <algorithm>

namespace kernelwright::playbook
{

void Reader::readUnavailable()
{
    static const std::pair<const char *, const char *> missing[] = {
        {"cp.async", "cp.async (copies that run while the kernel computes)"},
        {"async", "asynchronous copies"},
        {"tma", "the tensor memory accelerator"},
        {"tensor", "tensor cores"},
        {"wmma", "tensor cores"},
        {"mma", "tensor cores"},
        {"cluster", "thread block clusters"},
        {"pipeline", "software pipelines"},
        {"prefetch", "prefetching"},
        {"dsmem", "distributed shared memory"},
        {"online", "the online form of softmax"},
        {"ldmatrix", "ldmatrix"},
        {"swizzl", "swizzled layouts"},
        {"speciali", "warp specialisation"},
        {"cooperative", "cooperative launches"},
        {"atomic", "atomics (their order is not the same in every run)"},
        {"unroll", "unrolling other than by access width"}};
    for (const auto &[stem, name] : missing)
        while (take({stem}) >= 0) {
            const std::string sentence = std::string("The playbook has no tactic for ") + name + " yet.";
            if (!std::count(request_.impossible.begin(), request_.impossible.end(), sentence))
                refuse(sentence);
        }
}

void Reader::readRows()
{
    const int at = take({"row"});
    if (at < 0) return;
    if (!before_.reduces) {
        take({"block"}); // "rows per block" is not about blocks
        return refuse("This task has no rows: every element is computed on its own.");
    }
    const bool isThreadPerRow = at > 0 && words_[static_cast<std::size_t>(at) - 1].text == "per";
    if (isThreadPerRow) {
        words_[static_cast<std::size_t>(at)].used = false; // "threads per row": belongs to the threads
        return;
    }
    take({"block"});
    const std::optional<int> rows = amount(at, before_.rows, 1, 1024);
    if (!rows) {
        words_[static_cast<std::size_t>(at)].used = false;
        return;
    }
    request_.schedule.rows = *rows;
    // A block holds 1024 threads at most: more rows then means fewer threads for each.
    while (request_.schedule.threads() > 1024 && request_.schedule.lanes > 1)
        request_.schedule.lanes /= 2;
    if (request_.schedule.rows == before_.rows)
        return refuse("A block cannot take another number of rows than " + std::to_string(*rows) + " here.");
    std::string what = "rows per block " + std::to_string(before_.rows) + " → " + std::to_string(*rows);
    if (request_.schedule.lanes != before_.lanes)
        what += ", and " + std::to_string(request_.schedule.lanes) +
                " threads per row so that the block has no more than 1024";
    changed(what);
}

void Reader::readThreads()
{
    int at = take({"thread", "lane"});
    const int block = take({"block"});
    if (block >= 0) take({"size"});
    if (at < 0) at = block;
    if (at < 0) return;
    take({"row"});
    take({"per"});
    if (before_.reduces && block >= 0 && words_[static_cast<std::size_t>(at)].text.rfind("block", 0) == 0) {
        // The size of a block with rows: threads per row times rows.
        if (const std::optional<int> threads = amount(at, before_.threads(), 32, 1024)) {
            request_.schedule.lanes = std::max(1, *threads / request_.schedule.rows);
            changed("block size " + std::to_string(before_.threads()) + " → " +
                    std::to_string(request_.schedule.threads()));
        }
        return;
    }
    const std::optional<int> lanes = amount(at, before_.lanes, before_.reduces ? 1 : 32, 1024);
    if (!lanes) return;
    request_.schedule.lanes = *lanes;
    while (request_.schedule.threads() > 1024)
        request_.schedule.rows /= 2;
    changed(std::string(before_.reduces ? "threads per row " : "threads per block ") +
            std::to_string(before_.lanes) + " → " + std::to_string(*lanes));
}

void Reader::readVector()
{
    const int at = take({"vector", "float", "pack", "wide", "uint", "half"});
    const int bytes = take({"byte"});
    const int scalar = take({"scalar"});
    if (at < 0 && bytes < 0 && scalar < 0) return;
    take({"load", "access", "store", "width"});
    const int widest = widestVector(situation_.composition->task);
    int wanted = widest;
    const int position = at >= 0 ? at : bytes;
    if (scalar >= 0 || isNegated(position)) {
        wanted = 1;
    } else if (bytes >= 0) {
        const int size = numberNear(bytes);
        if (size > 0) wanted = std::max(1, size * widest / 16);
    } else if (const int number = numberNear(at); number > 0) {
        wanted = number;
    }
    if (wanted > widest)
        refuse("An access moves 16 bytes at most, which are " + std::to_string(widest) + " elements here.");
    int vector = 1;
    while (vector * 2 <= std::min(wanted, widest))
        vector *= 2;
    if (vector == before_.vector)
        return refuse("Accesses already take " + std::to_string(vector) + " elements.");
    request_.schedule.vector = vector;
    if (before_.keep == Keep::Registers)
        request_.schedule.items = std::max(1, before_.items * before_.vector / vector);
    changed("elements per access " + std::to_string(before_.vector) + " → " + std::to_string(vector));
}

void Reader::readKeeping()
{
    const int shared = take({"shared", "smem"});
    if (shared >= 0) take({"memory"});
    const int registers = take({"register"});
    const int keep = take({"keep", "cache", "re", "reread"});
    if (shared < 0 && registers < 0 && keep < 0) return;
    if (!before_.reduces || situation_.composition->main().passes() < 2)
        return refuse("The kernel reads its input once, so there is nothing to keep.");
    Schedule &s = request_.schedule;
    if (registers >= 0 && !isNegated(registers)) {
        Schedule kept = keepingRow(s, situation_);
        if (kept.keep != Keep::Registers)
            return refuse("A row of " + std::to_string(situation_.columns) +
                          " elements does not fit the registers of 1024 threads.");
        s = kept;
    } else if (shared >= 0 && !isNegated(shared)) {
        s.keep = Keep::Shared;
        s.items = 0;
    } else if (registers >= 0 || shared >= 0) {
        s.keep = Keep::Nothing;
        s.items = 0;
        // "No shared memory" leaves registers, where they suffice.
        if (shared >= 0 && before_.keep == Keep::Shared) s = keepingRow(s, situation_);
        if (s.keep == Keep::Shared) s.keep = Keep::Nothing;
    } else {
        s = keepingRow(s, situation_);
    }
    if (s.keep == before_.keep && s.items == before_.items)
        return refuse("The row is already held that way.");
    changed(s.keep == Keep::Registers ? "the row kept in registers"
            : s.keep == Keep::Shared  ? "the row kept in shared memory"
                                      : "the row read again by every pass");
}

void Reader::readAccesses()
{
    const int at = take({"stream", "ldcs", "__ldcs", "__stcs"});
    if (at < 0) return;
    request_.schedule.streaming = !isNegated(at);
    if (request_.schedule.streaming == before_.streaming) return refuse("Accesses already are that way.");
    changed(request_.schedule.streaming ? "streaming accesses" : "cached accesses");
}

void Reader::readArithmetic()
{
    Schedule &s = request_.schedule;
    if (const int at = take({"bit"}); at >= 0) {
        const int bits = numberNear(at);
        take({"ind", "int"});
        if (bits == 32 || bits == 64) {
            s.wideIndex = bits == 64;
            changed(bits == 64 ? "64-bit indices" : "32-bit indices");
        }
    }
    if (const int at = take({"simplif", "algebra", "formula"}); at >= 0) {
        s.simplified = !isNegated(at);
        if (s.simplified && !canSimplify(situation_.composition->program))
            refuse("The playbook knows no simpler form of this task's formula.");
        else
            changed(s.simplified ? "simplified algebra" : "algebra as in the model");
    }
    if (const int at = take({"reciprocal", "inverse", "divi"}); at >= 0 && before_.reduces) {
        s.reciprocal = !isNegated(at);
        changed(s.reciprocal ? "one reciprocal per row" : "a division per element");
    }
    const int fast = take({"fast", "approximat"});
    if (fast >= 0) {
        take({"math", "function"});
        if (!situation_.composition->task.tolerance.allowReducedPrecision)
            refuse("Approximate functions are off for this task: it does not allow reduced precision.");
        else {
            s.fastMath = !isNegated(fast);
            changed(s.fastMath ? "approximate functions" : "precise functions");
        }
    }
    if (take({"precise", "exact"}) >= 0 && s.fastMath) {
        s.fastMath = false;
        changed("precise functions");
    }
}

void Reader::readBlocks()
{
    if (const int at = take({"persist", "resident", "grid"}); at >= 0) {
        take({"stride", "loop", "block"});
        const int number = isNegated(at) ? 0 : numberNear(at);
        request_.schedule.blocksPerSm =
            isNegated(at) || number == 0 ? 0 : std::clamp(number < 0 ? 4 : number, 1, 32);
        changed(request_.schedule.blocksPerSm
                    ? std::to_string(request_.schedule.blocksPerSm) + " blocks per multiprocessor that loop"
                    : "as many blocks as there is work");
    }
    if (const int at = take({"bound", "occupan"}); at >= 0) {
        take({"launch", "higher", "more"});
        const int number = numberNear(at);
        request_.schedule.minimumBlocks =
            isNegated(at) ? 0
                          : std::clamp(number < 0 ? 1024 / request_.schedule.threads() * 2 : number, 1, 32);
        changed("launch bounds for " + std::to_string(request_.schedule.minimumBlocks) + " resident blocks");
    }
}

} // namespace kernelwright::playbook
