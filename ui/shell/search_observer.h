// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "backend.h"
#include "postbox.h"

#include <functional>

namespace kernelwright::ui
{

enum TextChannel { reasoningChannel, sourceChannel };

/// Posts what a search tells its observer to the backend's signals. Between two steps of the search it runs
/// `between` (where the person's edits are let in and pauses are kept), if there is one.
class PostingObserver : public SearchObserver
{
public:
    PostingObserver(Backend &backend, Postbox &postbox, std::function<void()> between);

    void profiled(const ModelProfile &profile) override;
    void taskStarted(const Task &task) override;
    void taskFinished(const Task &task, const std::string &why) override;
    void proposalStarted(const Task &task, CandidateId parent, int iteration) override;
    void reasoning(std::string_view text) override;
    void source(std::string_view text) override;
    void candidateAdded(const Candidate &candidate) override;
    void stage(CandidateId candidate, const StageResult &stage) override;
    void candidateEvaluated(const Candidate &candidate) override;
    void candidateAccepted(const Candidate &candidate) override;
    void choice(const std::string &sentence) override;
    void spent(const Usage &usage) override;
    void failed(const Error &error) override;

private:
    Backend &backend_;
    Postbox &postbox_;
    std::function<void()> between_;
};

} // namespace kernelwright::ui
