// SPDX-License-Identifier: GPL-3.0-or-later
// The shape for tasks without reductions: one thread for one element, or for a pack of neighbours.
#include "base/text.h"
#include "kernel_writer.h"

namespace kernelwright::playbook
{

namespace
{

struct Store
{
    Access access;
    std::size_t output = 0;
    std::vector<Index> coordinates;
};

class ElementsKernel : KernelWriter
{
public:
    ElementsKernel(const KernelRequest &request, const std::vector<Axis> &rows,
                   const std::vector<Axis> &columns)
        : KernelWriter(request, rows, columns, "row", rows.empty() ? "index" : "column")
        , rows_(rows)
        , columns_(columns)
    {}

    /// How many tensors are not reached evenly with this split into rows and columns.
    int unevenAccesses()
    {
        prepare();
        int uneven = 0;
        for (const Access &access : writer_.accesses())
            uneven += access.moves && !access.streams;
        for (const Store &store : stores_)
            uneven += !store.access.streams;
        return uneven;
    }

    KernelText write();

private:
    void prepare();
    void writeComment();
    void writeElementBody();
    void writePackBody();
    void writeLoops();
    std::string at(const Access &access) const;
    std::string storeAt(const Access &access) const;
    std::string threads() const { return request_.hasRowsMacro ? "LANES * ROWS" : "LANES"; }

