// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidate.h"

namespace kernelwright
{

void to_json(Json &json, const Candidate &candidate)
{
    json = Json{{"id", candidate.id},
                {"task", candidate.taskId},
                {"parent", candidate.parent},
                {"iteration", candidate.iteration},
                {"author", candidate.author},
                {"summary", candidate.summary},
                {"instruction", candidate.instruction},
                {"reasoning", candidate.reasoning},
                {"source", candidate.source},
                {"evaluation", candidate.evaluation ? Json(*candidate.evaluation) : Json()},
                {"accepted", candidate.accepted},
                {"pinned", candidate.pinned},
                {"name", candidate.name},
                {"note", candidate.note},
                {"created_ms", candidate.createdMs}};
}

void from_json(const Json &json, Candidate &candidate)
{
    candidate = Candidate();
    json.at("id").get_to(candidate.id);
    json.at("task").get_to(candidate.taskId);
    json.at("source").get_to(candidate.source);
    readOptional(json, "parent", candidate.parent);
    readOptional(json, "iteration", candidate.iteration);
    readOptional(json, "author", candidate.author);
    readOptional(json, "summary", candidate.summary);
    readOptional(json, "instruction", candidate.instruction);
    readOptional(json, "reasoning", candidate.reasoning);
    if (const auto it = json.find("evaluation"); it != json.end() && !it->is_null())
        candidate.evaluation = it->get<Evaluation>();
    readOptional(json, "accepted", candidate.accepted);
    readOptional(json, "pinned", candidate.pinned);
    readOptional(json, "name", candidate.name);
    readOptional(json, "note", candidate.note);
    readOptional(json, "created_ms", candidate.createdMs);
}

} // namespace kernelwright
