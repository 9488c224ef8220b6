// SPDX-License-Identifier: GPL-3.0-or-later
// The GPUs that the simulator can stand for, read from resources/gpus/*.json.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kernel/device_info.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelwright::simt
{

struct GpuModel
{
    std::string id;   ///< "h200": the file's name
    std::string name; ///< "NVIDIA H200"
    std::string computeCapability, architecture;
    std::int64_t memoryBytes = 0;
    int smCount = 1;
    double clockGhz = 1; ///< under load
    int warpsPerSm = 64, blocksPerSm = 32, schedulersPerSm = 4;
    std::int64_t registersPerSm = 65536, sharedBytesPerSm = 0, maximumSharedBytesPerBlock = 0,
                 l1BytesPerSm = 0;
    std::int64_t l2Bytes = 0;
    double l2BytesPerSecond = 0;
    double dramLatencyNs = 400, l2LatencyNs = 150;
    /// Results of one SM per clock, by class: "float32", "float64", "half2", "integer", "special",
    /// "conversion".
    std::map<std::string, double> lanesPerClock;
    DeviceCeilings ceilings;
};

void from_json(const Json &json, GpuModel &model);

/// The model of that name; BadInput lists the names there are.
Result<GpuModel> loadGpuModel(const std::string &id);

/// All that can be read, by id; "h200" first.
std::vector<GpuModel> loadGpuModels();

DeviceInfo deviceInfoOf(const GpuModel &model);

} // namespace kernelwright::simt
