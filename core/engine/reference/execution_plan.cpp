// SPDX-License-Identifier: GPL-3.0-or-later
#include "execution_plan.h"

#include "missing_operators.h"
#include "replacement_order.h"
#include "torch_tensors.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

/// Parameters that an operator writes into though its schema does not say so: statistics while training.
bool writesStatistics(const Node &node, const std::string &parameter)
{
    if (parameter != "running_mean" && parameter != "running_var") return false;
    for (const char *name : {"training", "use_input_stats", "train"})
        if (const Argument *training = findArgument(node, name)) return training->flag;
    return false;
}

Result<ExecutionPlan> planGraph(const OperatorGraph &graph, const ExecutionRules &rules,
                                const std::vector<Replacement> &replacements);

struct HigherOrder
{
    const char *op;
    ExecutionStep::Kind kind;
    std::size_t subgraphs;
};

// Regions only say how their body was compiled or differentiated, except autocast, which changes types.
constexpr HigherOrder higherOrderOperators[] = {
    {"higher_order::cond", ExecutionStep::Kind::Cond, 2},
    {"higher_order::while_loop", ExecutionStep::Kind::WhileLoop, 2},
    {"higher_order::scan", ExecutionStep::Kind::Scan, 1},
    {"higher_order::map_impl", ExecutionStep::Kind::Map, 1},
    {"higher_order::map", ExecutionStep::Kind::Map, 1},
    {"higher_order::wrap", ExecutionStep::Kind::Region, 1},
    {"higher_order::wrap_with_autocast", ExecutionStep::Kind::Region, 1},
    {"higher_order::wrap_with_set_grad_enabled", ExecutionStep::Kind::Region, 1},
    {"higher_order::wrap_activation_checkpoint", ExecutionStep::Kind::Region, 1},
    {"higher_order::tag_activation_checkpoint", ExecutionStep::Kind::Region, 1},
    {"higher_order::hints_wrapper", ExecutionStep::Kind::Region, 1},
    {"higher_order::invoke_subgraph", ExecutionStep::Kind::Region, 1},
    {"higher_order::strict_mode", ExecutionStep::Kind::Region, 1},
};

const HigherOrder *findHigherOrder(const std::string &op)
{
    const auto found = std::find_if(std::begin(higherOrderOperators), std::end(higherOrderOperators),
                                    [&](const HigherOrder &entry) { return op == entry.op; });
    return found == std::end(higherOrderOperators) ? nullptr : &*found;
}

/// (device type, element type, enabled, …).
Result<void> planAutocast(const Node &node, const ExecutionRules &rules, ExecutionStep &step)
{
    using Kind = Argument::Kind;
    if (step.plainArguments.size() < 3 || step.plainArguments[0].kind != Kind::String ||
        step.plainArguments[2].kind != Kind::Bool)
        return fail(ErrorCode::BadInput, describeNode(node) + " does not say what it casts to");
    step.changesAutocast = true;
    if (!step.plainArguments[2].flag) return {};
    AutocastRegion region;
    region.forCuda = step.plainArguments[0].text == "cuda";
    if (region.forCuda) region.lowType = c10::kHalf;
    if (step.plainArguments[1].kind == Kind::DType && !rules.float64)
        region.lowType = rules.dtypeFor(step.plainArguments[1].dtype);
    step.autocast = region;
    return {};
}

Result<void> planSubgraphs(const Node &node, const HigherOrder &kind, const ExecutionRules &rules,
                           ExecutionStep &step)
{
    step.kind = kind.kind;
    if (node.subgraphs.size() != kind.subgraphs)
        return fail(ErrorCode::BadInput, describeNode(node) + " needs " + std::to_string(kind.subgraphs) +
                                             " sub-graphs but has " + std::to_string(node.subgraphs.size()));
    for (const OperatorGraph &subgraph : node.subgraphs) {
        Result<ExecutionPlan> plan = planGraph(subgraph, rules, {});
        if (!plan) return forward(plan.error(), describeNode(node));
        step.subplans.push_back(std::make_unique<ExecutionPlan>(std::move(*plan)));
    }
    for (const NamedArgument &argument : node.arguments)
        if (argument.value.kind != Argument::Kind::Graph) step.plainArguments.push_back(argument.value);
    if (node.op == "higher_order::wrap_with_autocast") return planAutocast(node, rules, step);
    return {};
}

void planBuiltin(const Node &node, const Builtin &builtin, ExecutionStep &step)
{
    step.kind = ExecutionStep::Kind::Builtin;
    step.builtin = builtin.function;
    if (builtin.parameters.empty()) {
        for (const NamedArgument &argument : node.arguments)
            step.plainArguments.push_back(argument.value);
        return;
    }
    step.plainArguments.resize(builtin.parameters.size());
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
        const auto named =
            std::find(builtin.parameters.begin(), builtin.parameters.end(), node.arguments[i].name);
        const std::size_t index = named == builtin.parameters.end()
                                      ? i
                                      : static_cast<std::size_t>(named - builtin.parameters.begin());
        if (index < step.plainArguments.size()) step.plainArguments[index] = node.arguments[i].value;
    }
}

