// SPDX-License-Identifier: GPL-3.0-or-later
// Computes a launch plan's expressions for one shape case.
#include "bind_parameters.h"
#include "plan_expression.h"
#include "plan_names.h"
#include "plan_text.h"
#include "resolve_tensor_map.h"

#include <algorithm>
#include <limits>

namespace kernelwright
{

namespace
{
class Resolver
{
public:
    Resolver(const LaunchPlan &plan, const Task &task, const ShapeCase &shapes, const LaunchLimits &limits)
        : plan_(plan)
        , shapes_(shapes)
        , limits_(limits)
        , names_(task, shapes, limits)
    {}

    Result<ResolvedPlan> run(const std::map<std::string, std::int64_t> &tuning)
    {
        if (auto done = chooseTunables(tuning); !done) return tl::unexpected<Error>(done.error());
        if (auto done = computeLets(); !done) return tl::unexpected<Error>(done.error());
        if (auto done = checkRequirements(); !done) return tl::unexpected<Error>(done.error());
        if (auto done = sizeWorkspaces(); !done) return tl::unexpected<Error>(done.error());
        if (auto done = describeTensorMaps(); !done) return tl::unexpected<Error>(done.error());
        for (const PlannedKernel &kernel : plan_.kernels) {
            Result<ResolvedKernel> resolved = resolveKernel(kernel);
            if (!resolved) return tl::unexpected<Error>(resolved.error());
            resolved_.kernels.push_back(std::move(*resolved));
        }
        if (auto done = checkOutputsWritten(plan_, names_); !done) return tl::unexpected<Error>(done.error());
        return std::move(resolved_);
    }

private:
    Result<void> chooseTunables(const std::map<std::string, std::int64_t> &tuning)
    {
        for (const Tunable &tunable : plan_.tunables) {
            std::int64_t value = tunable.values.front();
            if (const auto chosen = tuning.find(tunable.name); chosen != tuning.end()) {
                value = chosen->second;
                if (std::find(tunable.values.begin(), tunable.values.end(), value) == tunable.values.end())
                    return failAt(tunable.position, "expected one of the values listed for " + tunable.name +
                                                        ", but " + std::to_string(value) + " was asked for");
            }
            resolved_.macros[tunable.name] = value;
        }
        for (const auto &[name, value] : tuning)
            if (!resolved_.macros.contains(name))
                return fail(ErrorCode::BadInput,
                            "the launch plan has no tunable " + quoteText(name) + " to set");
        return {};
    }

    /// Lets may use what stands above them: tunables become known as the lines pass.
    Result<void> computeLets()
    {
        auto tunable = plan_.tunables.begin();
        const auto passTunables = [&](int line) -> Result<void> {
            for (; tunable != plan_.tunables.end() && tunable->position.line < line; ++tunable)
                if (auto defined = names_.defineTunable(*tunable, resolved_.macros.at(tunable->name));
                    !defined)
                    return defined;
            return {};
        };
        for (const auto &[name, expression] : plan_.lets) {
            if (auto passed = passTunables(expression.position.line); !passed) return passed;
            const Result<double> value = names_.evaluate(expression);
            if (!value) return tl::unexpected<Error>(value.error());
            if (auto defined = names_.define(name, *value, expression.position); !defined) return defined;
        }
        return passTunables(std::numeric_limits<int>::max());
    }

    Result<std::int64_t> whole(const PlanExpression &expression, std::int64_t least, std::int64_t most,
                               const std::string &what)
    {
        const Result<double> value = names_.evaluate(expression);
        if (!value) return tl::unexpected<Error>(value.error());
        return wholeNumber(*value, least, most, expression, what);
    }

    Result<void> checkRequirements()
    {
        for (const PlanExpression &requirement : plan_.requirements) {
            const Result<double> value = names_.evaluate(requirement);
            if (!value) return tl::unexpected<Error>(value.error());
            if (*value != 0) continue;
            std::string with;
            for (const auto &[name, chosen] : resolved_.macros)
                with += (with.empty() ? " with " : ", ") + name + " = " + std::to_string(chosen);
            return failAt(requirement.position, "expected " + quoteText(requirement.text) +
                                                    " to hold, but it does not" + with + " and these shapes");
        }
        return {};
    }

    Result<void> describeTensorMaps()
    {
        for (const PlannedTensorMap &map : plan_.tensorMaps) {
            if (!limits_.hasTensorMaps)
                return failAt(map.position,
                              "expected no tensor maps, since this device has no unit that moves tensors "
                              "by them (GPUs have it from compute capability 9.0 on)",
                              ErrorCode::NotSupported);
            Result<ResolvedTensorMap> resolved = resolveTensorMap(map, names_, shapes_, resolved_);
            if (!resolved) return tl::unexpected<Error>(resolved.error());
            resolved_.tensorMaps.push_back(std::move(*resolved));
            if (auto defined = names_.defineTensorMap(map.name, map.position); !defined) return defined;
        }
        return {};
    }

