// SPDX-License-Identifier: GPL-3.0-or-later
// What happens within one row: loads, accumulation, stores.
#include "rows_kernel.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

// What every number of the type is at least, and at most.
std::string lowestText(Number number)
{
    switch (number) {
    case Number::Truth:
        return "false";
    case Number::Int32:
        return "(-2147483647 - 1)";
    case Number::Int64:
        return "(-9223372036854775807ll - 1)";
    default:
        return std::string("-infinity<") + numberName(number) + ">()";
    }
}

std::string highestText(Number number)
{
    switch (number) {
    case Number::Truth:
        return "true";
    case Number::Int32:
        return "2147483647";
    case Number::Int64:
        return "9223372036854775807ll";
    default:
        return std::string("infinity<") + numberName(number) + ">()";
    }
}

// Everything that a value is computed from.
std::set<TensorId> operandsBelow(const TensorProgram &program, TensorId id)
{
    std::set<TensorId> below;
    std::vector<TensorId> waiting = program.node(id).operands;
    while (!waiting.empty()) {
        const TensorId next = waiting.back();
        waiting.pop_back();
        if (!below.insert(next).second) continue;
        const std::vector<TensorId> &operands = program.node(next).operands;
        waiting.insert(waiting.end(), operands.begin(), operands.end());
    }
    return below;
}

struct CombinerNames
{
    const char *result;  ///< what the row's value is called where the model has no name for it
    const char *functor; ///< in the generated source
};

CombinerNames combinerOf(Reduction reduction)
{
    switch (reduction) {
    case Reduction::Sum:
        return {"total", "Add"};
    case Reduction::Product:
        return {"product", "Multiply"};
    case Reduction::Maximum:
        return {"largest", "Larger"};
    case Reduction::Minimum:
        return {"smallest", "Smaller"};
    case Reduction::Any:
        return {"any_true", "Or"};
    case Reduction::All:
        return {"all_true", "And"};
    case Reduction::ArgMaximum:
        return {"largest_at", "LargerFirst"};
    case Reduction::ArgMinimum:
        break;
    }
    return {"smallest_at", "SmallerFirst"};
}

} // namespace

std::string RowsKernel::offset(const std::string &base, const Access &access) const
{
    std::string moving = access.stride.empty() ? position() : position() + " * " + access.stride;
    if (!access.evenFlag.empty())
        moving = "(" + access.evenFlag + " ? " + moving + " : " +
                 withWord(access.movingText, "column", position()) + ")";
    return base.empty() ? moving : base + " + " + moving;
}

// A dry run of all passes tells which inputs more than one of them reads.
void RowsKernel::collectPasses()
{
    NameScope names(request_.task);
    AccessPlanner planner(request_.task, request_.program, request_.domain.rows, request_.domain.columns,
                          "row", "column");
    ScalarWriter writer(request_.program, schedule_, planner, names);
    std::map<ValueKey, int> passesComputing;
    const auto countStreams = [&] {
        for (const std::size_t stream : writer.streamsOfPass())
            ++passesUsing_[stream];
        for (const ValueKey &key : writer.costlyValuesOfPass())
            ++passesComputing[key];
        writer.endPass();
    };
    for (const std::vector<TensorId> &stage : request_.domain.stages) {
        for (const TensorId id : stage) {
            const TensorId operand = request_.program.node(id).operands[0];
            writer.value(operand, request_.domain.coordinates.at(operand));
        }
        for (const TensorId id : stage)
            writer.setReduction(id, "r", false);
        countStreams();
    }
    for (const std::size_t output : request_.domain.outputs) {
        const TensorId id = request_.program.outputs[output];
        writer.value(id, request_.domain.coordinates.at(id));
    }
    countStreams();
    if (!schedule_.keepsValues) return;
    for (const auto &[key, passes] : passesComputing)
        if (passes > 1) keptValues_.insert(key);
    // What only goes into another kept value need not be kept itself.
    const std::vector<int> uses = request_.program.useCounts();
    std::set<TensorId> consumed;
    for (const auto &[id, at] : keptValues_)
        for (const TensorId operand : operandsBelow(request_.program, id))
            if (uses[static_cast<std::size_t>(operand)] == 1) consumed.insert(operand);
    for (auto it = keptValues_.begin(); it != keptValues_.end();)
        it = consumed.count(it->first) ? keptValues_.erase(it) : std::next(it);
    writer_.nameValues(keptValues_);
}

bool RowsKernel::isKept(std::size_t stream) const
{
    const std::vector<std::size_t> kept = keptStreams();
    return std::find(kept.begin(), kept.end(), stream) != kept.end();
}

std::vector<std::size_t> RowsKernel::keptStreams() const
{
    std::vector<std::size_t> kept;
    if (schedule_.keep == Keep::Nothing) return kept;
    for (const auto &[stream, passes] : passesUsing_)
        if (passes > 1) kept.push_back(stream);
    return kept;
}

