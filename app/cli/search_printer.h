// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "search/optimizer.h"

#include <string>

namespace kernelwright::cli
{

/// Tells a search on standard error as it goes: what is tried and why, the agent's words, each stage, each
/// verdict.
class SearchPrinter : public SearchObserver
{
public:
    void profiled(const ModelProfile &profile) override;
    void taskStarted(const Task &task) override;
    void taskFinished(const Task &task, const std::string &why) override;
    void proposalStarted(const Task &task, CandidateId parent, int iteration) override;
    void reasoning(std::string_view text) override;
    void candidateAdded(const Candidate &candidate) override;
    void stage(CandidateId id, const StageResult &stage) override;
    void candidateEvaluated(const Candidate &candidate) override;
    void candidateAccepted(const Candidate &candidate) override;
    void choice(const std::string &sentence) override;
    void spent(const Usage &usage) override;
    void failed(const Error &error) override;

private:
    void line(const std::string &text); ///< on a line of its own, whatever was written before

    bool midLine_ = false;
    Usage spent_; ///< in this search
};

} // namespace kernelwright::cli
