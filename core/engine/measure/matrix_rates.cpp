// SPDX-License-Identifier: GPL-3.0-or-later
#include "matrix_rates.h"

#include "base/disk_cache.h"
#include "engine/reference/executor.h"
#include "engine/reference/matrix_product.h"
#include "statistics.h"

#include <array>

namespace kernelwright
{

namespace
{
struct ProductKind
{
    const char *name;
    DType dtype;
    bool tf32;
    std::int64_t size;
};

/// Large enough to fill any GPU for about a millisecond.
constexpr std::array<ProductKind, 6> kinds{{{"float16", DType::Float16, false, 8192},
                                            {"bfloat16", DType::BFloat16, false, 8192},
                                            {"tf32", DType::Float32, true, 8192},
                                            {"float32", DType::Float32, false, 4096},
                                            {"float64", DType::Float64, false, 4096},
                                            {"int8", DType::Int8, false, 8192}}};

double rateOf(const ProductKind &kind, Device &device)
{
    auto product = prepareMatrixProduct(device.info().id, kind.dtype, kind.tf32, kind.size);
    if (!product) return 0;
    TimingOptions options;
    options.warmUps = 3;
    options.warmUpTime = std::chrono::milliseconds(30);
    options.minimumSamples = 7;
    options.maximumSamples = 20;
    options.budget = std::chrono::milliseconds(80);
    options.coldCache = false;
    const TimedWork work{kind.name, std::move(*product), {}};
    const auto timing = device.timeInterleaved(std::span(&work, 1), options);
    if (!timing || timing->samples.front().empty()) return 0;
    const double us = median(sumsOf(timing->samples.front()));
    const double n = static_cast<double>(kind.size);
    return us > 0 ? 2 * n * n * n / (us * 1e-6) : 0;
}
} // namespace

std::map<std::string, double> measureMatrixRates(Device &device)
{
    const DeviceInfo &info = device.info();
    if (info.isSimulated || !torchHasCuda()) return {};
    const DiskCache cache("matrix-rates");
    const std::string key = info.name + " driver " + info.driver + " LibTorch " + torchVersion();
    if (const auto kept = cache.find(key))
        if (auto rates = readJson<std::map<std::string, double>>(*kept, "the kept matrix rates"))
            return std::move(*rates);
    std::map<std::string, double> rates;
    for (const ProductKind &kind : kinds)
        if (const double rate = rateOf(kind, device); rate > 0) rates[kind.name] = rate;
    if (!rates.empty()) cache.keep(key, rates);
    return rates;
}

} // namespace kernelwright
