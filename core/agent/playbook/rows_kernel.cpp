// SPDX-License-Identifier: GPL-3.0-or-later
// What surrounds a row: its function, the loop over rows and the launch.
#include "rows_kernel.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright::playbook
{

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

// All loads of a row at once: a thread waits once for all of its bytes, and not once for each.
void RowsKernel::writeKeptLoads()
{
    const std::vector<std::size_t> kept = keptStreams();
    for (const auto &[key, array] : keptValueNames_)
        line(std::string("Pack<") + numberName(numberOf(request_.program.node(key.first).dtype)) + ", N> " +
             array + "[kept ? ITEMS : 1];");
    for (const std::size_t stream : kept) {
        const Access &access = writer_.accesses()[stream];
        line(std::string("Pack<") + storageName(access.dtype) + ", N> " + access.name +
             "_kept[kept ? ITEMS : 1];");
        if (access.baseText != "0")
            line(std::string("const ") + index() + " " + access.name + "_row = " + access.baseText + ";");
    }
    if (kept.empty()) return;
    open("if constexpr (kept) {");
    line("#pragma unroll");
    open("for (int item = 0; item < ITEMS; ++item) {");
    line(std::string("const ") + index() + " first = (item * LANES + lane) * N;");
    for (const std::size_t stream : kept) {
        const Access &access = writer_.accesses()[stream];
        const std::string at = offset(access.baseText == "0" ? "" : access.name + "_row", access);
        line("if (first < " + columnCount_ + ") " + access.name +
             "_kept[item] = " + loadPack(access, at, true) + ";");
    }
    close();
    close();
}

// What a row needs before its passes: the lane, and where it is kept.
void RowsKernel::writeRowStart()
{
    const std::vector<std::size_t> kept = keptStreams();
    line(std::string("const ") + index() + " lane = threadIdx.x;");
    if (keepsRegisters()) return writeKeptLoads();
    if (!keepsShared() || kept.empty()) return;
    line("extern __shared__ __align__(16) unsigned char row_store[];");
    std::size_t bytes = 0;
    for (const std::size_t stream : kept) {
        const Access &access = writer_.accesses()[stream];
        const std::string element = storageName(access.dtype);
        const std::string start =
            bytes == 0 ? "row_store" : "row_store + ROWS * " + keptColumns_ + " * " + std::to_string(bytes);
        line(element + " *const " + access.name + "_store = reinterpret_cast<" + element + " *>(" + start +
             ") + threadIdx.y * " + keptColumns_ + ";");
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
        for (const RowStore &store : elementStores_)
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

// How many columns shared memory holds in each case, as numbers of the launch plan.
void RowsKernel::writeShared(KernelText &kernel, std::string &sharedBytes)
{
    const std::size_t bytes = keepsShared() ? keptBytes() : 0;
    if (bytes == 0) return;
    planner_.need(keptColumns_);
    const std::string perColumn = std::to_string(bytes);
    kernel.numbers.push_back({keptColumns_, "(16 * min(ceildiv(" + columnCount_ +
                                                ", 16), floor((max_shared_bytes - 2048) / (16 * ROWS * " +
                                                perColumn + "))))"});
    sharedBytes = " shared=(ROWS * " + keptColumns_ + " * " + perColumn + ")";
}

KernelText RowsKernel::write()
{
    KernelText kernel;
    kernel.name = request_.name;
    columnCount_ = request_.names.unique("row_length");
    const std::string rowCount = request_.names.unique("row_count");
    keptColumns_ = request_.names.unique("kept_columns");
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
    writeShared(kernel, shared);
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

KernelText writeRowsKernel(const KernelRequest &request)
{
    return RowsKernel(request).write();
}

} // namespace kernelwright::playbook
