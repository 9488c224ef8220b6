// SPDX-License-Identifier: GPL-3.0-or-later
// Runs operator graphs with LibTorch's own kernels through the c10 dispatcher. This header and its users know
// nothing of torch; only this folder's sources and import's TorchScript reader do.
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "graph/operator_graph.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kernelwright
{

/// A tensor where the executor's device can reach it: host memory for "cpu", a GPU address for "cuda:N".
struct TensorView
{
    std::uint64_t address = 0; ///< of element 0
    TensorType type;
};

/// A tensor in the memory of the executor's device, and what keeps it there.
struct ResidentTensor
{
    TensorView view;
    std::shared_ptr<const void> owner;
};

/// Computes a task in place of its nodes: reads the inputs, writes all of the outputs (already allocated,
/// contiguous). On a GPU it enqueues on the default stream.
using ReplacementFunction =
    std::function<Result<void>(std::span<const TensorView>, std::span<const TensorView>)>;

struct Replacement
{
    std::vector<NodeId> nodes;           ///< of the executor's graph
    std::vector<ValueId> inputs;         ///< values handed to the function, in order
    std::vector<ValueId> outputs;        ///< values it makes, in order
    std::vector<TensorType> outputTypes; ///< of the captured case
    ReplacementFunction function;
};

struct ExecutorOptions
{
    std::string torchDevice = "cpu"; ///< "cuda:0": weights are copied there once
    bool float64 = false;            ///< every floating tensor is computed in float64 (the judge of errors)
    std::vector<Replacement> replacements;
};

struct RunResult
{
    std::vector<HostTensor> outputs;           ///< in graph order, tensors only, copied to the host
    std::map<ValueId, HostTensor> captured;    ///< the values asked for
    std::map<NodeId, double> nodeMicroseconds; ///< CPU wall time per node, where timing was asked for
};

struct RunRequest
{
    std::vector<HostTensor> inputs; ///< in graph order
    std::set<ValueId> capture;
    bool timeNodes = false;
    CancelToken cancel;
};

class Executor
{
public:
    virtual ~Executor() = default;

    /// Looks up every operator before anything runs; NotSupported names the first that this LibTorch does not
    /// know, with its node and source line.
    static Result<std::unique_ptr<Executor>> create(const OperatorGraph &graph, const WeightMap &weights,
                                                    const ExecutorOptions &options);

    virtual Result<RunResult> run(const RunRequest &request) = 0;

    /// Like run(), on inputs that lie on the executor's device already, and the outputs stay there,
    /// row-major. On a GPU everything is in order with the default stream, and may still be under way on
    /// return. The inputs are not written to, but an output may be a view of one and then keeps its owner.
    virtual Result<std::vector<ResidentTensor>> runResident(const std::vector<ResidentTensor> &inputs,
                                                            const CancelToken &cancel) = 0;

    /// Like prepare(), on such inputs.
    virtual Result<std::function<Result<void>()>>
    prepareResident(const std::vector<ResidentTensor> &inputs) = 0;

    /// Copies the inputs to the device and returns work that runs the whole graph there and drops the
    /// results: for timing. `aroundNode`, where given, is called before (true) and after (false) each node.
    /// The closure must not outlive the executor.
    virtual Result<std::function<Result<void>()>> prepare(const std::vector<HostTensor> &inputs,
                                                          std::function<void(NodeId, bool)> aroundNode) = 0;
};

/// Runs the graph once and returns it with the types of all values as seen in that run (graphs from
/// TorchScript carry few or none); symbols are kept.
Result<OperatorGraph> withObservedTypes(const OperatorGraph &graph, const WeightMap &weights,
                                        const std::vector<HostTensor> &inputs);

std::string torchVersion(); ///< of the library this process runs on
bool torchHasCuda();

} // namespace kernelwright