    std::vector<Axis> rows_, columns_;
    std::vector<Store> stores_;
    std::vector<std::string> values_;
    std::vector<std::size_t> streams_;
    Lines rowLines_, elementLines_;
    std::string count_;    ///< the number of elements
    std::string function_; ///< the device function that computes one pack
};

void ElementsKernel::prepare()
{
    count_ = request_.task.outputs[request_.domain.outputs[0]].name + "_numel";
    planner_.need(count_);
    for (const std::size_t output : request_.domain.outputs) {
        const TensorId id = request_.program.outputs[output];
        const std::vector<Index> &coordinates = request_.domain.coordinates.at(id);
        Store store{planner_.output(static_cast<int>(output), coordinates), output, coordinates};
        const DType dtype = request_.program.node(id).dtype;
        const Fragment value = writer_.value(id, coordinates);
        values_.push_back(storedText(value.text, numberOf(dtype), store.access.dtype));
        store.access.name = request_.names.uniqueStem(store.access.pointer);
        stores_.push_back(std::move(store));
    }
    streams_ = writer_.streamsOfPass();
    rowLines_ = writer_.takeRowLines();
    elementLines_ = writer_.takeElementLines();
}

// The offset of an input's element, or of the first of a pack.
std::string ElementsKernel::at(const Access &access) const
{
    const std::string variable = hasRows_ ? "column" : "index";
    std::string moving = access.stride.empty() ? variable : variable + " * " + access.stride;
    if (!access.evenFlag.empty())
        moving = "(" + access.evenFlag + " ? " + moving + " : " + access.movingText + ")";
    if (access.baseText == "0") return moving;
    const bool isSum = access.baseText.find('?') != std::string::npos;
    return (isSum ? "(" + access.baseText + ")" : access.baseText) + " + " + moving;
}

std::string ElementsKernel::storeAt(const Access &access) const
{
    const bool isInOrder = access.streams && (!hasRows_ || access.baseText == "row * " + columnCount_);
    if (isInOrder) return "index";
    return access.baseText == "0" ? access.movingText : access.baseText + " + " + access.movingText;
}

void ElementsKernel::writeComment()
{
    comment(request_.schedule.vector > 1 ? "A thread computes VECTOR neighbouring elements: memory moves "
                                           "them by one access of up to 16 bytes, and "
                                           "the threads of a warp touch neighbouring packs."
                                         : "A thread computes one element; the threads of a warp lie side by "
                                           "side, so that their accesses share "
                                           "memory sectors.");
    if (!rows_.empty())
        comment("The output is taken as rows of " + columnCount_ +
                " columns, since not every input has all its elements.");
}

void ElementsKernel::writeElementBody()
{
    Lines all = rowLines_;
    all.insert(all.end(), elementLines_.begin(), elementLines_.end());
    for (const std::size_t stream : streams_)
        all.push_back(at(writer_.accesses()[stream]));
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        all.push_back(values_[i]);
        all.push_back(storeAt(stores_[i].access));
    }
    if (mentions(all, "row")) line(std::string("const ") + index() + " row = index / " + columnCount_ + ";");
    if (mentions(all, "column"))
        line(std::string("const ") + index() + " column = index % " + columnCount_ + ";");
    lines(rowLines_);
    for (const std::size_t stream : streams_) {
        const Access &access = writer_.accesses()[stream];
        line(std::string("const ") + index() + " " + access.name + "_at = " + at(access) + ";");
    }
    lines(elementLines_);
    for (std::size_t i = 0; i < stores_.size(); ++i)
        line(stores_[i].access.pointer + "[" + storeAt(stores_[i].access) + "] = " + values_[i] + ";");
}

void ElementsKernel::writePackBody()
{
    // Offsets are those of the pack's first element; within a pack the column moves on, the row does not.
    Lines offsets, perElement = elementLines_;
    for (const std::size_t stream : streams_)
        offsets.push_back(at(writer_.accesses()[stream]));
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        perElement.push_back(values_[i]);
        (stores_[i].access.streams ? offsets : perElement).push_back(storeAt(stores_[i].access));
    }
    Lines before = rowLines_;
    before.insert(before.end(), offsets.begin(), offsets.end());
    const std::string variable = hasRows_ ? "column" : "index";
    const bool needsElementPosition = mentions(perElement, variable);
    Lines all = before;
    all.insert(all.end(), perElement.begin(), perElement.end());
    if (mentions(all, "row")) line(std::string("const ") + index() + " row = index / " + columnCount_ + ";");
    if (hasRows_ && mentions(all, "column"))
        line(std::string("const ") + index() + " column = index % " + columnCount_ + ";");
    lines(rowLines_);
    for (const std::size_t stream : streams_) {
        const Access &access = writer_.accesses()[stream];
        std::string offset = at(access);
        constexpr std::size_t longest = 50; // a longer offset gets a line of its own
        if (offset.size() > longest) {
            line(std::string("const ") + index() + " " + access.name + "_at = " + offset + ";");
            offset = access.name + "_at";
        }
        line("const auto " + access.name + "_pack = " + loadPack(access, offset, true) + ";");
    }
    for (const Store &store : stores_)
        if (store.access.streams)
            line(std::string("Pack<") + storageName(store.access.dtype) + ", N> " + store.access.name +
                 "_pack;");
    if (needsElementPosition)
        line(std::string("const ") + index() + " first_" + variable + " = " + variable + ";");
    line("#pragma unroll");
    open("for (int k = 0; k < N; ++k) {");
    if (needsElementPosition)
        line(std::string("const ") + index() + " " + variable + " = first_" + variable + " + k;");
    lines(elementLines_);
    for (std::size_t i = 0; i < stores_.size(); ++i) {
        const Access &access = stores_[i].access;
        line((access.streams ? access.name + "_pack.at[k]" : access.pointer + "[" + storeAt(access) + "]") +
             " = " + values_[i] + ";");
    }
    close();
    for (const Store &store : stores_)
        if (store.access.streams)
            line(storeText(store.access, storeAt(store.access), store.access.name + "_pack"));
}

