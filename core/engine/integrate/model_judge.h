// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/import/importer.h"
#include "engine/verify/comparison.h"
#include "kernel/whole_model.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// Knows what the whole model's outputs should be on several sets of inputs: the file's own and others like
/// them.
class ModelJudge
{
public:
    /// Runs the model in float64 and as it is, on each set. `graph` and the model must outlive the object.
    static Result<ModelJudge> create(const ImportedModel &model, const OperatorGraph &graph,
                                     const std::string &torchDevice, const CancelToken &cancel);

    /// Runs the graph with these replacements on every set and compares; fills in the error fields of
    /// `report`. nullopt when all outputs are within tolerance, else why not: a wrong element, or that it did
    /// not run.
    std::optional<std::string> check(const std::vector<Replacement> &replacements, WholeModelReport &report,
                                     const CancelToken &cancel) const;

    const std::vector<HostTensor> &firstInputs() const { return sets_.front().inputs; }

private:
    struct Set
    {
        std::string name;
        std::vector<HostTensor> inputs;
        std::vector<ExpectedOutput> expected;
    };
    /// Rows of logits, and how many of them agree with float64 on the largest element.
    struct TopOne
    {
        std::int64_t rows = 0, mine = 0, eager = 0;
    };
    ModelJudge(const ImportedModel &model, const OperatorGraph &graph, std::string torchDevice)
        : model_(&model)
        , graph_(&graph)
        , torchDevice_(std::move(torchDevice))
    {}
    Result<void> addSet(std::string name, std::vector<HostTensor> inputs, Executor &exact, Executor &eager,
                        const CancelToken &cancel);
    std::optional<std::string> compare(const Set &set, const std::vector<HostTensor> &outputs,
                                       WholeModelReport &report, TopOne &topOne) const;

    const ImportedModel *model_;
    const OperatorGraph *graph_;
    std::string torchDevice_;
    std::vector<bool> isLogits_; ///< by output
    std::vector<Set> sets_;
};

} // namespace kernelwright
