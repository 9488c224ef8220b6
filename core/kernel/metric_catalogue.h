// SPDX-License-Identifier: GPL-3.0-or-later
// What each metric of an evaluation says, in plain words; read from resources/metrics.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelwright
{

struct MetricExplanation
{
    std::string name;  ///< as in Evaluation::metrics
    std::string label; ///< "Achieved occupancy"
    std::string group; ///< "Memory"
    std::string unit;
    int better = 0;      ///< +1: higher is better, -1: lower is better, 0: depends
    std::string says;    ///< one sentence: what the number is
    std::string improve; ///< one sentence: what usually improves it
};

/// In the order in which they are to be shown. A metric that is not in it is shown all the same, without
/// explanation.
class MetricCatalogue
{
public:
    MetricCatalogue() = default;

    /// Reads every .json file of a folder, in the order that their "order" gives. The first file that is not
    /// as it should be is the error.
    static Result<MetricCatalogue> read(const std::filesystem::path &folder);

    const std::vector<MetricExplanation> &all() const { return explanations_; }
    const MetricExplanation *find(const std::string &name) const; ///< nullptr where it is not known

private:
    std::vector<MetricExplanation> explanations_;
};

/// The catalogue of this installation, empty where resources/metrics cannot be read; `problem`, where given,
/// then says why.
MetricCatalogue installedMetricCatalogue(std::string *problem = nullptr);

} // namespace kernelwright
