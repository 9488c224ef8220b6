// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_names.h"

#include "base/text.h"
#include "plan_expression.h"
#include "plan_text.h"

namespace kernelwright
{

namespace
{
/// Long lists are cut: a message is one sentence.
std::string shortList(const std::vector<std::string> &names)
{
    constexpr std::size_t most = 40;
    if (names.size() <= most) return joinText(names, ", ");
    return joinText({names.begin(), names.begin() + most}, ", ") + " and " +
           std::to_string(names.size() - most) + " more";
}

std::string numbered(const std::string &stem, std::size_t count)
{
    return count == 1 ? stem + "0" : stem + "0…" + std::to_string(count - 1);
}
} // namespace

PlanNames::PlanNames(const Task &task, const ShapeCase &shapes, const LaunchLimits &limits)
{
    for (std::size_t i = 0; i < task.inputs.size(); ++i)
        addTensor(task.inputs[i].name, shapes.inputs[i], {BoundParameter::Kind::Input, i});
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
        addTensor(task.outputs[i].name, shapes.outputs[i], {BoundParameter::Kind::Output, i});
        outputs_.push_back(task.outputs[i].name);
    }
    const std::pair<const char *, std::int64_t> device[] = {
        {"sm_count", limits.smCount},
        {"max_threads_per_block", limits.maxThreadsPerBlock},
        {"warp_size", limits.warpSize},
        {"max_shared_bytes", limits.maxSharedBytes},
        {"max_cluster_blocks", limits.maxClusterBlocks}};
    for (const auto &[name, value] : device) {
        numbers_[name] = static_cast<double>(value);
        described_.emplace_back(name);
    }
}

void PlanNames::addTensor(const std::string &name, const TensorType &type, Buffer buffer)
{
    buffers_[name] = buffer;
    numbers_[name + "_numel"] = static_cast<double>(type.elementCount());
    described_.push_back(name + "_numel");
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
        numbers_[name + "_size" + std::to_string(d)] = static_cast<double>(type.sizes[d]);
        numbers_[name + "_stride" + std::to_string(d)] = static_cast<double>(type.strides[d]);
    }
    if (type.sizes.empty()) return;
    described_.push_back(numbered(name + "_size", type.sizes.size()));
    described_.push_back(numbered(name + "_stride", type.sizes.size()));
}

Result<void> PlanNames::checkNew(const std::string &name, PlanPosition position) const
{
    if (numbers_.contains(name) || buffers_.contains(name))
        return failAt(position, "expected a new name, but " + quoteText(name) +
                                    " is one of the task's or the device's");
    return {};
}

Result<void> PlanNames::define(const std::string &name, double value, PlanPosition position)
{
    if (auto checked = checkNew(name, position); !checked) return checked;
    numbers_[name] = value;
    described_.insert(described_.begin(), name);
    return {};
}

Result<void> PlanNames::defineTunable(const Tunable &tunable, std::int64_t value)
{
    tunables_.insert(tunable.name);
    return define(tunable.name, static_cast<double>(value), tunable.position);
}

Result<void> PlanNames::defineWorkspace(const std::string &name, PlanPosition position)
{
    if (auto checked = checkNew(name, position); !checked) return checked;
    buffers_[name] = {BoundParameter::Kind::Workspace, workspaces_++};
    return {};
}

Result<void> PlanNames::defineTensorMap(const std::string &name, PlanPosition position)
{
    if (auto checked = checkNew(name, position); !checked) return checked;
    buffers_[name] = {BoundParameter::Kind::TensorMap, tensorMaps_++};
    return {};
}

Result<double> PlanNames::evaluate(const PlanExpression &expression) const
{
    return evaluateExpression(
        expression, [this](const std::string &name) { return number(name); },
        [this] { return numbersThereAre(); });
}

std::optional<double> PlanNames::number(const std::string &name) const
{
    const auto it = numbers_.find(name);
    return it == numbers_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<PlanNames::Buffer> PlanNames::buffer(const std::string &name) const
{
    const auto it = buffers_.find(name);
    return it == buffers_.end() ? std::nullopt : std::optional(it->second);
}

std::string PlanNames::numbersThereAre() const
{
    return shortList(described_);
}

std::string PlanNames::buffersThereAre() const
{
    std::vector<std::string> names;
    for (const auto &[name, buffer] : buffers_)
        if (buffer.kind != BoundParameter::Kind::TensorMap) names.push_back(name);
    return shortList(names);
}

} // namespace kernelwright
