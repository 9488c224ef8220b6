// SPDX-License-Identifier: GPL-3.0-or-later
#include "tiles_kernel.h"

#include <algorithm>

namespace kernelwright::playbook
{

TilesKernel::TilesKernel(const KernelRequest &request, const TilePlan &plan)
    : KernelWriter(request, joined(plan.batch, plan.down), plan.across, "row", "column")
    , plan_(plan)
    , left_(request, plan.left, joined(plan.batch, plan.down), request.domain.columns, "@left_row", "step")
    , right_(request, plan.right, joined(plan.batch, plan.across), request.domain.columns, "@right_row",
             "step")
{
    const Number number = numberOf(request.program.node(plan.product).dtype);
    number_ = numberName(number);
    isDouble_ = number == Number::Float32 && request.schedule.exactSums;
}

// Neighbouring threads should read neighbouring addresses: along the depth where that is how the factor lies.
bool TilesKernel::runsAlongDepth(const FactorReader &factor) const
{
    if (request_.domain.columns.size() != 1) return true;
    const std::map<std::string, Index> next = {{request_.domain.columns[0].name, Index(1)}};
    for (const Access &access : factor.writer.accesses())
        if (access.moves && access.moving.substituted(next).captured() == 1) return true;
    return false;
}

void TilesKernel::writeFactor(FactorReader &factor, const Words &words)
{
    const TensorNode &product = request_.program.node(plan_.product);
    const std::vector<Index> coordinates = operandCoordinates(product, request_.program.node(factor.id),
                                                              request_.domain.coordinates.at(plan_.product));
    const Fragment value = factor.writer.value(factor.id, coordinates);
    const bool alongDepth = runsAlongDepth(factor);
    const std::string side = words.side, place = words.inSide;
    line("#pragma unroll");
    open("for (int i = threadIdx.x; i < " + side + " * TILE_DEPTH; i += THREADS) {");
    line("const int " + place + " = i " + (alongDepth ? "/ TILE_DEPTH" : "% " + side) + ", @deep = i " +
         (alongDepth ? "% TILE_DEPTH" : "/ " + side) + ";");
    comment("Beyond the ends the first element is loaded and not used: without a branch all loads are under "
            "way at once.");
    const std::string type = index(), position = words.position, step = "@first_step + @deep";
    const std::string wanted = std::string(words.firstOfSide) + " + " + place;
    line("const bool @inside = " + wanted + " < " + words.sideCount + " && " + step + " < " + depthCount_ +
         ";");
    line("const " + type + " " + position + " = @inside ? " + wanted + " : 0, step = @inside ? " + step +
         " : 0;");
    line("const " + type + " " + words.row + " = " +
         (plan_.batch.empty() ? "" : "@batch * " + std::string(words.sideCount) + " + ") + position + ";");
    lines(factor.takeLines(index()));
    line("const " + number_ + " @number = " + value.text + ";");
    line(std::string(words.tile) + "[@deep][" + place + "] = @inside ? @number : 0;");
    close();
}

void TilesKernel::writeSums()
{
    line("#pragma unroll 8");
    open("for (int @deep = 0; @deep < TILE_DEPTH; ++@deep) {");
    line(number_ + " @left[ROWS_EACH], @right[COLUMNS_EACH];");
    line("#pragma unroll");
    line("for (int i = 0; i < ROWS_EACH; ++i) @left[i] = @left_tile[@deep][@down + i * DOWN];");
    line("#pragma unroll");
    line("for (int j = 0; j < COLUMNS_EACH; ++j) @right[j] = @right_tile[@deep][@across + j * ACROSS];");
    line("#pragma unroll");
    line("for (int i = 0; i < ROWS_EACH; ++i)");
    line("    #pragma unroll");
    line(std::string("    for (int j = 0; j < COLUMNS_EACH; ++j) @sum[i][j] += ") +
         (isDouble_ ? "static_cast<double>(@left[i])" : "@left[i]") + " * @right[j];");
    close();
}

// What follows the sum, and its place in the outputs.
void TilesKernel::writeResults()
{
    writer_.setElementReduction(plan_.sum, isDouble_ ? "static_cast<float>(@sum[i][j])" : "@sum[i][j]");
    const Lines stores = elementStores();
    line("#pragma unroll");
    open("for (int i = 0; i < ROWS_EACH; ++i) {");
    line("#pragma unroll");
    open("for (int j = 0; j < COLUMNS_EACH; ++j) {");
    const std::string type = index();
    line("const " + type +
         " @position = @first_row + @down + i * DOWN, column = @first_column + @across + j * ACROSS;");
    line("if (@position >= " + downCount_ + " || column >= " + acrossCount_ + ") continue;");
    line("const " + type + " row = " + (plan_.batch.empty() ? "" : "@batch * " + downCount_ + " + ") +
         "@position;");
    lines(takeLines(writer_, index(), "column"));
    lines(stores);
    close();
    close();
}

void TilesKernel::writeBody()
{
    const std::string type = index();
    line("constexpr int DOWN = TILE_ROWS / ROWS_EACH, ACROSS = TILE_COLUMNS / COLUMNS_EACH, THREADS = DOWN * "
         "ACROSS;");
    comment("One column more than there is to hold: neighbouring rows begin in different banks.");
    line("__shared__ " + number_ +
         " @left_tile[TILE_DEPTH][TILE_ROWS + 1], @right_tile[TILE_DEPTH][TILE_COLUMNS + 1];");
    line("const int @across = threadIdx.x % ACROSS, @down = threadIdx.x / ACROSS;");
    line("const " + type + " @tile = blockIdx.x;");
    line("const " + type + " @first_column = @tile % " + columnTiles_ + " * TILE_COLUMNS;");
    line("const " + type + " @first_row = @tile / " + columnTiles_ +
         (plan_.batch.empty() ? "" : " % " + rowTiles_) + " * TILE_ROWS;");
    if (!plan_.batch.empty())
        line("const " + type + " @batch = @tile / (" + cast(columnTiles_) + " * " + rowTiles_ + ");");
    line(std::string(isDouble_ ? "double" : number_) + " @sum[ROWS_EACH][COLUMNS_EACH] = {};");
    open("for (" + type + " @first_step = 0; @first_step < " + depthCount_ +
         "; @first_step += TILE_DEPTH) {");
    writeFactor(left_, {"@left_tile", "TILE_ROWS", downCount_.c_str(), "@first_row", "@down_at", "@left_row",
                        "@position", "@left"});
    writeFactor(right_, {"@right_tile", "TILE_COLUMNS", acrossCount_.c_str(), "@first_column", "@across_at",
                         "@right_row", "column", "@right"});
    line("__syncthreads();");
    writeSums();
    line("__syncthreads(); // before the next step overwrites the tiles");
    close();
    line("");
    writeResults();
}

KernelText TilesKernel::write()
{
    KernelText kernel;
    kernel.name = request_.name;
    NameScope &names = request_.names;
    depthCount_ = names.unique("depth");
    downCount_ = names.unique("result_rows");
    acrossCount_ = names.unique("result_columns");
    rowTiles_ = names.unique("row_tiles");
    columnTiles_ = names.unique("column_tiles");
    kernel.numbers = {{depthCount_, countText(request_.domain.columns)},
                      {downCount_, countText(plan_.down)},
                      {acrossCount_, countText(plan_.across)},
                      {rowTiles_, "ceildiv(" + downCount_ + ", TILE_ROWS)"},
                      {columnTiles_, "ceildiv(" + acrossCount_ + ", TILE_COLUMNS)"}};
    planner_.nameColumnCount(acrossCount_);
    for (const std::string &name : {depthCount_, downCount_, acrossCount_, columnTiles_})
        planner_.need(name);
    if (!plan_.batch.empty()) planner_.need(rowTiles_);
    depth_ = 1;
    writeBody();
    const std::string body = std::exchange(text_, {});
    depth_ = 0;
    comment("A block computes TILE_ROWS × TILE_COLUMNS results, a thread ROWS_EACH × COLUMNS_EACH of them. "
            "Step by step "
            "TILE_DEPTH positions of both factors come into shared memory, where each number is used by a "
            "whole row or "
            "column of results instead of being read again for each.");
    line("extern \"C\" __global__ void __launch_bounds__((TILE_ROWS / ROWS_EACH) * (TILE_COLUMNS / "
         "COLUMNS_EACH))");
    line(request_.name + "(");
    line(wrappedList(
        parametersOf(
            request_, index(),
            {{&left_.planner, &left_.writer}, {&right_.planner, &right_.writer}, {&planner_, &writer_}}),
        "    "));
    text_ += "{\n" + body + "}\n";
    kernel.text = std::exchange(text_, {});
    for (const AccessPlanner *planner : {&left_.planner, &right_.planner, &planner_})
        for (const PlanNumber &number : planner->numbers())
            kernel.numbers.push_back(number);
    kernel.launch = "grid=max(1, " + (plan_.batch.empty() ? "" : countText(plan_.batch) + " * ") + rowTiles_ +
                    " * " + columnTiles_ +
                    ") block=((TILE_ROWS / ROWS_EACH) * (TILE_COLUMNS / COLUMNS_EACH))";
    for (const ScalarWriter *writer : {&left_.writer, &right_.writer, &writer_})
        kernel.helpers.insert(writer->helpers().begin(), writer->helpers().end());
    return kernel;
}

} // namespace kernelwright::playbook
