// SPDX-License-Identifier: GPL-3.0-or-later
#include "session_access.h"

#include <QFileInfo>

namespace kernelwright::cli
{

Result<std::unique_ptr<Session>> openExistingSession(const QString &path)
{
    if (!QFileInfo::exists(path))
        return fail(ErrorCode::BadInput, "there is no session '" + path.toStdString() +
                                             "'; 'kernelwright-cli optimize MODEL' makes one");
    if (QFileInfo(path).isFile() && QFileInfo(path).size() == 0)
        return fail(ErrorCode::BadInput, "'" + path.toStdString() + "' is empty, not a Kernelwright session");
    return Session::open(path);
}

Result<SessionModel> modelOf(const Session &session)
{
    const auto model = session.model();
    if (!model) return forward(model.error());
    if (!*model)
        return fail(ErrorCode::BadInput,
                    "'" + session.path().toStdString() + "' names no model: nothing was ever run in it");
    return **model;
}

Result<std::unique_ptr<EngineAccess>> openSessionModel(const Invocation &invocation,
                                                       const SessionModel &model, const QString &device,
                                                       ModelSummary *summary)
{
    auto engine =
        EngineAccess::make(invocation, device.isEmpty() ? QString::fromStdString(model.device) : device);
    if (!engine) return engine;
    if (const auto opened = (*engine)->openDevice(); !opened) return forward(opened.error());
    auto opened = (*engine)->openModel(QString::fromStdString(model.path), model.inputs);
    if (!opened) return forward(opened.error());
    if (summary) *summary = std::move(*opened);
    return engine;
}

} // namespace kernelwright::cli
