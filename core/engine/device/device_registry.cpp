// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda/cuda_device.h"
#include "device.h"
#include "simt/simt_device.h"

#include <charconv>

namespace kernelwright
{

std::vector<DeviceInfo> listDevices()
{
    std::vector<DeviceInfo> devices = listCudaDevices();
    for (DeviceInfo &simulated : listSimtDevices())
        devices.push_back(std::move(simulated));
    return devices;
}

Result<std::unique_ptr<Device>> openDevice(const std::string &id)
{
    if (id.empty()) return listCudaDevices().empty() ? openSimtDevice("h200") : openCudaDevice(0);
    if (id == "simt") return openSimtDevice("h200");
    if (id.starts_with("simt:")) return openSimtDevice(id.substr(5));
    if (id.starts_with("cuda:")) {
        int index = -1;
        const char *last = id.data() + id.size();
        const auto [end, error] = std::from_chars(id.data() + 5, last, index);
        if (error == std::errc() && end == last && index >= 0) return openCudaDevice(index);
    }
    return fail(ErrorCode::BadInput,
                "there is no device '" + id +
                    "': expected cuda:N (a GPU), simt, or simt:NAME (a simulated GPU, as 'simt:rtx4090')");
}

} // namespace kernelwright
