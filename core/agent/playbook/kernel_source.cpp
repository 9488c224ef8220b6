// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_source.h"

#include "attention_kernel.h"
#include "base/text.h"
#include "helper_functions.h"
#include "kernel_writer.h"
#include "tiles_kernel.h"
#include "translate.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

// "pow → mean → add → rsqrt → mul": the operators that compute something, in order, each run of equals once.
std::string operatorChain(const Task &task)
{
    std::vector<std::string> names;
    for (const Node &node : task.subgraph.nodes) {
        if (isViewOperator(node.op) || node.op.find("assert") != std::string::npos) continue;
        std::string name = node.op.substr(node.op.rfind(':') + 1);
        if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    constexpr std::size_t most = 12;
    if (names.size() > most) names = {names.begin(), names.begin() + most}, names.emplace_back("…");
    return names.empty() ? "copies its input" : joinText(names, ", ");
}

// What a task is called in its kernels: the operator before the output, or its kind.
std::string kernelName(const Task &task, const KernelDomain &domain)
{
    std::string name = task.outputs[domain.outputs[0]].name;
    const bool isKind = !task.kind.empty() && task.kind != "single" && task.kind != "pointwise";
    return toIdentifier(isKind ? task.kind : name) + "_kernel";
}

void addNumbers(std::string &text, std::set<std::string> &written, const std::vector<PlanNumber> &numbers,
                const std::map<std::string, std::string> &derived)
{
    for (const PlanNumber &number : numbers) {
        for (const auto &[name, expression] : derived)
            if (mentions({number.expression}, name)) addNumbers(text, written, {{name, expression}}, derived);
        if (written.insert(number.name).second)
            text += "//@ let " + number.name + " = " + number.expression + "\n";
    }
}

std::string includes(const Task &task)
{
    const auto uses = [&task](DType dtype) {
        const auto isIt = [dtype](const TaskTensor &tensor) { return tensor.type.dtype == dtype; };
        return std::any_of(task.inputs.begin(), task.inputs.end(), isIt) ||
               std::any_of(task.outputs.begin(), task.outputs.end(), isIt);
    };
    std::string text;
    if (uses(DType::Float16)) text += "#include <cuda_fp16.h>\n";
    if (uses(DType::BFloat16)) text += "#include <cuda_bf16.h>\n";
    return text.empty() ? "" : text + "\n";
}

// Whether a sum shows in float32 results. Half results round away what float sums lose.
bool needsExactSums(const Composition &composition)
{
    const auto &outputs = composition.task.outputs;
    const auto isSingle = [](const TaskTensor &tensor) { return tensor.type.dtype == DType::Float32; };
    if (std::none_of(outputs.begin(), outputs.end(), isSingle)) return false;
    for (const TensorId id : composition.program.reachable()) {
        const TensorNode &node = composition.program.node(id);
        const bool adds = node.op == Op::Reduce &&
                          (node.reduction == Reduction::Sum || node.reduction == Reduction::Product);
        if (adds && node.dtype == DType::Float32) return true;
    }
    return false;
}

// The tunables that these kernels use.
std::string tunables(const Schedule &s, const std::vector<KernelText> &kernels,
                     const std::vector<KernelDomain> &domains)
{
    std::vector<std::pair<std::string, int>> all = {{"LANES", s.lanes}, {"VECTOR", s.vector}};
    if (s.reduces) all.insert(all.begin() + 1, {"ROWS", s.rows});
    if (s.keep == Keep::Registers) all.emplace_back("ITEMS", s.items);
    const auto isUnused = [&kernels](const std::pair<std::string, int> &tunable) {
        return std::none_of(kernels.begin(), kernels.end(), [&](const KernelText &kernel) {
            return mentions({kernel.text, kernel.launch}, tunable.first);
        });
    };
    for (const KernelDomain &domain : domains) {
        if (!domain.attention) continue;
        std::int64_t columns = 1;
        for (const Axis &axis : domain.attention->across)
            columns *= axis.extent.captured();
        std::erase_if(all, isUnused);
        all.emplace_back("KEYS_EACH", s.keysEach);
        all.emplace_back("COLUMNS_EACH",
                         static_cast<int>(std::clamp<std::int64_t>((columns + 31) / 32, 1, 8)));
        break;
    }
    if (s.tiles.isOn()) {
        std::erase_if(all, isUnused); // other kernels of the task may use them beside the tiles
        all.insert(all.end(), {{"TILE_ROWS", s.tiles.rows},
                               {"TILE_COLUMNS", s.tiles.columns},
                               {"TILE_DEPTH", s.tiles.depth},
                               {"ROWS_EACH", s.tiles.rowsEach},
                               {"COLUMNS_EACH", s.tiles.columnsEach}});
    }
    std::string text;
    for (const auto &[name, value] : all)
        text += "//@ tune " + name + " = " + std::to_string(value) + "\n";
    return text;
}

} // namespace

