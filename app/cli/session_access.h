// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine_access.h"
#include "session/session.h"

#include <memory>

namespace kernelwright::cli
{

/// Opens a session that must be there already.
Result<std::unique_ptr<Session>> openExistingSession(const QString &path);

/// The session's model reference; BadInput where no model was ever stored.
Result<SessionModel> modelOf(const Session &session);

/// The model of a session, opened on the session's device, or on `device` where that is given. What the
/// engine tells of the model goes into `summary` where that is wanted.
Result<std::unique_ptr<EngineAccess>> openSessionModel(const Invocation &invocation,
                                                       const SessionModel &model, const QString &device,
                                                       ModelSummary *summary = nullptr);

} // namespace kernelwright::cli
