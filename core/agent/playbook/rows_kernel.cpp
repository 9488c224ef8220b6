// SPDX-License-Identifier: GPL-3.0-or-later
// The shape for reductions: LANES threads work on one row, ROWS rows on one block. Each stage of reductions
// is a pass over the row; a last pass writes the outputs that have a value per element.
#include "base/text.h"
#include "kernel_writer.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

struct Store
{
    Access access;
    std::string value;
};

class RowsKernel : KernelWriter
{
public:
    explicit RowsKernel(const KernelRequest &request)
        : KernelWriter(request, request.domain.rows, request.domain.columns, "row", "column")
        , schedule_(request.schedule)
        , packs_(usesPacks(request.schedule))
    {}

    KernelText write();

private:
    struct Accumulator
    {
        TensorId id = 0;
        std::string name, own, type, start, combine, update;
        bool isDouble = false; ///< a float sum collected in double
    };
    void collectPasses();
    std::vector<std::size_t> keptStreams() const;
    Accumulator accumulatorFor(TensorId id);
    void writeRowOffsets(const std::vector<std::size_t> &streams);
    void beginLoop();
    void endLoop();
    void writeLoads(const std::vector<std::size_t> &streams, bool isLastPass);
    void beginElements(const Lines &needed);
    void endElements();
    void writeStage(std::size_t stage);
    void writeLastPass();
    void writeRowOutputs();
    void writeRow();
    void writeRowStart();
    void writeCalls(const std::string &function);
    std::string rowFunction(const std::string &name, const std::string &body);
    void writeRowLoop(const std::string &row, const std::string &function, const std::string &rowCount);
    std::size_t keptBytes() const;
    void writeComment();
    std::string offset(const std::string &base, const Access &access) const;
    bool keepsRegisters() const { return schedule_.keep == Keep::Registers; }
    bool keepsShared() const { return schedule_.keep == Keep::Shared; }
    std::string position() const { return packs_ ? "first" : "column"; }

