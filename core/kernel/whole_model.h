// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

/// An accepted candidate and the places of the model it goes to.
struct AcceptedKernel
{
    std::string taskId;
    std::string taskTitle;
    std::string source;
    std::map<std::string, std::int64_t> tuning;
    std::vector<std::vector<std::string>> places; ///< node names; the task's own and those of its twins
    double speedup = 0;                           ///< of the kernel alone, as evaluated
    double savedUs = 0;                           ///< baseline minus candidate, per place, as evaluated
};
void to_json(Json &json, const AcceptedKernel &kernel);
void from_json(const Json &json, AcceptedKernel &kernel);

struct ReplacedKernel
{
    std::string taskId;
    std::string taskTitle;
    int places = 0;
    std::string status; ///< "replaced", or why it was taken out again
    /// What it saves over all its places, in µs: as its evaluation promised, and as the model shows with it
    /// alone.
    double savedPredictedUs = 0, savedMeasuredUs = 0;
};

/// How one set of inputs went.
struct InputSetReport
{
    std::string name;                             ///< "the file's own inputs", "random inputs 1"
    double maxAbsError = 0, eagerMaxAbsError = 0; ///< against float64
    double topOneAgreement = -1;                  ///< as WholeModelReport's
};

struct WholeModelReport
{
    double maxAbsError = 0;      ///< against the model run in float64
    double maxRelError = 0;      ///< largest |error| / max(|reference|, 1e-6 · largest |reference|)
    double eagerMaxAbsError = 0; ///< eager's own, for comparison
    double allowedAbsError = 0;
    bool withinTolerance = false;
    int inputSets = 0; ///< how many inputs it was run on
    std::vector<InputSetReport> inputs;
    /// Of the rows of the model's logits, over all inputs, the share whose largest element is where float64
    /// has it, 0…1; −1 where no output is logits. Eager's own beside it: ties are decided by rounding.
    double topOneAgreement = -1, eagerTopOneAgreement = -1;
    /// Medians over the whole model: the sum of its kernels, which the gains are computed from, and the span
    /// from the first kernel's start to the last one's end, which also holds the gaps that this program's
    /// executor leaves between them.
    double baselineUs = 0, optimizedUs = 0;
    double baselineSpanUs = 0, optimizedSpanUs = 0;
    double speedupMeasured = 0, speedupPredicted = 0;
    std::string timeSource; ///< "cupti", "events", "model"
    std::vector<ReplacedKernel> replaced;
};
void to_json(Json &json, const WholeModelReport &report);
void from_json(const Json &json, WholeModelReport &report);

} // namespace kernelwright
