// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu_model.h"

#include "base/resources.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kernelwright::simt
{

namespace fs = std::filesystem;

namespace
{

Result<GpuModel> readModel(const fs::path &path)
{
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return fail(ErrorCode::Io, "cannot read '" + path.string() + "'");
    const auto json = parseJson(text.str(), "'" + path.string() + "'");
    if (!json) return forward(json.error());
    auto model = readJson<GpuModel>(*json, "'" + path.string() + "'");
    if (!model) return model;
    model->id = path.stem().string();
    const bool isPlausible = model->smCount > 0 && model->clockGhz > 0 && model->warpsPerSm > 0 &&
                             model->schedulersPerSm > 0 && model->l2BytesPerSecond > 0 &&
                             model->ceilings.dramBytesPerSecond > 0;
    if (!isPlausible)
        return fail(ErrorCode::BadInput, "'" + path.string() + "': counts and rates have to be positive");
    return model;
}

std::vector<fs::path> modelFiles()
{
    std::vector<fs::path> paths;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(resourceDirectory() / "gpus", error))
        if (entry.path().extension() == ".json") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

} // namespace

void from_json(const Json &json, GpuModel &model)
{
    json.at("name").get_to(model.name);
    json.at("compute_capability").get_to(model.computeCapability);
    json.at("architecture").get_to(model.architecture);
    json.at("memory_bytes").get_to(model.memoryBytes);
    json.at("sm_count").get_to(model.smCount);
    json.at("clock_ghz").get_to(model.clockGhz);
    json.at("warps_per_sm").get_to(model.warpsPerSm);
    json.at("blocks_per_sm").get_to(model.blocksPerSm);
    readOptional(json, "schedulers_per_sm", model.schedulersPerSm);
    json.at("registers_per_sm").get_to(model.registersPerSm);
    json.at("shared_bytes_per_sm").get_to(model.sharedBytesPerSm);
    json.at("maximum_shared_bytes_per_block").get_to(model.maximumSharedBytesPerBlock);
    json.at("l1_bytes_per_sm").get_to(model.l1BytesPerSm);
    json.at("l2_bytes").get_to(model.l2Bytes);
    json.at("l2_bytes_per_second").get_to(model.l2BytesPerSecond);
    readOptional(json, "dram_latency_ns", model.dramLatencyNs);
    readOptional(json, "l2_latency_ns", model.l2LatencyNs);
    json.at("lanes_per_clock").get_to(model.lanesPerClock);
    json.at("dram_bytes_per_second").get_to(model.ceilings.dramBytesPerSecond);
    json.at("flops_per_second").get_to(model.ceilings.flopsPerSecond);
    json.at("matrix_flops_per_second").get_to(model.ceilings.matrixFlopsPerSecond);
    json.at("launch_overhead_us").get_to(model.ceilings.launchOverheadUs);
    json.at("source").get_to(model.ceilings.source);
}

Result<GpuModel> loadGpuModel(const std::string &id)
{
    std::vector<std::string> names;
    for (const fs::path &path : modelFiles()) {
        if (path.stem().string() == id) return readModel(path);
        names.push_back(path.stem().string());
    }
    if (names.empty())
        return fail(ErrorCode::Io, "no GPU descriptions were found in '" +
                                       (resourceDirectory() / "gpus").string() +
                                       "': set KERNELWRIGHT_RESOURCES to the folder resources/");
    return fail(ErrorCode::BadInput,
                "the simulator does not know a GPU '" + id + "'; there are " + joinText(names, ", "));
}

std::vector<GpuModel> loadGpuModels()
{
    std::vector<GpuModel> models;
    for (const fs::path &path : modelFiles())
        if (auto model = readModel(path)) models.push_back(std::move(*model));
    std::stable_partition(models.begin(), models.end(),
                          [](const GpuModel &model) { return model.id == "h200"; });
    return models;
}

DeviceInfo deviceInfoOf(const GpuModel &model)
{
    DeviceInfo info;
    info.id = "simt:" + model.id;
    info.name = "SIMT simulator modelling an " + model.name;
    info.isSimulated = true;
    info.computeCapability = model.computeCapability;
    info.architecture = model.architecture;
    info.memoryBytes = model.memoryBytes;
    info.limits.smCount = model.smCount;
    info.limits.maxSharedBytes = model.maximumSharedBytesPerBlock;
    info.limits.hasCooperativeLaunch = true;
    info.ceilings = model.ceilings;
    info.countersAvailable = true;
    return info;
}

} // namespace kernelwright::simt
