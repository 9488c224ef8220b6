// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_info.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
void readExtent(const Json &json, const char *key, std::int64_t (&extent)[3])
{
    const auto it = json.find(key);
    if (it == json.end()) return;
    const auto sizes = it->get<std::vector<std::int64_t>>();
    if (sizes.size() != 3) rejectJson(std::string(key) + " has to hold three numbers");
    std::copy(sizes.begin(), sizes.end(), extent);
}
} // namespace

void to_json(Json &json, const LaunchLimits &limits)
{
    json = Json{{"max_threads_per_block", limits.maxThreadsPerBlock},
                {"max_shared_bytes", limits.maxSharedBytes},
                {"max_grid", limits.maxGrid},
                {"max_block", limits.maxBlock},
                {"max_workspace_bytes", limits.maxWorkspaceBytes},
                {"sm_count", limits.smCount},
                {"warp_size", limits.warpSize},
                {"max_cluster_blocks", limits.maxClusterBlocks},
                {"tensor_maps", limits.hasTensorMaps},
                {"cooperative_launch", limits.hasCooperativeLaunch}};
}

void from_json(const Json &json, LaunchLimits &limits)
{
    limits = LaunchLimits();
    readOptional(json, "max_threads_per_block", limits.maxThreadsPerBlock);
    readOptional(json, "max_shared_bytes", limits.maxSharedBytes);
    readExtent(json, "max_grid", limits.maxGrid);
    readExtent(json, "max_block", limits.maxBlock);
    readOptional(json, "max_workspace_bytes", limits.maxWorkspaceBytes);
    readOptional(json, "sm_count", limits.smCount);
    readOptional(json, "warp_size", limits.warpSize);
    readOptional(json, "max_cluster_blocks", limits.maxClusterBlocks);
    readOptional(json, "tensor_maps", limits.hasTensorMaps);
    readOptional(json, "cooperative_launch", limits.hasCooperativeLaunch);
}

void to_json(Json &json, const DeviceInfo &info)
{
    json = Json{{"id", info.id},
                {"name", info.name},
                {"simulated", info.isSimulated},
                {"compute_capability", info.computeCapability},
                {"architecture", info.architecture},
                {"driver", info.driver},
                {"memory_bytes", info.memoryBytes},
                {"limits", info.limits},
                {"ceilings", info.ceilings},
                {"counters", Json{{"available", info.countersAvailable}, {"reason", info.countersReason}}}};
}

void from_json(const Json &json, DeviceInfo &info)
{
    info = DeviceInfo();
    json.at("id").get_to(info.id);
    json.at("name").get_to(info.name);
    readOptional(json, "simulated", info.isSimulated);
    readOptional(json, "compute_capability", info.computeCapability);
    readOptional(json, "architecture", info.architecture);
    readOptional(json, "driver", info.driver);
    readOptional(json, "memory_bytes", info.memoryBytes);
    readOptional(json, "limits", info.limits);
    readOptional(json, "ceilings", info.ceilings);
    if (const auto counters = json.find("counters"); counters != json.end()) {
        counters->at("available").get_to(info.countersAvailable);
        readOptional(*counters, "reason", info.countersReason);
    }
}

} // namespace kernelwright