    const Schedule &schedule_;
    bool packs_;
    std::set<std::size_t> withOffset_;       ///< streams whose row offset is declared
    std::set<std::size_t> loaded_;           ///< streams that an earlier pass has loaded
    std::map<std::size_t, int> passesUsing_; ///< by stream, how many passes read it
    std::vector<Store> elementStores_, rowStores_;
};

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
    const auto countStreams = [&] {
        for (const std::size_t stream : writer.streamsOfPass())
            ++passesUsing_[stream];
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
    static const std::map<Reduction, std::pair<const char *, const char *>> names = {
        {Reduction::Sum, {"total", "Add"}},
        {Reduction::Product, {"product", "Multiply"}},
        {Reduction::Maximum, {"largest", "Larger"}},
        {Reduction::Minimum, {"smallest", "Smaller"}},
        {Reduction::Any, {"any_true", "Or"}},
        {Reduction::All, {"all_true", "And"}},
        {Reduction::ArgMaximum, {"largest_at", "LargerFirst"}},
        {Reduction::ArgMinimum, {"smallest_at", "SmallerFirst"}}};
    Accumulator a;
    a.id = id;
    a.name = request_.names.unique(node.name.empty() ? names.at(node.reduction).first : node.name);
    a.own = request_.names.unique("own_" + a.name);
    a.combine = names.at(node.reduction).second;
    a.type = numberName(number);
    writer_.useHelper(a.combine);
    const bool adds = node.reduction == Reduction::Sum || node.reduction == Reduction::Product;
    a.isDouble = adds && number == Number::Float32 && schedule_.exactSums;
    if (a.isDouble) a.type = "double";
    const std::vector<Index> &coordinates = request_.domain.coordinates.at(operandId);
    const std::string value = a.isDouble && node.reduction == Reduction::Sum
                                  ? writer_.summand(operandId, coordinates)
                                  : writer_.value(operandId, coordinates).text;
    const std::string lowest = isFloatingNumber(number)  ? "-infinity<" + a.type + ">()"
                               : number == Number::Int64 ? "(-9223372036854775807ll - 1)"
                               : number == Number::Truth ? "false"
                                                         : "(-2147483647 - 1)";
    const std::string highest = isFloatingNumber(number)  ? "infinity<" + a.type + ">()"
                                : number == Number::Int64 ? "9223372036854775807ll"
                                : number == Number::Truth ? "true"
                                                          : "2147483647";
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
        a.start = lowest;
        break;
    case Reduction::Minimum:
        a.start = highest;
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
        a.start =
            "{" + (node.reduction == Reduction::ArgMaximum ? lowest : highest) + ", 9223372036854775807ll}";
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
    const std::vector<std::size_t> kept = keptStreams();
    for (const std::size_t stream : streams) {
        const Access &access = writer_.accesses()[stream];
        const std::string at = offset(access.baseText == "0" ? "" : access.name + "_row", access);
        if (!packs_) {
            line(std::string("const ") + index() + " " + access.name + "_at = " + at + ";");
            continue;
        }
        const bool isKept = std::count(kept.begin(), kept.end(), stream) > 0;
        const bool isFirst = loaded_.insert(stream).second;
        // An access that a later pass repeats should stay in the cache, unless the row is kept by the kernel
        // itself.
        const bool isOnlyOne = passesUsing_[stream] < 2 || isLastPass;
        const std::string load = loadPack(access, at, isKept ? isFirst : isOnlyOne);
        const std::string pack = access.name + "_pack";
        if (!isKept) {
            line("const auto " + pack + " = " + load + ";");
        } else if (keepsRegisters()) {
            if (isFirst) line("const auto " + pack + " = " + load + ";");
            if (isFirst)
                line("if constexpr (kept) " + access.name + "_kept[item] = " + pack + ";");
            else
                line("const auto " + pack + " = kept ? " + access.name + "_kept[item] : " + load + ";");
        } else {
            if (isFirst) line("const auto " + pack + " = " + load + ";");
            if (isFirst)
                line("if (first < kept_columns) store<N>(" + access.name + "_store + first, " + pack + ");");
            else
                line("const auto " + pack + " = first < kept_columns ? load<N>(" + access.name +
                     "_store + first) : " + load + ";");
        }
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
    for (Store &store : elementStores_) {
        if (!store.access.streams || store.access.baseText == "0") continue;
        line(std::string("const ") + index() + " " + store.access.name + "_row = " + store.access.baseText +
             ";");
    }
    const Lines elementLines = writer_.takeElementLines();
    Lines needed = elementLines;
    for (const Store &store : elementStores_) {
        needed.push_back(store.value);
        if (!store.access.streams) needed.push_back(store.access.movingText);
    }
    if (schedule_.rows > 1) open("if (is_row) {");
    beginLoop();
    writeLoads(streams, true);
    if (packs_)
        for (const Store &store : elementStores_)
            if (store.access.streams)
                line(std::string("Pack<") + storageName(store.access.dtype) + ", N> " + store.access.name +
                     "_pack;");
    beginElements(needed);
    lines(elementLines);
    for (const Store &store : elementStores_) {
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
        for (const Store &store : elementStores_) {
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
    for (const Store &store : rowStores_)
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
        Store store;
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

void RowsKernel::writeComment()
{
    const std::size_t passes = static_cast<std::size_t>(request_.domain.passes());
    std::string text = schedule_.lanes == 1 ? "Each thread works on a row of its own"
                                            : "LANES threads share a row, ROWS rows a block";
    text += ": " + std::to_string(passes) + (passes == 1 ? " pass" : " passes") + " over the row";
    if (keptStreams().empty())
        text += passes > 1 ? ", each of which reads it again." : ".";
    else if (keepsRegisters())
        text += "; the first keeps it in registers, the others take it from there.";
    else
        text += "; the first keeps it in shared memory, the others take it from there.";
    comment(text);
}

// What a row needs before its passes: the lane, and where it is kept.
void RowsKernel::writeRowStart()
{
    const std::vector<std::size_t> kept = keptStreams();
    line(std::string("const ") + index() + " lane = threadIdx.x;");
    if (keepsRegisters())
        for (const std::size_t stream : kept) {
            const Access &access = writer_.accesses()[stream];
            line(std::string("Pack<") + storageName(access.dtype) + ", N> " + access.name +
                 "_kept[kept ? ITEMS : 1];");
        }
    if (!keepsShared() || kept.empty()) return;
    line("extern __shared__ __align__(16) unsigned char row_store[];");
    std::size_t bytes = 0;
    for (const std::size_t stream : kept) {
        const Access &access = writer_.accesses()[stream];
        const std::string element = storageName(access.dtype);
        const std::string start =
            bytes == 0 ? "row_store" : "row_store + ROWS * kept_columns * " + std::to_string(bytes);
        line(element + " *const " + access.name + "_store = reinterpret_cast<" + element + " *>(" + start +
             ") + threadIdx.y * kept_columns;");
        bytes += dtypeSize(access.dtype);
    }
}

// The calls for one row: packs where they fit, kept where the row fits.
void RowsKernel::writeCalls(const std::string &function)
{
    const std::string arguments = argumentList(schedule_.rows > 1 ? "row, is_row" : "row") + ";";
    const auto call = [&](const std::string &condition, const std::string &parameters) {
        line(condition);
        line("    " + function + "<" + parameters + ">(" + arguments);
    };
    if (keepsRegisters()) {
        call("if (packs_fit && " + columnCount_ + " <= LANES * VECTOR * ITEMS)", "VECTOR, true");
        call("else if (packs_fit)", "VECTOR, false");
        return call("else", "1, false");
    }
    call("if (packs_fit)", "VECTOR");
    call("else", "1");
}

// Bytes per column that shared memory holds.
std::size_t RowsKernel::keptBytes() const
{
    std::size_t bytes = 0;
    for (const std::size_t stream : keptStreams())
        bytes += dtypeSize(writer_.accesses()[stream].dtype);
    return bytes;
}

// The function of one row, in front of the kernel that loops over rows.
std::string RowsKernel::rowFunction(const std::string &name, const std::string &body)
{
    comment(keepsRegisters() ? "One row, in packs of N; `kept` when it fits the registers of its threads."
                             : "One row, in packs of N.");
    line(keepsRegisters() ? "template <int N, bool kept>" : "template <int N>");
    line("__device__ __forceinline__ void " + name + "(");
    line(parameterList(std::string(index()) + " row" + (schedule_.rows > 1 ? ", bool is_row" : "")));
    text_ += "{\n" + body + "}\n\n";
    return std::exchange(text_, {});
}

void RowsKernel::writeRowLoop(const std::string &row, const std::string &function,
                              const std::string &rowCount)
{
    const std::string type = index();
    const bool isShared = schedule_.rows > 1;
    const std::string first = isShared ? cast("blockIdx.x") + " * ROWS" : "blockIdx.x";
    const std::string step = isShared ? cast("gridDim.x") + " * ROWS" : "gridDim.x";
    const std::string variable = isShared ? "first_row" : "row";
    if (packs_) {
        std::vector<Access> stores;
        for (const Store &store : elementStores_)
            stores.push_back(store.access);
        comment("Packs need aligned neighbours; rows of other layouts go element by element.");
        line("const bool packs_fit = " + packsFit(stores) + ";");
    } else {
        line("const " + type + " lane = threadIdx.x;");
    }
    open("for (" + type + " " + variable + " = " + first + "; " + variable + " < " + rowCount + "; " +
         variable + " += " + step + ") {");
    if (isShared) {
        comment("A block's last rows may be beyond the end: their threads repeat the last row, since all "
                "have to meet in "
                "the reductions, and write nothing.");
        line("const bool is_row = first_row + threadIdx.y < " + rowCount + ";");
        if (packs_ || mentions({row}, "row"))
            line("const " + type + " row = is_row ? first_row + threadIdx.y : " + rowCount + " - 1;");
    }
    if (packs_)
        writeCalls(function);
    else
        text_ += row;
    close();
}

KernelText RowsKernel::write()
{
    KernelText kernel;
    kernel.name = request_.name;
    columnCount_ = request_.names.unique("row_length");
    const std::string rowCount = request_.names.unique("row_count");
    kernel.numbers.push_back({columnCount_, "(" + request_.domain.columnCount().text() + ")"});
    kernel.numbers.push_back({rowCount, "(" + request_.domain.rowCount().text() + ")"});
    planner_.nameColumnCount(columnCount_);
    planner_.need(columnCount_);
    planner_.need(rowCount);
    collectPasses();

    depth_ = packs_ ? 1 : 2;
    writeRow();
    std::string row = std::exchange(text_, {});
    while (row.size() > 1 && row[row.size() - 1] == '\n' && row[row.size() - 2] == '\n')
        row.pop_back();
    std::string shared;
    if (const std::size_t bytes = keepsShared() ? keptBytes() : 0; bytes > 0) {
        planner_.need("kept_columns");
        kernel.numbers.push_back(
            {"kept_columns", "(16 * min(ceildiv(" + columnCount_ +
                                 ", 16), floor((max_shared_bytes - 2048) / (16 * ROWS * " +
                                 std::to_string(bytes) + "))))"});
        shared = " shared=(ROWS * kept_columns * " + std::to_string(bytes) + ")";
    }
    std::string function;
    if (packs_) {
        function = request_.names.unique(request_.name + "_row");
        depth_ = 1;
        writeRowStart();
        row = std::exchange(text_, {}) + row;
    }
    depth_ = 1;
    writeRowLoop(row, function, rowCount);
    const std::string body = std::exchange(text_, {});
    depth_ = 0;
    if (packs_) kernel.text = rowFunction(function, row);
    writeComment();
    line("extern \"C\" __global__ void " + launchBounds());
    line(request_.name + "(");
    line(parameterList());
    text_ += "{\n" + body + "}\n";
    kernel.text += text_;
    for (const PlanNumber &number : planner_.numbers())
        kernel.numbers.push_back(number);
    const std::string blocks = "ceildiv(" + rowCount + ", ROWS)";
    kernel.launch = "grid=max(1, " +
                    (schedule_.blocksPerSm
                         ? "min(" + blocks + ", sm_count * " + std::to_string(schedule_.blocksPerSm) + ")"
                         : blocks) +
                    ") block=(LANES,ROWS,1)" + shared;
    kernel.helpers = writer_.helpers();
    kernel.helpers.insert("over_row");
    kernel.usesPacks = packs_;
    return kernel;
}

} // namespace

KernelText writeRowsKernel(const KernelRequest &request)
{
    return RowsKernel(request).write();
}

} // namespace kernelwright::playbook
