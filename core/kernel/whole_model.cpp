// SPDX-License-Identifier: GPL-3.0-or-later
#include "whole_model.h"

namespace kernelwright
{

namespace
{
/// Errors of a whole model can be infinite or NaN, when a kernel lets such numbers out.
void readReal(const Json &json, const char *key, double &field)
{
    if (const auto it = json.find(key); it != json.end() && !it->is_null()) field = realFromJson(*it);
}

Json shareOrNull(double share)
{
    return share < 0 ? Json() : Json(share);
}

/// −1 where the model has no logits.
void readShare(const Json &json, const char *key, double &share)
{
    if (const auto it = json.find(key); it != json.end() && it->is_number()) share = it->get<double>();
}
} // namespace

void to_json(Json &json, const AcceptedKernel &kernel)
{
    json = Json{{"task", kernel.taskId},     {"title", kernel.taskTitle}, {"source", kernel.source},
                {"tuning", kernel.tuning},   {"places", kernel.places},   {"speedup", kernel.speedup},
                {"saved_us", kernel.savedUs}};
}

void from_json(const Json &json, AcceptedKernel &kernel)
{
    kernel = AcceptedKernel();
    json.at("task").get_to(kernel.taskId);
    json.at("source").get_to(kernel.source);
    json.at("places").get_to(kernel.places);
    readOptional(json, "title", kernel.taskTitle);
    readOptional(json, "tuning", kernel.tuning);
    readOptional(json, "speedup", kernel.speedup);
    readOptional(json, "saved_us", kernel.savedUs);
}

void to_json(Json &json, const WholeModelReport &report)
{
    Json replaced = Json::array();
    for (const ReplacedKernel &kernel : report.replaced)
        replaced.push_back(Json{{"task", kernel.taskId},
                                {"title", kernel.taskTitle},
                                {"places", kernel.places},
                                {"status", kernel.status},
                                {"saved_predicted_us", kernel.savedPredictedUs},
                                {"saved_measured_us", kernel.savedMeasuredUs}});
    Json inputs = Json::array();
    for (const InputSetReport &set : report.inputs)
        inputs.push_back(Json{{"name", set.name},
                              {"max_abs_error", realToJson(set.maxAbsError)},
                              {"eager_max_abs_error", realToJson(set.eagerMaxAbsError)},
                              {"top_1_agreement", shareOrNull(set.topOneAgreement)}});
    json = Json{{"max_abs_error", realToJson(report.maxAbsError)},
                {"max_rel_error", realToJson(report.maxRelError)},
                {"eager_max_abs_error", realToJson(report.eagerMaxAbsError)},
                {"allowed_abs_error", realToJson(report.allowedAbsError)},
                {"within_tolerance", report.withinTolerance},
                {"input_sets", report.inputSets},
                {"inputs", std::move(inputs)},
                {"top_1_agreement", shareOrNull(report.topOneAgreement)},
                {"eager_top_1_agreement", shareOrNull(report.eagerTopOneAgreement)},
                {"baseline_us", report.baselineUs},
                {"optimized_us", report.optimizedUs},
                {"baseline_span_us", report.baselineSpanUs},
                {"optimized_span_us", report.optimizedSpanUs},
                {"speedup_measured", report.speedupMeasured},
                {"speedup_predicted", report.speedupPredicted},
                {"time_source", report.timeSource},
                {"replaced", std::move(replaced)}};
}

void from_json(const Json &json, WholeModelReport &report)
{
    report = WholeModelReport();
    readReal(json, "max_abs_error", report.maxAbsError);
    readReal(json, "max_rel_error", report.maxRelError);
    readReal(json, "eager_max_abs_error", report.eagerMaxAbsError);
    readReal(json, "allowed_abs_error", report.allowedAbsError);
    json.at("within_tolerance").get_to(report.withinTolerance);
    readOptional(json, "input_sets", report.inputSets);
    readShare(json, "top_1_agreement", report.topOneAgreement);
    readShare(json, "eager_top_1_agreement", report.eagerTopOneAgreement);
    for (const Json &entry : json.value("inputs", Json::array())) {
        InputSetReport set;
        readOptional(entry, "name", set.name);
        readReal(entry, "max_abs_error", set.maxAbsError);
        readReal(entry, "eager_max_abs_error", set.eagerMaxAbsError);
        readShare(entry, "top_1_agreement", set.topOneAgreement);
        report.inputs.push_back(std::move(set));
    }
    readOptional(json, "baseline_us", report.baselineUs);
    readOptional(json, "optimized_us", report.optimizedUs);
    readOptional(json, "baseline_span_us", report.baselineSpanUs);
    readOptional(json, "optimized_span_us", report.optimizedSpanUs);
    readOptional(json, "speedup_measured", report.speedupMeasured);
    readOptional(json, "speedup_predicted", report.speedupPredicted);
    readOptional(json, "time_source", report.timeSource);
    for (const Json &entry : json.at("replaced")) {
        ReplacedKernel kernel;
        entry.at("task").get_to(kernel.taskId);
        readOptional(entry, "title", kernel.taskTitle);
        readOptional(entry, "places", kernel.places);
        readOptional(entry, "status", kernel.status);
        readOptional(entry, "saved_predicted_us", kernel.savedPredictedUs);
        readOptional(entry, "saved_measured_us", kernel.savedMeasuredUs);
        report.replaced.push_back(std::move(kernel));
    }
}

} // namespace kernelwright
