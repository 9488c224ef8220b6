// SPDX-License-Identifier: GPL-3.0-or-later
#include "accepted_kernels.h"
#include "base/text.h"

#include <algorithm>
#include <map>

namespace kernelwright
{

namespace
{
bool isNumber(const std::string &text)
{
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "model.layers.12.mlp" → "12"; "" where there is none.
std::string layerNumber(const std::string &modulePath)
{
    const std::vector<std::string> parts = splitText(modulePath, '.');
    const auto number = std::find_if(parts.begin(), parts.end(), isNumber);
    return number == parts.end() ? "" : *number;
}

/// The path itself or below it; leading parts may be left out ("layers.0" for "model.layers.0.mlp").
bool isWithin(const std::string &modulePath, const std::string &layer)
{
    return ("." + modulePath + ".").find("." + layer + ".") != std::string::npos;
}

class LayerChoice
{
public:
    LayerChoice(const OperatorGraph &graph, const std::vector<std::string> &layers)
        : layers_(layers)
        , isFound_(layers.size(), false)
    {
        for (const Node &node : graph.nodes)
            modules_[node.name] = node.modulePath;
    }

    bool holds(const std::vector<std::string> &place)
    {
        if (layers_.empty()) return true;
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (std::all_of(place.begin(), place.end(),
                            [&](const std::string &node) { return fits(node, layers_[i]); }) &&
                std::any_of(place.begin(), place.end(),
                            [&](const std::string &node) { return isIn(node, layers_[i]); })) {
                isFound_[i] = true;
                return true;
            }
        return false;
    }

    /// The first layer that held no place, nullptr if each held one.
    const std::string *unused() const
    {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (!isFound_[i]) return &layers_[i];
        return nullptr;
    }

private:
    bool isIn(const std::string &node, const std::string &layer) const
    {
        const auto module = modules_.find(node);
        if (module == modules_.end()) return false;
        return isNumber(layer) ? layerNumber(module->second) == layer : isWithin(module->second, layer);
    }
    /// Operators outside of all numbered layers (a residual sum in the model itself) go along.
    bool fits(const std::string &node, const std::string &layer) const
    {
        const auto module = modules_.find(node);
        return isIn(node, layer) || (module != modules_.end() && layerNumber(module->second).empty());
    }

    const std::vector<std::string> &layers_;
    std::vector<bool> isFound_;
    std::map<std::string, std::string> modules_; ///< by node name
};

bool isNamed(const AcceptedKernel &kernel, const std::string &task)
{
    return kernel.taskId == task || kernel.taskTitle.find(task) != std::string::npos;
}

std::string titlesOf(const std::vector<AcceptedKernel> &kernels)
{
    std::vector<std::string> titles;
    for (const AcceptedKernel &kernel : kernels)
        titles.push_back("'" + kernel.taskTitle + "' (" + kernel.taskId + ")");
    return joinText(titles, ", ");
}
} // namespace

Result<std::vector<AcceptedKernel>> selectKernels(std::vector<AcceptedKernel> kernels,
                                                  const OperatorGraph &graph,
                                                  const KernelSelection &selection)
{
    for (const std::string &task : selection.tasks)
        if (std::none_of(kernels.begin(), kernels.end(),
                         [&](const AcceptedKernel &kernel) { return isNamed(kernel, task); }))
            return fail(ErrorCode::BadInput, "no accepted kernel is for a task called '" + task +
                                                 "'; there are kernels for " + titlesOf(kernels));
    LayerChoice layers(graph, selection.layers);
    std::vector<AcceptedKernel> chosen;
    for (AcceptedKernel &kernel : kernels) {
        const bool isWanted = selection.tasks.empty() ||
                              std::any_of(selection.tasks.begin(), selection.tasks.end(),
                                          [&](const std::string &task) { return isNamed(kernel, task); });
        if (!isWanted) continue;
        std::vector<std::vector<std::string>> places;
        for (std::vector<std::string> &place : kernel.places)
            if (layers.holds(place)) places.push_back(std::move(place));
        kernel.places = std::move(places);
        if (!kernel.places.empty()) chosen.push_back(std::move(kernel));
    }
    if (const std::string *unused = layers.unused())
        return fail(ErrorCode::BadInput,
                    "no accepted kernel has a place in the layer '" + *unused +
                        "': give a module's path, such as model.layers.0, or the number of a layer");
    return chosen;
}

} // namespace kernelwright
