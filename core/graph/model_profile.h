// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// Kernels of one name that an operator launched.
struct KernelShare
{
    std::string name;
    int launches = 0;
    double timeUs = 0; ///< of all of them together
};

struct OperatorProfile
{
    std::string name; ///< node
    std::string op;
    int calls = 1;
    double timeUs = 0;
    double share = 0;  ///< of the sum over all operators, 0…1
    double bytes = -1; ///< -1 = no formula for this operator
    double flops = -1;
    double floorUs = -1;
    std::vector<KernelShare> kernels; ///< empty where kernels were not told apart
};

/// A group worth replacing, with what Amdahl's law says it can give.
struct SuggestedTask
{
    std::string title;
    std::string kind;
    std::vector<std::string> nodes;
    std::vector<std::string> ops;                 ///< "aten::mul" …, one per node
    std::vector<std::vector<std::string>> others; ///< twins elsewhere in the model
    double timeUs = 0;                            ///< all twins together
    double floorUs = 0;                           ///< likewise
    double amdahlGain = 1;                        ///< whole-model speed-up if it ran at its floor
    bool playbookCanWrite = false;                ///< filled in by whoever knows the playbook
};

struct ModelProfile
{
    std::string device;
    std::string timeSource; ///< "cupti", "events", "cpu clock", "model"
    double totalUs = 0;
    std::vector<OperatorProfile> operators; ///< in graph order
    std::vector<SuggestedTask> tasks;       ///< best gain first
};

/// What no cost formula covers: its bytes, operations and floor are unknown, and so is what could be gained.
struct UnknownCosts
{
    int operators = 0; ///< nodes
    double timeUs = 0;
    double share = 0;             ///< of the sum over all operators, 0…1
    std::vector<std::string> ops; ///< their operators, each once, those that take longest first
};
UnknownCosts unknownCosts(const ModelProfile &profile);

void to_json(Json &json, const OperatorProfile &profile);
void from_json(const Json &json, OperatorProfile &profile);
void to_json(Json &json, const SuggestedTask &task);
void from_json(const Json &json, SuggestedTask &task);
void to_json(Json &json, const ModelProfile &profile);
void from_json(const Json &json, ModelProfile &profile);

} // namespace kernelwright
