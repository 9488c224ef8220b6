// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_backend.h"

#include "search_observer.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

namespace kernelwright::ui
{

SearchBackend::SearchBackend(Settings settings, QObject *parent)
    : Backend(parent)
    , settings_(std::move(settings))
    , workspace_(std::make_unique<Workspace>(settings_.engine))
    , choice_(settings_.agent)
{
    postbox_.setTextReceiver([this](int channel, const QString &text) {
        if (channel == reasoningChannel)
            emit reasoned(text);
        else
            emit wrote(text);
    });
    workspace_->engine().setOnLogLine(
        [this](const QString &line) { postbox_.post([this, line] { emit engineLine(line); }); });
}

SearchBackend::~SearchBackend()
{
    stop();
    engine_.finish();
    writer_.finish();
    // The engine's last words come from its own thread: they must find the postbox alive.
    workspace_.reset();
}

QString SearchBackend::agentName() const
{
    return QString::fromStdString(choice_.model.empty() ? choice_.name : choice_.model);
}

void SearchBackend::note(const std::string &text, double fraction)
{
    postbox_.post([this, text, fraction] { emit progressed(QString::fromStdString(text), fraction); });
}

void SearchBackend::setJob(Job job)
{
    postbox_.post([this, job] {
        job_ = job;
        emit jobChanged();
    });
}

void SearchBackend::runJob(Job job, const std::string &text,
                           const std::function<Result<void>(const CancelToken &)> &work)
{
    const Job before = running_;
    const std::string textBefore = runningText_;
    running_ = job;
    runningText_ = text;
    setJob(job);
    note(text);
    const auto done = work(jobCancel_);
    if (!done && done.error().code != ErrorCode::Cancelled && !jobCancel_.isCancelled())
        postbox_.post([this, job, error = done.error()] { emit failed(job, error); });
    running_ = before;
    runningText_ = textBefore;
    setJob(before);
    note(textBefore, before == Job::None ? 0 : -1);
}

void SearchBackend::enqueue(Job job, const std::string &text,
                            std::function<Result<void>(const CancelToken &)> work, bool duringSearch)
{
    auto run = [this, job, text, work = std::move(work), cancel = cancel_] {
        if (cancel.isCancelled()) return;
        const CancelToken around = std::exchange(jobCancel_, cancel);
        runJob(job, text, work);
        jobCancel_ = around;
    };
    if (duringSearch)
        engine_.postInterlude(std::move(run));
    else
        engine_.post(std::move(run));
}

void SearchBackend::openModel(const QString &path, const QString &device)
{
    stop();
    enqueue(Job::Opening, "Starting the engine",
            [this, path, device](const CancelToken &cancel) -> Result<void> {
                SessionModel model{path.toStdString(), {}, device.toStdString()};
                if (const auto loaded = loadModel(model); !loaded) return forward(loaded.error());
                if (const auto opened = openDevice(model.device); !opened) return forward(opened.error());
                model.device = workspace_->device().id;
                if (const auto started = startSession(path, model); !started) return forward(started.error());
                return profile(cancel);
            });
}

void SearchBackend::openSession(const QString &path)
{
    stop();
    enqueue(Job::Opening, "Reading the session", [this, path](const CancelToken &cancel) -> Result<void> {
        {
            const std::lock_guard lock(mutex_);
            session_.reset(); // the same file may be asked for again
        }
        auto session = Session::open(path);
        if (!session) return forward(session.error());
        {
            const std::lock_guard lock(mutex_);
            session_ = std::move(*session);
        }
        const auto content = readSession();
        if (!content) return forward(content.error());
        postbox_.post([this, content = *content] { emit sessionOpened(content); });
        if (content->model.path.empty())
            return fail(ErrorCode::BadInput,
                        "the session '" + path.toStdString() + "' names no model yet; open a model");
        note("Opening the model");
        if (const auto loaded = loadModel(content->model); !loaded) return forward(loaded.error());
        if (const auto opened = openDevice(content->model.device); !opened) {
            // What was measured elsewhere can still be read, and the work can go on here.
            postbox_.post([this, error = opened.error()] { emit failed(Job::Opening, error); });
            if (const auto other = openDevice({}); !other) return forward(other.error());
        }
        if (content->profile && content->profile->device.starts_with(workspace_->device().id)) return {};
        return profile(cancel);
    });
}

void SearchBackend::useDevice(const QString &device)
{
    enqueue(Job::Opening, "Opening the device", [this, device](const CancelToken &cancel) -> Result<void> {
        if (const auto opened = openDevice(device.toStdString()); !opened) return forward(opened.error());
        return session_ ? profile(cancel) : Result<void>{};
    });
}

Result<void> SearchBackend::openDevice(const std::string &device)
{
    note("Opening the device");
    if (devices_.empty()) {
        auto found = workspace_->devices();
        if (!found) return forward(found.error());
        devices_ = std::move(*found);
        postbox_.post([this, devices = devices_] { emit devicesFound(devices); });
    }
    const auto opened = workspace_->openDevice(device);
    if (!opened) return forward(opened.error());
    postbox_.post([this, info = *opened] { emit deviceOpened(info); });
    return {};
}

Result<void> SearchBackend::loadModel(const SessionModel &model)
{
    const auto summary = workspace_->openModel(model.path, model.inputs);
    if (!summary) return forward(summary.error());
    postbox_.post([this, summary = *summary] { emit modelOpened(summary); });
    return {};
}

Result<void> SearchBackend::profile(const CancelToken &cancel)
{
    note("Timing each operator");
    const auto profile = workspace_->profile(cancel);
    if (!profile) return forward(profile.error());
    if (session_)
        if (const auto stored = session_->setProfile(*profile); !stored) return forward(stored.error());
    postbox_.post([this, profile = *profile] { emit profiled(profile); });
    return {};
}

Result<void> SearchBackend::startSession(const QString &modelPath, const SessionModel &model)
{
    const QDir folder(settings_.sessionFolder);
    if (!folder.mkpath(QStringLiteral(".")))
        return fail(ErrorCode::Io, "the folder for sessions '" + settings_.sessionFolder.toStdString() +
                                       "' cannot be made: check that it may be written to");
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd-HHmmss"));
    const QString base = QFileInfo(modelPath).completeBaseName() + QLatin1Char('-') + stamp;
    QString path = folder.filePath(base + QStringLiteral(".session"));
    for (int number = 2; QFileInfo::exists(path); ++number)
        path = folder.filePath(QStringLiteral("%1-%2.session").arg(base).arg(number));
    auto session = Session::open(path);
    if (!session) return forward(session.error());
    {
        const std::lock_guard lock(mutex_);
        session_ = std::move(*session);
    }
    if (const auto stored = session_->setModel(model); !stored) return forward(stored.error());
    SessionContent content;
    content.path = session_->path();
    content.model = model;
    postbox_.post([this, content] { emit sessionOpened(content); });
    return {};
}

Result<SessionContent> SearchBackend::readSession() const
{
    SessionContent content;
    content.path = session_->path();
    const auto take = [](auto result, auto &into) -> Result<void> {
        if (!result) return forward(result.error());
        into = std::move(*result);
        return {};
    };
    std::optional<SessionModel> model;
    for (const Result<void> &step :
         {take(session_->model(), model), take(session_->profile(), content.profile),
          take(session_->tasks(), content.tasks), take(session_->candidates(), content.candidates),
          take(session_->events(), content.events), take(session_->wholeModelReport(), content.report)})
        if (!step) return forward(step.error());
    content.model = model.value_or(SessionModel{});
    return content;
}

} // namespace kernelwright::ui
