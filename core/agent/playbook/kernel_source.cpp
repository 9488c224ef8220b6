// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_source.h"

#include "base/text.h"
#include "helper_functions.h"
#include "kernel_writer.h"
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

Schedule legalised(Schedule s, const Composition &composition, const LaunchLimits &limits)
{
    s.reduces = composition.reduces();
    const int most = static_cast<int>(std::clamp<std::int64_t>(limits.maxThreadsPerBlock, 32, 1024));
    s.lanes = std::clamp(s.lanes, s.reduces ? 1 : 32, most);
    s.rows = s.reduces ? std::clamp(s.rows, 1, most / s.lanes) : 1;
    while (s.threads() < 32)
        s.rows *= 2; // shuffles need whole warps
    s.vector = std::clamp(s.vector, 1, widestVector(composition.task));
    if (!s.reduces || composition.main().passes() < 2) s.keep = Keep::Nothing;
    s.items = s.keep == Keep::Registers ? std::clamp(s.items, 1, 64) : 0;
    if (!s.reduces) s.reciprocal = false;
    s.exactSums = s.exactSums && needsExactSums(composition);
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
        kernels.push_back(domain.reduces ? writeRowsKernel(request) : writeElementsKernel(request));
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
    text += "//@ tune LANES = " + std::to_string(schedule.lanes) + "\n";
    if (schedule.reduces) text += "//@ tune ROWS = " + std::to_string(schedule.rows) + "\n";
    text += "//@ tune VECTOR = " + std::to_string(schedule.vector) + "\n";
    if (schedule.keep == Keep::Registers) text += "//@ tune ITEMS = " + std::to_string(schedule.items) + "\n";
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