Result<void> planOperator(const Node &node, const ExecutionRules &rules, ExecutionStep &step)
{
    const auto found = c10::Dispatcher::singleton().findSchema({node.op, node.overload});
    if (!found)
        return fail(
            ErrorCode::NotSupported,
            describeNode(node) + " calls the operator " + node.op +
                (node.overload.empty() ? "" : "." + node.overload) + ", which this LibTorch (" +
                torchVersion() +
                ") does not know: build the engine with a newer LibTorch, or export the model without it");
    step.op = *found;
    const c10::FunctionSchema &schema = found->schema();
    Result<std::vector<BoundArgument>> bound = bindArguments(node, schema, rules);
    if (!bound) return forward(bound.error(), describeNode(node));
    step.arguments = std::move(*bound);
    const std::vector<c10::Argument> &parameters = schema.arguments();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const c10::AliasInfo *alias = parameters[i].alias_info();
        if ((alias && alias->isWrite()) || writesStatistics(node, parameters[i].name()))
            step.written.push_back(i);
        const Argument *given = findArgument(node, parameters[i].name());
        if (parameters[i].name() == "dtype" && (!given || given->kind == Argument::Kind::None))
            step.openDType = i;
    }
    return {};
}

Result<ExecutionStep> planNode(const OperatorGraph &graph, NodeId id, const ExecutionRules &rules)
{
    const Node &node = graph.node(id);
    ExecutionStep step;
    step.node = id;
    Result<void> planned;
    if (const HigherOrder *kind = findHigherOrder(node.op)) {
        planned = planSubgraphs(node, *kind, rules, step);
    } else if (const Builtin *builtin = findBuiltin(node.op)) {
        planBuiltin(node, *builtin, step);
    } else if (node.op.starts_with("higher_order::")) {
        planned = fail(ErrorCode::NotSupported, describeNode(node) + " uses the higher-order operator " +
                                                    node.op.substr(14) +
                                                    ", which is not supported: export the model without it");
    } else {
        planned = planOperator(node, rules, step);
    }
    if (!planned) return forward(planned.error());
    return step;
}

/// Where each value is used last; values that live as long as the run (inputs, weights, outputs) are not
/// released.
void planReleases(const OperatorGraph &graph, std::vector<ExecutionStep> &steps)
{
    std::vector<bool> pinned(graph.values.size(), false);
    for (const ValueId output : graph.outputs)
        pinned[static_cast<std::size_t>(output)] = true;
    for (std::size_t step = steps.size(); step-- > 0;) {
        const Node &node = graph.node(steps[step].node);
        std::vector<ValueId> touched =
            steps[step].replacement ? steps[step].replacement->inputs : valuesUsed(node);
        const std::vector<ValueId> &made =
            steps[step].replacement ? steps[step].replacement->outputs : node.outputs;
        touched.insert(touched.end(), made.begin(), made.end());
        for (const ValueId value : touched) {
            if (pinned[static_cast<std::size_t>(value)] || graph.value(value).producer == noNode) continue;
            pinned[static_cast<std::size_t>(value)] = true;
            steps[step].released.push_back(value);
        }
    }
}

Result<ExecutionPlan> planGraph(const OperatorGraph &graph, const ExecutionRules &rules,
                                const std::vector<Replacement> &replacements)
{
    const Result<std::vector<ScheduledWork>> order = scheduleReplacements(graph, replacements);
    if (!order) return forward(order.error());
    ExecutionPlan plan;
    plan.graph = &graph;
    for (const ScheduledWork &work : *order) {
        if (work.node != noNode) {
            Result<ExecutionStep> step = planNode(graph, work.node, rules);
            if (!step) return forward(step.error());
            plan.steps.push_back(std::move(*step));
            continue;
        }
        ExecutionStep step;
        step.kind = ExecutionStep::Kind::Replacement;
        step.replacement = &replacements[work.replacement];
        step.node = *std::max_element(step.replacement->nodes.begin(), step.replacement->nodes.end());
        plan.steps.push_back(std::move(step));
    }
    planReleases(graph, plan.steps);
    return plan;
}

} // namespace

Result<ExecutionPlan> planExecution(const OperatorGraph &graph, const ExecutionRules &rules,
                                    const std::vector<Replacement> &replacements)
{
    supplyMissingOperators();
    try {
        return planGraph(graph, rules, replacements);
    } catch (const std::exception &error) {
        return fail(ErrorCode::BadInput,
                    "the graph '" + graph.name + "' cannot be run: " + describeTorchError(error));
    }
}

std::string describeNode(const Node &node)
{
    std::string text = "node '" + node.name + "' (" + node.op;
    if (node.source.line > 0) text += ", " + node.source.file + " line " + std::to_string(node.source.line);
    return text + ")";
}

} // namespace kernelwright
