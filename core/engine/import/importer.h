// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "engine/reference/executor.h"
#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// A user input as the command line gives it: "1x512:int64", "name=8x3x224x224:float16".
struct InputSpec
{
    std::string name; ///< "" = the next input in order
    std::vector<std::int64_t> sizes;
    DType dtype = DType::Unknown; ///< Unknown = as the model says, float32 where it does not say
};
Result<InputSpec> parseInputSpec(const std::string &text);

struct ImportedModel
{
    std::string path;
    std::string format;       ///< "pt2" or "torchscript"
    std::string torchVersion; ///< of the exporter, "" where the file does not say
    OperatorGraph graph;      ///< validated
    WeightMap weights;
    /// One set of inputs: the file's own sample inputs, else made from the specs or the graph's input types
    /// (seeded; integers are drawn below the smallest embedding table they reach, floats from a normal
    /// distribution).
    std::vector<HostTensor> sampleInputs;
    bool inputsAreFromFile = false;
    std::vector<std::string>
        notes; ///< what the importer had to decide ("control flow was recorded for these inputs")
};

struct ImportOptions
{
    std::vector<InputSpec> inputs; ///< override the file's own sample inputs
    /// Real inputs, in order (those of a stored example): they take the place of the file's own.
    std::vector<HostTensor> exampleInputs;
    bool readWeights = true;
};

/// Reads a `.pt2` (torch.export) or TorchScript file. Errors are BadInput (not a model, truncated, a
/// state_dict …) or NotSupported, with file, place and remedy.
Result<ImportedModel> importModel(const std::string &path, const ImportOptions &options);

/// A stored example beside a model: a dict with `args` (tuple of tensors) and `ref` (tensor or tuple of
/// tensors).
struct StoredExample
{
    std::vector<HostTensor> inputs;
    std::vector<HostTensor> outputs;
};
Result<StoredExample> readStoredExample(const std::string &path);

} // namespace kernelwright
