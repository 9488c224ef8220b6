// SPDX-License-Identifier: GPL-3.0-or-later
#include "metric_catalogue.h"

#include "base/json.h"
#include "base/resources.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace kernelwright
{

namespace
{
namespace fs = std::filesystem;

struct CatalogueFile
{
    double order = 0;
    std::vector<MetricExplanation> metrics;
};

int betterFrom(const std::string &name)
{
    if (name == "higher") return +1;
    if (name == "lower") return -1;
    if (name != "depends") rejectJson("'" + name + "' is not higher, lower or depends");
    return 0;
}

void from_json(const Json &json, CatalogueFile &file)
{
    json.at("order").get_to(file.order);
    const std::string group = json.at("group").get<std::string>();
    for (const Json &entry : json.at("metrics"))
        file.metrics.push_back({entry.at("name").get<std::string>(), entry.at("label").get<std::string>(),
                                group, entry.at("unit").get<std::string>(),
                                betterFrom(entry.at("better").get<std::string>()),
                                entry.at("says").get<std::string>(), entry.at("improve").get<std::string>()});
}

Result<CatalogueFile> readFile(const fs::path &path)
{
    std::ifstream stream(path);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto json = parseJson(text, "'" + path.string() + "'");
    if (!json) return forward(json.error());
    return readJson<CatalogueFile>(*json, "'" + path.string() + "'");
}
} // namespace

Result<MetricCatalogue> MetricCatalogue::read(const fs::path &folder)
{
    std::vector<CatalogueFile> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() != ".json") continue;
        auto file = readFile(it->path());
        if (!file) return forward(file.error());
        files.push_back(std::move(*file));
    }
    if (error)
        return fail(ErrorCode::Io, "the explanations of metrics in '" + folder.string() +
                                       "' cannot be read: " + error.message());
    std::sort(files.begin(), files.end(),
              [](const CatalogueFile &a, const CatalogueFile &b) { return a.order < b.order; });
    MetricCatalogue catalogue;
    for (CatalogueFile &file : files)
        for (MetricExplanation &metric : file.metrics) {
            if (catalogue.find(metric.name))
                return fail(ErrorCode::BadInput,
                            "'" + metric.name + "' is explained twice in '" + folder.string() + "'");
            catalogue.explanations_.push_back(std::move(metric));
        }
    return catalogue;
}

const MetricExplanation *MetricCatalogue::find(const std::string &name) const
{
    const auto found = std::find_if(explanations_.begin(), explanations_.end(),
                                    [&](const MetricExplanation &metric) { return metric.name == name; });
    return found == explanations_.end() ? nullptr : &*found;
}

MetricCatalogue installedMetricCatalogue(std::string *problem)
{
    auto catalogue = MetricCatalogue::read(resourceDirectory() / "metrics");
    if (catalogue) return std::move(*catalogue);
    if (problem) *problem = catalogue.error().message;
    return {};
}

} // namespace kernelwright
