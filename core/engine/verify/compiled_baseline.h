// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "evaluator.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// What torch.compile makes of a task, as the user's Python measured it.
struct CompiledTimes
{
    std::vector<double> samplesUs, eagerUs;
    std::string torch;  ///< its version
    std::string source; ///< what its clock was
    double compileSeconds = 0;
    double maxDifference = 0; ///< from eager, relative to the largest element of an output
};
void from_json(const Json &json, CompiledTimes &times);

/// Of the script's answer. BadInput where that is not what it should be, NotSupported with the script's own
/// reason.
Result<CompiledTimes> readCompiledTimes(const Json &answer);

/// The Python that torch.compile is to be asked in.
struct PythonChoice
{
    std::string program;
    bool isNamed = false; ///< by KERNELWRIGHT_PYTHON; else it is the active environment's
};
std::optional<PythonChoice> findPython();

/// Has tasks timed under torch.compile by resources/baselines/compile_baseline.py in a child process, once
/// per task and device: answers are kept on disk, failures as long as this object lives. While the child
/// runs, nothing else may use the device. Belongs to one thread.
class CompiledBaseline
{
public:
    struct Request
    {
        const PreparedTask &task;
        const DeviceInfo &device;
        bool warmCache = false;
        bool mayMeasure = false; ///< else only what is kept from before
        CancelToken cancel;
        std::function<void(const std::string &)> onProgress;
    };

    /// NotSupported, with a sentence for the user, where there is no such time.
    Result<CompiledTimes> timesOf(const Request &request);

private:
    Result<CompiledTimes> measure(const Request &request, const PythonChoice &python);

    std::map<std::string, Result<CompiledTimes>> known_; ///< by key
};

} // namespace kernelwright
