// SPDX-License-Identifier: GPL-3.0-or-later
// The methods of protocol/messages.h on a model and a device.
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "engine/verify/evaluator.h"
#include "graph/fusion_groups.h"
#include "graph/model_profile.h"
#include "service_loop.h"
#include "service_params.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// What hello tells of this engine: {engine, torch, nvrtc, pid}.
Json engineIdentity(const std::string &engineVersion);

/// One engine's state: at most one open device, one open model, and the tasks that were cut or read. Lives on
/// the loop's worker thread.
class EngineService : public MethodHandler
{
public:
    EngineService() = default;

    MethodResult call(const std::string &method, const Json &params, const MethodContext &context) override;

private:
    using Method = MethodResult (EngineService::*)(Params &params, const MethodContext &context);
    static Method findMethod(const std::string &name);

    MethodResult devices(Params &params, const MethodContext &context);
    MethodResult openDevice(Params &params, const MethodContext &context);
    MethodResult openModel(Params &params, const MethodContext &context);
    MethodResult runModel(Params &params, const MethodContext &context);
    MethodResult profile(Params &params, const MethodContext &context);
    MethodResult cutTask(Params &params, const MethodContext &context);
    MethodResult writeTask(Params &params, const MethodContext &context);
    MethodResult readTask(Params &params, const MethodContext &context);
    MethodResult evaluate(Params &params, const MethodContext &context);
    MethodResult apply(Params &params, const MethodContext &context);

    Result<Device *> requireDevice();
    Result<const ImportedModel *> requireModel(bool withWeights);
    Result<Executor *> requireExecutor();
    Result<Evaluator *> requireEvaluator(const std::string &taskId);

    Result<std::vector<NodeId>> findNodes(const std::vector<std::string> &names) const;
    Result<Task> cutOut(const std::vector<NodeId> &nodes);
    Result<std::vector<HostTensor>> captureInputs(const Task &task, const CancelToken &cancel);
    MethodResult keepTask(Result<PreparedTask> task);

    std::unique_ptr<Device> device_;
    bool isDeviceLost_ = false; ///< a kernel faulted or hung on a GPU: only a new process brings it back
    std::optional<ImportedModel> model_;
    bool hasWeights_ = false;
    std::unique_ptr<Executor> executor_;             ///< of model_, on the CPU; made when first needed
    std::optional<std::vector<FusionGroup>> groups_; ///< of model_, likewise
    std::map<std::string, PreparedTask> tasks_;      ///< by id

    struct UsedEvaluator
    {
        std::unique_ptr<Evaluator> evaluator;
        std::uint64_t lastUse = 0;
    };
    std::shared_ptr<BenchKernels>
        benchKernels_; ///< of device_, where its evaluators need them: gone before it
    std::map<std::string, UsedEvaluator> evaluators_; ///< by task id, on device_: gone before it
    std::uint64_t uses_ = 0;
};

} // namespace kernelwright