void ElementsKernel::writeLoops()
{
    const std::string factor = request_.hasRowsMacro ? "(LANES * ROWS)" : "LANES";
    const std::string thread = cast("blockIdx.x") + " * " + factor + " + threadIdx.x";
    const std::string all = cast("gridDim.x") + " * " + factor;
    const std::string type = index();
    if (!usesPacks(request_.schedule)) {
        open("for (" + type + " index = " + thread + "; index < " + count_ + "; index += " + all + ") {");
        writeElementBody();
        return close();
    }
    line("const " + type + " thread = " + thread + ", threads = " + all + ";");
    std::vector<Access> stores;
    for (const Store &store : stores_)
        stores.push_back(store.access);
    comment("Packs need aligned neighbours. Where a layout has none, and for what is left behind the last "
            "whole pack, "
            "elements go one by one.");
    line("const bool packs_fit = " + packsFit(stores) + ";");
    line("const " + type + " packs = packs_fit ? " + count_ + " / VECTOR : 0;");
    line("for (" + type + " pack = thread; pack < packs; pack += threads)");
    line("    " + function_ + "<VECTOR>(" + argumentList("pack * VECTOR") + ";");
    line("for (" + type + " index = packs * VECTOR + thread; index < " + count_ + "; index += threads)");
    line("    " + function_ + "<1>(" + argumentList("index") + ";");
}

KernelText ElementsKernel::write()
{
    KernelText kernel;
    kernel.name = request_.name;
    if (hasRows_) {
        columnCount_ = request_.names.unique("row_length");
        kernel.numbers.push_back({columnCount_, "(" +
                                                    productFrom(
                                                        [this] {
                                                            std::vector<Index> extents;
                                                            for (const Axis &axis : columns_)
                                                                extents.push_back(axis.extent);
                                                            return extents;
                                                        }(),
                                                        0)
                                                        .text() +
                                                    ")"});
        planner_.nameColumnCount(columnCount_);
        planner_.need(columnCount_);
    }
    prepare();
    std::string function;
    if (usesPacks(request_.schedule)) {
        function_ = request_.names.unique(request_.name + "_pack");
        ++depth_;
        writePackBody();
        --depth_;
        function = std::exchange(text_, {});
    }
    ++depth_;
    writeLoops();
    --depth_;
    const std::string body = std::exchange(text_, {});
    if (!function.empty()) {
        comment("N neighbouring elements, from `index` on.");
        line("template <int N>");
        line("__device__ __forceinline__ void " + function_ + "(");
        line(parameterList(std::string(index()) + " index"));
        text_ += "{\n" + function + "}\n\n";
    }
    writeComment();
    line("extern \"C\" __global__ void " + launchBounds());
    line(request_.name + "(");
    line(parameterList());
    text_ += "{\n" + body + "}\n";
    kernel.text = text_;
    for (const PlanNumber &number : planner_.numbers())
        kernel.numbers.push_back(number);
    const std::string blocks = "ceildiv(" + count_ + ", " + threads() + " * VECTOR)";
    const int perSm = request_.schedule.blocksPerSm;
    kernel.launch = "grid=max(1, " +
                    (perSm ? "min(" + blocks + ", sm_count * " + std::to_string(perSm) + ")" : blocks) +
                    ") block=" + (request_.hasRowsMacro ? "LANES*ROWS" : "LANES");
    kernel.helpers = writer_.helpers();
    kernel.usesPacks = usesPacks(request_.schedule);
    return kernel;
}

} // namespace

KernelText writeElementsKernel(const KernelRequest &request)
{
    // The fewest axes are rows with which every tensor is reached evenly; none where all tensors have all
    // elements.
    const std::vector<Axis> &axes = request.domain.columns;
    std::size_t best = 0;
    int fewest = -1;
    for (std::size_t split = 0; split == 0 || split < axes.size(); ++split) {
        NameScope names(request.task);
        KernelRequest trial{request.task, request.program, request.domain,      request.schedule,
                            names,        request.name,    request.hasRowsMacro};
        const auto middle = axes.begin() + static_cast<std::ptrdiff_t>(split);
        const int uneven =
            ElementsKernel(trial, {axes.begin(), middle}, {middle, axes.end()}).unevenAccesses();
        if (fewest < 0 || uneven < fewest) {
            fewest = uneven;
            best = split;
        }
    }
    const auto middle = axes.begin() + static_cast<std::ptrdiff_t>(best);
    return ElementsKernel(request, {axes.begin(), middle}, {middle, axes.end()}).write();
}

} // namespace kernelwright::playbook
