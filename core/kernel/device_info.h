// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"
#include "graph/cost_model.h"
#include "launch_plan.h"

#include <cstdint>
#include <string>

namespace kernelwright
{

struct DeviceInfo
{
    std::string id;   ///< "cuda:0", "simt:h200"
    std::string name; ///< "NVIDIA H200"; the simulator: "SIMT simulator modelling an NVIDIA H200"
    bool isSimulated = false;
    std::string computeCapability; ///< "9.0"
    std::string architecture;      ///< what NVRTC compiles for: "sm_90"
    std::string driver;            ///< "580.159.04", "" for the simulator
    std::int64_t memoryBytes = 0;
    LaunchLimits limits;
    DeviceCeilings ceilings;
    bool countersAvailable = false;
    std::string countersReason; ///< why not, and what to do about it; "" when available
};
void to_json(Json &json, const DeviceInfo &info);
void from_json(const Json &json, DeviceInfo &info);

} // namespace kernelwright
