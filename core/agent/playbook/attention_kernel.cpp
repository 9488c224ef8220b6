// SPDX-License-Identifier: GPL-3.0-or-later
#include "attention_kernel.h"

namespace kernelwright::playbook
{

AttentionKernel::AttentionKernel(const KernelRequest &request)
    : KernelWriter(request, joined(request.domain.attention->batch, request.domain.attention->down),
                   request.domain.attention->across, "row", "column")
    , plan_(*request.domain.attention)
    , query_(request, plan_.query, joined(plan_.batch, plan_.down), plan_.depth, "row", "step")
    , key_(request, plan_.key, joined(plan_.batch, plan_.keys), plan_.depth, "@key_row", "step")
    , value_(request, plan_.value, joined(plan_.batch, plan_.keys), plan_.across, "@key_row", "column")
    , score_(request, plan_.scores, joined(plan_.batch, plan_.down), plan_.keys, "row", "@key")
{}

void AttentionKernel::writeScore()
{
    const std::string type = index();
    if (plan_.product >= 0) {
        const std::string query = query_.writer.value(plan_.query, plan_.queryAt).text;
        const std::string key = key_.writer.value(plan_.key, plan_.keyAt).text;
        line("const " + type + " @key_row = " + (plan_.batch.empty() ? "" : "@batch * " + keyCount_ + " + ") +
             "@key;");
        line(request_.schedule.exactSums ? "double @product = 0.0;" : "float @product = 0.0f;");
        line("#pragma unroll 4");
        open("for (" + type + " step = 0; step < " + depthCount_ + "; ++step) {");
        lines(query_.takeLines(index()));
        lines(key_.takeLines(index()));
        line(request_.schedule.exactSums ? "@product += static_cast<double>(" + query + ") * " + key + ";"
                                         : "@product += " + query + " * " + key + ";");
        close();
        score_.writer.setElementReduction(
            plan_.product, request_.schedule.exactSums ? "static_cast<float>(@product)" : "@product");
    }
    const std::string score = score_.writer.value(plan_.scores, plan_.scoresAt).text;
    lines(score_.takeLines(index()));
    line("@score[i] = " + score + ";");
}

// The scores of a piece become weights; what was summed before shrinks as the largest score grows.
void AttentionKernel::writeSoftmax()
{
    line("float @largest_here = @score[0];");
    line("#pragma unroll");
    line("for (int i = 1; i < KEYS_EACH; ++i) @largest_here = larger(@largest_here, @score[i]);");
    line("#pragma unroll");
    line("for (int distance = 16; distance > 0; distance /= 2)");
    line("    @largest_here = larger(@largest_here, __shfl_xor_sync(0xffffffffu, @largest_here, distance));");
    line("const float @new_largest = larger(@largest, @largest_here);");
    comment("While every score is masked the largest is -infinity; subtracting it would make NaN of all.");
    line("const float @shift = @new_largest == -infinity<float>() ? 0.0f : @new_largest;");
    line("const float @shrink = expf(@largest - @shift);");
    line("float @total_here = 0.0f;");
    line("#pragma unroll");
    open("for (int i = 0; i < KEYS_EACH; ++i) {");
    line("const float @weight = expf(@score[i] - @shift);");
    line("@total_here += @weight;");
    line("@weights[@warp][i * 32 + @lane] = @weight;");
    close();
    line("#pragma unroll");
    line("for (int distance = 16; distance > 0; distance /= 2)");
    line("    @total_here += __shfl_xor_sync(0xffffffffu, @total_here, distance);");
    line("@total = @total * @shrink + @total_here;");
    line("@largest = @new_largest;");
    line("__syncwarp(); // the @weights of all lanes are there");
}

void AttentionKernel::writeValues()
{
    const std::string type = index();
    const std::string value = value_.writer.value(plan_.value, plan_.valueAt).text;
    line("const " + type + " @keys_here = min(static_cast<" + type + ">(KEYS), " + keyCount_ +
         " - first_key);");
    line("#pragma unroll");
    open("for (int j = 0; j < COLUMNS_EACH; ++j) {");
    line("const " + type + " column = first_column + j * 32 + @lane;");
    line("if (column >= " + acrossCount_ + ") break;");
    line(request_.schedule.exactSums ? "double @part = 0.0;" : "float @part = 0.0f;");
    line("#pragma unroll 4");
    open("for (" + type + " k = 0; k < @keys_here; ++k) {");
    line("const " + type + " @key_row = " + (plan_.batch.empty() ? "" : "@batch * " + keyCount_ + " + ") +
         "first_key + k;");
    lines(value_.takeLines(index()));
    line("@part += @weights[@warp][k] * " + value + ";");
    close();
    line(request_.schedule.exactSums ? "@sum[j] = static_cast<float>(@sum[j] * @shrink + @part);"
                                     : "@sum[j] = @sum[j] * @shrink + @part;");
    close();
    line("__syncwarp(); // before the next piece's @weights");
}

void AttentionKernel::writeResults()
{
    writer_.setElementReduction(plan_.result, "@result");
    const Lines stores = elementStores();
    line("#pragma unroll");
    open("for (int j = 0; j < COLUMNS_EACH; ++j) {");
    line(std::string("const ") + index() + " column = first_column + j * 32 + @lane;");
    line("if (column >= " + acrossCount_ + ") break;");
    line(plan_.maskedRowsAreZero ? "const float @result = @sum[j] / (@total == 0.0f ? 1.0f : @total);"
                                 : "const float @result = @sum[j] / @total;");
    lines(takeLines(writer_, index(), "column"));
    lines(stores);
    close();
}

void AttentionKernel::writeBody()
{
    const std::string type = index();
    line("constexpr int WARPS = LANES / 32, KEYS = 32 * KEYS_EACH;");
    line("__shared__ float @weights[WARPS][KEYS];");
    line("const int @lane = threadIdx.x % 32, @warp = threadIdx.x / 32;");
    line("const " + type + " row = " + cast("blockIdx.x") + " * WARPS + @warp;");
    line("if (row >= " + rowCount_ + ") return; // a whole @warp, and no @warp waits for another");
    if (!plan_.batch.empty()) line("const " + type + " @batch = row / " + downCount_ + ";");
    comment("Wider results than the warp's sums hold take further rounds.");
    open("for (" + type + " first_column = 0; first_column < " + acrossCount_ +
         "; first_column += 32 * COLUMNS_EACH) {");
    line("float @largest = -infinity<float>(), @total = 0.0f, @sum[COLUMNS_EACH] = {};");
    open("for (" + type + " first_key = 0; first_key < " + keyCount_ + "; first_key += KEYS) {");
    line("float @score[KEYS_EACH];");
    line("#pragma unroll");
    open("for (int i = 0; i < KEYS_EACH; ++i) {");
    line("const " + type + " @key = first_key + i * 32 + @lane;");
    line("@score[i] = -infinity<float>();");
    line("if (@key >= " + keyCount_ + ") continue;");
    writeScore();
    close();
    writeSoftmax();
    writeValues();
    close();
    writeResults();
    close();
}

KernelText AttentionKernel::write()
{
    KernelText kernel;
    kernel.name = request_.name;
    NameScope &names = request_.names;
    keyCount_ = names.unique("key_count");
    downCount_ = names.unique("query_count");
    acrossCount_ = names.unique("result_columns");
    rowCount_ = names.unique("row_count");
    kernel.numbers = {{keyCount_, countText(plan_.keys)},
                      {downCount_, countText(plan_.down)},
                      {acrossCount_, countText(plan_.across)},
                      {rowCount_, countText(joined(plan_.batch, plan_.down))}};
    planner_.nameColumnCount(acrossCount_);
    for (const std::string &name : {keyCount_, acrossCount_, rowCount_})
        planner_.need(name);
    if (!plan_.batch.empty()) planner_.need(downCount_);
    if (plan_.product >= 0) {
        depthCount_ = names.unique("depth");
        kernel.numbers.push_back({depthCount_, countText(plan_.depth)});
        planner_.need(depthCount_);
    }
    depth_ = 1;
    writeBody();
    const std::string body = std::exchange(text_, {});
    depth_ = 0;
    comment("A warp computes one row of the result. It takes the keys in pieces of KEYS: each lane scores "
            "KEYS_EACH of "
            "them, the scores become weights, and the lanes then sum the weighted values, each for columns "
            "of its own. "
            "When a larger score turns up, what was summed before is scaled down.");
    line("extern \"C\" __global__ void __launch_bounds__(LANES)");
    line(request_.name + "(");
    const std::vector<Reader> readers = {{&query_.planner, &query_.writer},
                                         {&key_.planner, &key_.writer},
                                         {&value_.planner, &value_.writer},
                                         {&score_.planner, &score_.writer},
                                         {&planner_, &writer_}};
    line(wrappedList(parametersOf(request_, index(), readers), "    "));
    text_ += "{\n" + body + "}\n";
    kernel.text = std::exchange(text_, {});
    for (const auto &[planner, writer] : readers) {
        kernel.numbers.insert(kernel.numbers.end(), planner->numbers().begin(), planner->numbers().end());
        kernel.helpers.insert(writer->helpers().begin(), writer->helpers().end());
    }
    kernel.helpers.insert("larger");
    kernel.launch = "grid=max(1, ceildiv(" + rowCount_ + ", LANES / 32)) block=LANES";
    return kernel;
}

} // namespace kernelwright::playbook
