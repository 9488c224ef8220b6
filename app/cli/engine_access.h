// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "client/workspace.h"
#include "command.h"

#include <memory>
#include <string>

namespace kernelwright::cli
{

/// What --device says: which engine to start, and which of its devices to open ("" = the best it has).
struct DeviceLocation
{
    EngineCommand engine;
    std::string device;
};

/// Reads "cuda:0", "simt:h200", "ssh://user@host/cuda:0", "slurm", "slurm/cuda:0" or "". Of a remote engine,
/// files are those of its machine.
Result<DeviceLocation> locateDevice(const QString &device);

/// The engine of one command. Ctrl+C ends it, and with it whatever call runs, until a command that can stop
/// more gently takes the signal over.
class EngineAccess
{
public:
    static Result<std::unique_ptr<EngineAccess>> make(const Invocation &invocation, const QString &device);
    ~EngineAccess();
    EngineAccess(const EngineAccess &) = delete;
    EngineAccess &operator=(const EngineAccess &) = delete;

    Workspace &workspace() { return workspace_; }
    Result<DeviceInfo> openDevice();
    /// Opens MODEL with the specs of --input.
    Result<ModelSummary> openModel(const QString &path, const std::vector<std::string> &inputs,
                                   bool weights = true);

private:
    EngineAccess(const Invocation &invocation, DeviceLocation location);

    Interrupt &interrupt_;
    DeviceLocation location_;
    Workspace workspace_;
};

} // namespace kernelwright::cli