bool Composition::reduces() const
{
    return std::any_of(kernels.begin(), kernels.end(),
                       [](const KernelDomain &kernel) { return kernel.reduces; });
}

const KernelDomain &Composition::main() const
{
    const auto it = std::find_if(kernels.begin(), kernels.end(),
                                 [](const KernelDomain &kernel) { return kernel.reduces; });
    return it == kernels.end() ? kernels.front() : *it;
}

Result<Composition> compose(const Task &task)
{
    if (task.outputs.empty()) return fail(ErrorCode::NotSupported, "The task has no output to compute.");
    Result<Translation> translation = translateTask(task);
    if (!translation) return tl::unexpected(translation.error());
    Result<std::vector<KernelDomain>> kernels = planKernels(task, translation->program);
    if (!kernels) return tl::unexpected(kernels.error());
    return Composition{task, std::move(translation->program), std::move(*kernels)};
}

namespace
{

Tiles legalised(Tiles tiles, const Composition &composition, const LaunchLimits &limits)
{
    if (!tiles.isOn() || !planTiles(composition.program, composition.main())) return {};
    tiles.rows = std::clamp(tiles.rows, 8, 128);
    tiles.columns = std::clamp(tiles.columns, 8, 128);
    tiles.rowsEach = std::clamp(tiles.rowsEach, 1, std::min(tiles.rows, 8));
    tiles.columnsEach = std::clamp(tiles.columnsEach, 1, std::min(tiles.columns, 8));
    while (tiles.threads() > limits.maxThreadsPerBlock)
        (tiles.rowsEach <= tiles.columnsEach ? tiles.rowsEach : tiles.columnsEach) *= 2;
    while (tiles.threads() < 32)
        (tiles.rowsEach > tiles.columnsEach ? tiles.rowsEach : tiles.columnsEach) /= 2;
    constexpr int mostBytes = 48 * 1024; // what every device has without asking
    tiles.depth = std::clamp(tiles.depth, 4, 256);
    const auto bytes = [&tiles] { return tiles.depth * (tiles.rows + tiles.columns + 2) * 8; };
    while (bytes() > mostBytes && tiles.depth > 4)
        tiles.depth /= 2;
    return tiles;
}

} // namespace