RowsKernel::Accumulator RowsKernel::accumulatorFor(TensorId id)
{
    const TensorNode &node = request_.program.node(id);
    const TensorId operandId = node.operands[0];
    const DType operandType = request_.program.node(operandId).dtype;
    const Number number = numberOf(operandType);
    const CombinerNames names = combinerOf(node.reduction);
    Accumulator a;
    a.id = id;
    a.name = request_.names.unique(node.name.empty() ? names.result : node.name);
    a.own = request_.names.unique("own_" + a.name);
    a.combine = names.functor;
    a.type = numberName(number);
    writer_.useHelper(a.combine);
    const bool adds = node.reduction == Reduction::Sum || node.reduction == Reduction::Product;
    a.isDouble = adds && number == Number::Float32 && schedule_.exactSums;
    if (a.isDouble) a.type = "double";
    const std::vector<Index> &coordinates = request_.domain.coordinates.at(operandId);
    const std::string value = a.isDouble && node.reduction == Reduction::Sum
                                  ? writer_.summand(operandId, coordinates)
                                  : writer_.value(operandId, coordinates).text;
    a.update = a.own + " = " + a.combine + "()(" + a.own + ", " + value + ");";
    const Number sumNumber = a.isDouble ? Number::Float64 : number;
    switch (node.reduction) {
    case Reduction::Sum:
        a.start = literalText(0.0, sumNumber);
        a.update = a.own + " += " + value + ";";
        break;
    case Reduction::Product:
        a.start = literalText(1.0, sumNumber);
        a.update = a.own + " *= " + value + ";";
        break;
    case Reduction::Maximum:
        a.start = lowestText(number);
        break;
    case Reduction::Minimum:
        a.start = highestText(number);
        break;
    case Reduction::Any:
        a.start = "false";
        a.update = a.own + " = " + a.own + " || " + value + ";";
        break;
    case Reduction::All:
        a.start = "true";
        a.update = a.own + " = " + a.own + " && " + value + ";";
        break;
    case Reduction::ArgMaximum:
    case Reduction::ArgMinimum:
        a.start = "{" + (node.reduction == Reduction::ArgMaximum ? lowestText(number) : highestText(number)) +
                  ", 9223372036854775807ll}";
        a.update =
            a.own + " = " + a.combine + "()(" + a.own + ", {" + value + ", static_cast<long long>(column)});";
        a.type = "Positioned<" + a.type + ">";
        break;
    }
    return a;
}

void RowsKernel::writeRowOffsets(const std::vector<std::size_t> &streams)
{
    for (const std::size_t stream : streams) {
        const Access &access = writer_.accesses()[stream];
        if (access.baseText == "0" || !withOffset_.insert(stream).second) continue;
        if (keepsRegisters() && isKept(stream)) continue; // see writeKeptLoads()
        line(std::string("const ") + index() + " " + access.name + "_row = " + access.baseText + ";");
    }
}

void RowsKernel::beginLoop()
{
    const std::string type = index();
    if (keepsRegisters()) {
        line("#pragma unroll (kept ? ITEMS : 4)");
        open("for (int item = 0; !kept || item < ITEMS; ++item) {");
        line("const " + type + " first = (item * LANES + lane) * N;");
        return line("if (first >= " + columnCount_ + ") break;");
    }
    if (packs_)
        return open("for (" + type + " first = lane * N; first < " + columnCount_ +
                    "; first += LANES * N) {");
    open("for (" + type + " column = lane; column < " + columnCount_ + "; column += LANES) {");
}

void RowsKernel::endLoop()
{
    close();
}

void RowsKernel::writeLoads(const std::vector<std::size_t> &streams, bool isLastPass)
{
    for (const std::size_t stream : streams) {
        const Access &access = writer_.accesses()[stream];
        const std::string at = offset(access.baseText == "0" ? "" : access.name + "_row", access);
        if (!packs_) {
            line(std::string("const ") + index() + " " + access.name + "_at = " + at + ";");
            continue;
        }
        const bool staysHere = isKept(stream);
        const bool isFirst = loaded_.insert(stream).second;
        // An access that a later pass repeats should stay in the cache, unless the row is kept by the kernel
        // itself.
        const bool isOnlyOne = passesUsing_[stream] < 2 || isLastPass;
        const std::string load = loadPack(access, at, staysHere ? isFirst && !keepsRegisters() : isOnlyOne);
        const std::string pack = access.name + "_pack";
        if (!staysHere) {
            line("const auto " + pack + " = " + load + ";");
        } else if (keepsRegisters()) {
            line("const auto " + pack + " = kept ? " + access.name + "_kept[item] : " + load + ";");
        } else {
            if (isFirst) line("const auto " + pack + " = " + load + ";");
            if (isFirst)
                line("if (first < " + keptColumns_ + ") store<N>(" + access.name + "_store + first, " + pack +
                     ");");
            else
                line("const auto " + pack + " = first < " + keptColumns_ + " ? load<N>(" + access.name +
                     "_store + first) : " + load + ";");
        }
    }
}

// The values that this pass is the first to compute and a later one needs again.
void RowsKernel::writeKeptValues()
{
    for (const ValueKey &key : keptValues_) {
        const std::optional<std::string> name = writer_.nameInPass(key);
        if (!name || keptValueNames_.count(key)) continue;
        const std::string array = request_.names.unique(*name + "_kept");
        keptValueNames_[key] = array;
        line("if constexpr (kept) " + array + "[item].at[k] = " + *name + ";");
        writer_.setKept(key, array);
    }
}

