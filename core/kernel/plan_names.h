// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: every name that expressions and kernel parameters may use for one shape case.
#pragma once

#include "launch_plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

class PlanNames
{
public:
    PlanNames(const Task &task, const ShapeCase &shapes, const LaunchLimits &limits);

    /// A let. Fails where the name already means something else.
    Result<void> define(const std::string &name, double value, PlanPosition position);
    Result<void> defineTunable(const Tunable &tunable, std::int64_t value);
    Result<void> defineWorkspace(const std::string &name, PlanPosition position);
    Result<void> defineTensorMap(const std::string &name, PlanPosition position);

    Result<double> evaluate(const PlanExpression &expression) const;
    std::optional<double> number(const std::string &name) const;
    bool isTunable(const std::string &name) const { return tunables_.contains(name); }

    struct Buffer
    {
        BoundParameter::Kind kind = BoundParameter::Kind::Input;
        std::size_t index = 0;
    };
    /// The input, output, workspace or tensor map of this name.
    std::optional<Buffer> buffer(const std::string &name) const;
    const std::vector<std::string> &outputNames() const { return outputs_; }

    std::string numbersThereAre() const; ///< for messages: "x_numel, x_size0 … x_size2, …"
    std::string buffersThereAre() const;

private:
    void addTensor(const std::string &name, const TensorType &type, Buffer buffer);
    Result<void> checkNew(const std::string &name, PlanPosition position) const;

    std::map<std::string, double> numbers_;
    std::map<std::string, Buffer> buffers_;
    std::set<std::string> tunables_;
    std::vector<std::string> outputs_;
    std::vector<std::string> described_; ///< the names in a short form, in the order people look for them
    std::size_t workspaces_ = 0, tensorMaps_ = 0;
};

} // namespace kernelwright
