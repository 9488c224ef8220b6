// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/compiler.h"
#include "engine/device/device.h"
#include "engine/reference/executor.h"
#include "kernel/launch_plan.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernelwright
{

/// An accepted kernel, compiled and loaded, with the places of the model that it is to compute. The device
/// and the graph it was made with must outlive it and its replacements.
class SwappedKernel
{
public:
    /// Fails where a place does not exist in this graph or differs from the first, and where the source does
    /// not compile any more. `modelIsOnHost`: the model's tensors lie in host memory, not on the device.
    static Result<std::shared_ptr<SwappedKernel>> create(const OperatorGraph &graph,
                                                         const AcceptedKernel &kernel, Device &device,
                                                         CompileCache &compiler, bool modelIsOnHost,
                                                         const CancelToken &cancel);

    const AcceptedKernel &accepted() const { return accepted_; }
    std::size_t placeCount() const { return places_.size(); }
    const std::vector<NodeId> &nodesOf(std::size_t place) const { return places_[place].nodes; }

    /// For the executor; keeps this kernel alive.
    static std::vector<Replacement> replacements(const std::shared_ptr<SwappedKernel> &kernel);

    /// The kernel on buffers of its own with the task's captured shapes, as work to be timed; the values in
    /// them are arbitrary small numbers. Valid as long as the kernel.
    Result<TimedWork> timedAlone();

private:
    /// Buffers of one call: all tensors where the model is on the host, else the workspaces alone.
    struct Bound
    {
        ShapeCase shapes;
        ResolvedPlan plan;
        std::vector<std::unique_ptr<DeviceMemory>> inputs, outputs, workspaces;
    };
    struct Place
    {
        std::vector<NodeId> nodes;
        std::vector<ValueId> inputs, outputs;
        std::vector<TensorType> outputTypes;
    };

    SwappedKernel(const AcceptedKernel &accepted, Device &device, bool modelIsOnHost,
                  const CancelToken &cancel)
        : accepted_(accepted)
        , device_(device)
        , modelIsOnHost_(modelIsOnHost)
        , cancel_(cancel)
    {}
    Result<void> findPlaces(const OperatorGraph &graph);
    Result<Place> placeOf(const OperatorGraph &graph, const std::vector<std::string> &names,
                          Task &task) const;
    Result<void> compile(CompileCache &compiler);
    Result<Bound *> bind(std::vector<TensorType> inputs, std::vector<TensorType> outputs, bool withTensors);
    Result<std::vector<DeviceLaunch>> launchesOf(const Bound &bound, std::vector<std::uint64_t> inputs,
                                                 std::vector<std::uint64_t> outputs);
    Result<void> call(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
    Result<void> callFromHost(Bound &bound, std::span<const TensorView> inputs,
                              std::span<const TensorView> outputs);

    AcceptedKernel accepted_;
    Device &device_;
    bool modelIsOnHost_;
    CancelToken cancel_;
    Task task_; ///< of the first place: its names are what the source's parameters are called
    LaunchPlan plan_;
    std::vector<Place> places_;
    std::unique_ptr<DeviceModule> module_;
    std::map<std::string, Bound> bound_; ///< by the types of the call's tensors
};

} // namespace kernelwright