    Result<void> sizeWorkspaces()
    {
        std::int64_t left = limits_.maxWorkspaceBytes;
        for (const auto &[name, expression] : plan_.workspaces) {
            const Result<std::int64_t> bytes =
                whole(expression, 0, left, "the bytes of workspace " + quoteText(name));
            if (!bytes) return tl::unexpected<Error>(bytes.error());
            if (auto defined = names_.defineWorkspace(name, expression.position); !defined) return defined;
            resolved_.workspaces.emplace_back(name, *bytes);
            left -= *bytes;
        }
        return {};
    }

    Result<ResolvedKernel> resolveKernel(const PlannedKernel &kernel)
    {
        ResolvedKernel resolved;
        resolved.name = kernel.name;
        static constexpr const char *axes[3] = {"x", "y", "z"};
        for (std::size_t i = 0; i < 3; ++i) {
            const auto grid = whole(kernel.grid[i], 1, limits_.maxGrid[i], std::string("grid ") + axes[i]);
            if (!grid) return tl::unexpected<Error>(grid.error());
            const auto block =
                whole(kernel.block[i], 1, limits_.maxBlock[i], std::string("block ") + axes[i]);
            if (!block) return tl::unexpected<Error>(block.error());
            resolved.grid[i] = static_cast<std::uint32_t>(*grid);
            resolved.block[i] = static_cast<std::uint32_t>(*block);
        }
        const std::int64_t threads = std::int64_t{resolved.block[0]} * std::int64_t{resolved.block[1]} *
                                     std::int64_t{resolved.block[2]};
        if (threads > limits_.maxThreadsPerBlock)
            return failAt(kernel.block[0].position,
                          "expected at most " + std::to_string(limits_.maxThreadsPerBlock) +
                              " threads per block, but kernel " + quoteText(kernel.name) + " has " +
                              std::to_string(threads),
                          ErrorCode::LaunchError);
        if (auto done = resolveCluster(kernel, resolved); !done) return tl::unexpected<Error>(done.error());
        if (kernel.isCooperative && !limits_.hasCooperativeLaunch)
            return failAt(kernel.position,
                          "expected no cooperative, since this device has no cooperative launch",
                          ErrorCode::NotSupported);
        resolved.isCooperative = kernel.isCooperative;
        const auto shared = whole(kernel.shared, 0, limits_.maxSharedBytes, "the bytes of shared memory");
        if (!shared) return tl::unexpected<Error>(shared.error());
        resolved.sharedBytes = static_cast<std::uint32_t>(*shared);
        for (const KernelParameter &parameter : kernel.parameters) {
            Result<BoundParameter> bound = bindParameter(parameter, names_);
            if (!bound) return tl::unexpected<Error>(bound.error());
            resolved.parameters.push_back(std::move(*bound));
        }
        return resolved;
    }

    Result<void> resolveCluster(const PlannedKernel &kernel, ResolvedKernel &resolved)
    {
        if (kernel.cluster[0].text.empty()) return {};
        if (limits_.maxClusterBlocks < 1)
            return failAt(kernel.cluster[0].position,
                          "expected no cluster=, since this device runs no clusters of blocks (GPUs do from "
                          "compute capability 9.0 on)",
                          ErrorCode::NotSupported);
        std::int64_t blocks = 1;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto size =
                whole(kernel.cluster[i], 1, limits_.maxClusterBlocks, "a size of the cluster, in blocks");
            if (!size) return tl::unexpected<Error>(size.error());
            if (resolved.grid[i] % *size != 0)
                return failAt(kernel.cluster[i].position, std::string("expected grid ") + "xyz"[i] +
                                                              " to be a multiple of the cluster's " +
                                                              std::to_string(*size) + ", but it is " +
                                                              std::to_string(resolved.grid[i]));
            resolved.cluster[i] = static_cast<std::uint32_t>(*size);
            blocks *= *size;
        }
        if (blocks > limits_.maxClusterBlocks)
            return failAt(kernel.cluster[0].position,
                          "expected at most " + std::to_string(limits_.maxClusterBlocks) +
                              " blocks in a cluster, but kernel " + quoteText(kernel.name) + " has " +
                              std::to_string(blocks),
                          ErrorCode::LaunchError);
        return {};
    }

    const LaunchPlan &plan_;
    const ShapeCase &shapes_;
    const LaunchLimits &limits_;
    PlanNames names_;
    ResolvedPlan resolved_;
};
} // namespace

Result<ResolvedPlan> resolveLaunchPlan(const LaunchPlan &plan, const Task &task, const ShapeCase &shapes,
                                       const LaunchLimits &limits,
                                       const std::map<std::string, std::int64_t> &tuning)
{
    if (shapes.inputs.size() != task.inputs.size() || shapes.outputs.size() != task.outputs.size())
        return fail(ErrorCode::Internal,
                    "the shape case '" + shapes.name + "' does not have the task's tensors");
    return Resolver(plan, task, shapes, limits).run(tuning);
}

} // namespace kernelwright