Schedule legalised(Schedule s, const Composition &composition, const LaunchLimits &limits)
{
    s.reduces = composition.reduces();
    const int most = static_cast<int>(std::clamp<std::int64_t>(limits.maxThreadsPerBlock, 32, 1024));
    s.tiles = legalised(s.tiles, composition, limits);
    const bool isAttention = composition.main().attention.has_value();
    s.keysEach = isAttention ? std::clamp(s.keysEach, 1, 8) : 1;
    if (isAttention) {
        s.rows = 1;
        s.lanes = std::max(s.lanes, 32);
        s.blocksPerSm = 0;
        s.reciprocal = false;
    }
    if (s.tiles.isOn() || isAttention) {
        s.vector = 1;
        s.keep = Keep::Nothing;
        s.streaming = false;
    }
    s.lanes = std::clamp(s.lanes, s.reduces ? 1 : 32, most);
    s.rows = s.reduces ? std::clamp(s.rows, 1, most / s.lanes) : 1;
    while (s.threads() < 32)
        s.rows *= 2; // shuffles need whole warps
    s.vector = std::clamp(s.vector, 1, widestVector(composition.task));
    if (!s.reduces || composition.main().passes() < 2) s.keep = Keep::Nothing;
    s.items = s.keep == Keep::Registers ? std::clamp(s.items, 1, 64) : 0;
    s.keepsValues = s.keepsValues && s.keep == Keep::Registers && s.items * s.vector <= 64;
    if (!s.reduces) s.reciprocal = false;
    s.exactSums = s.exactSums && (isAttention || needsExactSums(composition));
    s.fastMath = s.fastMath && composition.task.tolerance.allowReducedPrecision;
    return s;
}

std::string writeSource(const Composition &composition, const Schedule &schedule,
                        const std::map<std::string, std::string> &notes)
{
    const Task &task = composition.task;
    const TensorProgram *program = &composition.program;
    Composition rewritten;
    const std::vector<KernelDomain> *domains = &composition.kernels;
    if (schedule.simplified) {
        rewritten.program = simplified(composition.program);
        if (Result<std::vector<KernelDomain>> kernels = planKernels(task, rewritten.program)) {
            rewritten.kernels = std::move(*kernels);
            program = &rewritten.program;
            domains = &rewritten.kernels;
        }
    }
    NameScope names(task);
    std::vector<KernelText> kernels;
    for (const KernelDomain &domain : *domains) {
        const KernelRequest request{task,
                                    *program,
                                    domain,
                                    schedule,
                                    names,
                                    names.unique(kernelName(task, domain)),
                                    schedule.reduces};
        if (domain.attention) {
            kernels.push_back(AttentionKernel(request).write());
            continue;
        }
        const std::optional<TilePlan> tiles =
            schedule.tiles.isOn() ? planTiles(*program, domain) : std::optional<TilePlan>();
        kernels.push_back(tiles            ? TilesKernel(request, *tiles).write()
                          : domain.reduces ? writeRowsKernel(request)
                                           : writeElementsKernel(request));
    }
    std::set<std::string> helpers;
    std::string body;
    for (const KernelText &kernel : kernels) {
        helpers.insert(kernel.helpers.begin(), kernel.helpers.end());
        if (kernel.usesPacks) helpers.insert("packs");
        body += (body.empty() ? "" : "\n") + kernel.text;
    }
    std::string text =
        "// " + (task.title.empty() ? task.id : task.title) + ": " + operatorChain(task) + ", in " +
        (kernels.size() == 1 ? "one kernel" : std::to_string(kernels.size()) + " kernels") + ".\n//\n";
    text += tunables(schedule, kernels, *domains);
    std::set<std::string> written;
    for (const KernelText &kernel : kernels) {
        std::vector<PlanNumber> numbers = kernel.numbers;
        for (const auto &[name, expression] : program->derivedSizes)
            if (mentions({kernel.text}, name))
                numbers.insert(numbers.begin(), {name, "(" + expression + ")"});
        addNumbers(text, written, numbers, program->derivedSizes);
    }
    for (const KernelText &kernel : kernels)
        text += "//@ kernel " + kernel.name + " " + kernel.launch + "\n";
    text += "//@ schedule " + scheduleText(schedule);
    for (const auto &[key, value] : notes)
        text += " " + key + "=" + value;
    text += "\n\n" + includes(task);
    const std::string functions = helperFunctions(helpers, body);
    return text + functions + (functions.empty() ? "" : "\n") + body;
}

} // namespace kernelwright::playbook
