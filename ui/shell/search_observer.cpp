// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_observer.h"

namespace kernelwright::ui
{

PostingObserver::PostingObserver(Backend &backend, Postbox &postbox, std::function<void()> between)
    : backend_(backend)
    , postbox_(postbox)
    , between_(std::move(between))
{}

void PostingObserver::profiled(const ModelProfile &profile)
{
    postbox_.post([&backend = backend_, profile] { emit backend.profiled(profile); });
}

void PostingObserver::taskStarted(const Task &task)
{
    postbox_.post([&backend = backend_, task] { emit backend.taskStarted(task); });
}

void PostingObserver::taskFinished(const Task &task, const std::string &why)
{
    postbox_.post(
        [&backend = backend_, task, why] { emit backend.taskFinished(task, QString::fromStdString(why)); });
}

void PostingObserver::proposalStarted(const Task &task, CandidateId parent, int iteration)
{
    if (between_) between_();
    postbox_.post([&backend = backend_, task, parent, iteration] {
        emit backend.proposalStarted(task, parent, iteration);
    });
}

void PostingObserver::reasoning(std::string_view text)
{
    postbox_.postText(reasoningChannel, text);
}

void PostingObserver::source(std::string_view text)
{
    postbox_.postText(sourceChannel, text);
}

void PostingObserver::candidateAdded(const Candidate &candidate)
{
    postbox_.post([&backend = backend_, candidate] { emit backend.candidateAdded(candidate); });
}

void PostingObserver::stage(CandidateId candidate, const StageResult &stage)
{
    postbox_.post([&backend = backend_, candidate, stage] { emit backend.stageReached(candidate, stage); });
}

void PostingObserver::candidateEvaluated(const Candidate &candidate)
{
    postbox_.post([&backend = backend_, candidate] { emit backend.candidateEvaluated(candidate); });
    if (between_) between_();
}

void PostingObserver::candidateAccepted(const Candidate &candidate)
{
    postbox_.post([&backend = backend_, candidate] { emit backend.candidateChanged(candidate); });
}

void PostingObserver::choice(const std::string &sentence)
{
    postbox_.post([&backend = backend_, sentence] { emit backend.chose(QString::fromStdString(sentence)); });
}

void PostingObserver::spent(const Usage &usage)
{
    postbox_.post([&backend = backend_, usage] { emit backend.spent(usage); });
}

void PostingObserver::failed(const Error &error)
{
    postbox_.post([&backend = backend_, error] { emit backend.failed(Job::Searching, error); });
}

} // namespace kernelwright::ui