void RowsKernel::beginElements(const Lines &needed)
{
    if (!packs_) return;
    line("#pragma unroll");
    open("for (int k = 0; k < N; ++k) {");
    if (mentions(needed, "column")) line(std::string("const ") + index() + " column = first + k;");
}

void RowsKernel::endElements()
{
    if (packs_) close();
}

void RowsKernel::writeStage(std::size_t stage)
{
    std::vector<Accumulator> accumulators;
    Lines needed;
    for (const TensorId id : request_.domain.stages[stage]) {
        accumulators.push_back(accumulatorFor(id));
        needed.push_back(accumulators.back().update);
    }
    const std::vector<std::size_t> streams = writer_.streamsOfPass();
    lines(writer_.takeRowLines());
    writeRowOffsets(streams);
    for (const Accumulator &a : accumulators) {
        const bool isPair = a.start.front() == '{';
        line(a.type + " " + a.own + (isPair ? a.start : " = " + a.start) + ";");
    }
    const Lines elementLines = writer_.takeElementLines();
    needed.insert(needed.end(), elementLines.begin(), elementLines.end());
    beginLoop();
    writeLoads(streams, false);
    beginElements(needed);
    lines(elementLines);
    writeKeptValues();
    for (const Accumulator &a : accumulators)
        line(a.update);
    endElements();
    endLoop();
    for (const Accumulator &a : accumulators) {
        const bool isPair = a.start.front() == '{';
        const std::string result = "over_row(" + a.own + ", " + a.combine + "())";
        line(std::string("const ") + (isPair ? "long long" : a.type) + " " + a.name + " = " + result +
             (isPair ? ".at" : "") + ";");
        writer_.setReduction(a.id, a.name, a.isDouble);
    }
    writer_.endPass();
    line("");
}

void RowsKernel::writeLastPass()
{
    if (elementStores_.empty()) return;
    const std::vector<std::size_t> streams = writer_.streamsOfPass();
    lines(writer_.takeRowLines());
    writeRowOffsets(streams);
    for (RowStore &store : elementStores_) {
        if (!store.access.streams || store.access.baseText == "0") continue;
        line(std::string("const ") + index() + " " + store.access.name + "_row = " + store.access.baseText +
             ";");
    }
    const Lines elementLines = writer_.takeElementLines();
    Lines needed = elementLines;
    for (const RowStore &store : elementStores_) {
        needed.push_back(store.value);
        if (!store.access.streams) needed.push_back(store.access.movingText);
    }
    if (schedule_.rows > 1) open("if (is_row) {");
    beginLoop();
    writeLoads(streams, true);
    if (packs_)
        for (const RowStore &store : elementStores_)
            if (store.access.streams)
                line(std::string("Pack<") + storageName(store.access.dtype) + ", N> " + store.access.name +
                     "_pack;");
    beginElements(needed);
    lines(elementLines);
    for (const RowStore &store : elementStores_) {
        const std::string base = store.access.baseText == "0" ? "" : store.access.name + "_row";
        std::string target = store.access.pointer + "[" + offset(base, store.access) + "]";
        if (!store.access.streams)
            target =
                store.access.pointer + "[" + store.access.baseText + " + " + store.access.movingText + "]";
        else if (packs_)
            target = store.access.name + "_pack.at[k]";
        line(target + " = " + store.value + ";");
    }
    endElements();
    if (packs_)
        for (const RowStore &store : elementStores_) {
            const std::string base = store.access.baseText == "0" ? "" : store.access.name + "_row";
            if (store.access.streams)
                line(storeText(store.access, offset(base, store.access), store.access.name + "_pack"));
        }
    endLoop();
    if (schedule_.rows > 1) close();
    writer_.endPass();
}

void RowsKernel::writeRowOutputs()
{
    if (rowStores_.empty()) return;
    open(schedule_.rows > 1 ? "if (lane == 0 && is_row) {" : "if (lane == 0) {");
    for (const RowStore &store : rowStores_)
        line(store.access.pointer + "[" + store.access.baseText + "] = " + store.value + ";");
    close();
}

void RowsKernel::writeRow()
{
    for (std::size_t stage = 0; stage < request_.domain.stages.size(); ++stage)
        writeStage(stage);
    for (const std::size_t output : request_.domain.outputs) {
        const TensorId id = request_.program.outputs[output];
        const std::vector<Index> &coordinates = request_.domain.coordinates.at(id);
        RowStore store;
        store.access = planner_.output(static_cast<int>(output), coordinates);
        store.access.name = request_.names.uniqueStem(store.access.pointer);
        const DType dtype = request_.program.node(id).dtype;
        store.value = storedText(writer_.value(id, coordinates).text, numberOf(dtype), store.access.dtype);
        (store.access.moves ? elementStores_ : rowStores_).push_back(std::move(store));
    }
    if (elementStores_.empty()) lines(writer_.takeRowLines());
    writeLastPass();
    writeRowOutputs();
}

} // namespace kernelwright::playbook
