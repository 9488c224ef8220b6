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
                                {"status", kernel.status}});
    json = Json{{"max_abs_error", realToJson(report.maxAbsError)},
                {"max_rel_error", realToJson(report.maxRelError)},
                {"eager_max_abs_error", realToJson(report.eagerMaxAbsError)},
                {"allowed_abs_error", realToJson(report.allowedAbsError)},
                {"within_tolerance", report.withinTolerance},
                {"input_sets", report.inputSets},
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
        report.replaced.push_back(std::move(kernel));
    }
}

} // namespace kernelwright
