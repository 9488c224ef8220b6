// SPDX-License-Identifier: GPL-3.0-or-later
// The backend's longer work: search, edits, prompts, acceptance, the whole model.
#include "search_backend.h"
#include "search_observer.h"

namespace kernelwright::ui
{

namespace
{

tl::unexpected<Error> nothingOpen()
{
    return fail(ErrorCode::BadInput, "no model is open; open one first (Ctrl+O)");
}

} // namespace

void SearchBackend::optimise(const SearchOptions &options)
{
    enqueue(Job::Searching, "Searching",
            [this, options, choice = choice_](const CancelToken &) -> Result<void> {
                if (!session_) return nothingOpen();
                if (const auto ready = prepareAgent(choice); !ready) return forward(ready.error());
                auto control = std::make_shared<SearchControl>();
                {
                    const std::lock_guard lock(mutex_);
                    control_ = control;
                }
                PostingObserver observer(*this, postbox_, [this, control] {
                    engine_.safePoint([&] { return paused_ && !control->cancelToken().isCancelled(); });
                });
                auto outcome = optimize(*workspace_, *session_, *agent_, options, *control, observer);
                {
                    const std::lock_guard lock(mutex_);
                    control_.reset();
                }
                if (!outcome) return forward(outcome.error());
                postbox_.post([this, outcome = *outcome] { emit searchFinished(outcome); });
                return {};
            });
}

Result<void> SearchBackend::prepareAgent(const AgentChoice &choice)
{
    auto agent = makeAgent(choice, {}, usualClientSettings());
    if (!agent) return forward(agent.error());
    agent_ = std::move(*agent);
    return {};
}

void SearchBackend::setAgent(const AgentChoice &choice)
{
    choice_ = choice;
    choice_.wordDelayMs = settings_.agent.wordDelayMs;
}

Result<Task> SearchBackend::taskOf(const std::string &taskId) const
{
    const auto tasks = session_->tasks();
    if (!tasks) return forward(tasks.error());
    for (const Task &task : *tasks)
        if (task.id == taskId) return task;
    return fail(ErrorCode::BadInput, "there is no task to prompt for yet; press Optimise first");
}

void SearchBackend::pause()
{
    paused_ = true;
    emit jobChanged();
}

void SearchBackend::resume()
{
    paused_ = false;
    engine_.wake();
    emit jobChanged();
}

void SearchBackend::stop()
{
    cancel_.cancel();
    // Reading a model cannot be interrupted; the engine is started anew by whoever needs it next.
    if (job_ == Job::Opening) workspace_->engine().kill();
    cancel_ = CancelToken();
    {
        const std::lock_guard lock(mutex_);
        if (control_) control_->stop();
    }
    paused_ = false;
    engine_.wake();
}

void SearchBackend::prompt(const std::string &taskId, CandidateId parent, const QString &words,
                           const std::optional<AgentPrompt> &edited)
{
    {
        const std::lock_guard lock(mutex_);
        if (control_) {
            control_->steer(parent, words.toStdString(), edited);
            return;
        }
    }
    enqueue(Job::Proposing, "Asking the agent",
            [=, this, choice = choice_](const CancelToken &cancel) -> Result<void> {
                if (!session_) return nothingOpen();
                if (const auto ready = prepareAgent(choice); !ready) return forward(ready.error());
                const auto task = taskOf(taskId);
                if (!task) return forward(task.error());
                PostingObserver observer(*this, postbox_, {});
                const auto candidate = proposeOnce(*workspace_, *session_, *agent_, *task, parent,
                                                   words.toStdString(), cancel, observer, edited);
                return candidate ? Result<void>{} : forward(candidate.error());
            });
}

void SearchBackend::preparePrompt(const std::string &taskId, CandidateId parent, const QString &words)
{
    enqueue(
        Job::Proposing, "Putting the prompt together",
        [=, this, choice = choice_](const CancelToken &) -> Result<void> {
            if (!session_) return nothingOpen();
            const auto agent = makeAgent(choice, {}, usualClientSettings());
            if (!agent) return forward(agent.error());
            const auto task = taskOf(taskId);
            if (!task) return forward(task.error());
            const auto prompt =
                promptFor(*workspace_, *session_, **agent, *task, parent, words.toStdString());
            if (!prompt) return forward(prompt.error());
            postbox_.post([=, this, prompt = *prompt] { emit promptPrepared(taskId, parent, prompt); });
            return {};
        },
        true);
}

void SearchBackend::evaluateEdit(const std::string &taskId, CandidateId parent, const QString &source)
{
    enqueue(
        Job::Evaluating, "Evaluating your edit",
        [=, this](const CancelToken &cancel) -> Result<void> {
            if (!session_) return nothingOpen();
            PostingObserver observer(*this, postbox_, {});
            const auto candidate = kernelwright::evaluateEdit(*workspace_, *session_, taskId, parent,
                                                              source.toStdString(), cancel, observer);
            return candidate ? Result<void>{} : forward(candidate.error());
        },
        true);
}

void SearchBackend::changeCandidate(CandidateId candidate,
                                    const std::function<Result<void>(Session &)> &change)
{
    std::shared_ptr<Session> session;
    {
        const std::lock_guard lock(mutex_);
        session = session_;
    }
    if (!session) return;
    writer_.post([this, session, candidate, change] {
        if (const auto changed = change(*session); !changed) {
            postbox_.post([this, error = changed.error()] { emit failed(Job::None, error); });
            return;
        }
        const auto now = session->candidate(candidate);
        if (now && *now) postbox_.post([this, candidate = **now] { emit candidateChanged(candidate); });
    });
}

void SearchBackend::accept(CandidateId candidate)
{
    changeCandidate(candidate, [candidate](Session &session) -> Result<void> {
        if (const auto accepted = session.setAccepted(candidate, true); !accepted)
            return forward(accepted.error());
        SessionEvent event;
        event.kind = "accepted";
        event.candidate = candidate;
        event.text = "Accepted by hand";
        return session.addEvent(event);
    });
}

void SearchBackend::setLabels(CandidateId candidate, const QString &name, const QString &note, bool pinned)
{
    changeCandidate(candidate, [=](Session &session) {
        return session.setLabels(candidate, name.toStdString(), note.toStdString(), pinned);
    });
}

void SearchBackend::measureWholeModel()
{
    enqueue(
        Job::Measuring, "Measuring the whole model",
        [this](const CancelToken &cancel) -> Result<void> {
            if (!session_) return nothingOpen();
            const auto report = applyAccepted(*workspace_, *session_, cancel);
            if (!report) return forward(report.error());
            postbox_.post([this, report = *report] { emit wholeModelMeasured(report); });
            return {};
        },
        true);
}

} // namespace kernelwright::ui
