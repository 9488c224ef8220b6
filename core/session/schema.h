// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "database.h"

namespace kernelwright
{

/// Written into the file's header (PRAGMA application_id): "KWRT". Tells sessions from other programs' SQLite
/// files.
constexpr qint64 sessionApplicationId = 0x4B575254;

/// The schema this program writes (PRAGMA user_version).
int currentSchemaVersion();

/// Makes an empty file a session, brings an older one up to date, and refuses (BadInput) what is no session
/// or of a newer schema; a refused file is left untouched. Then sets write-ahead log, full synchronisation
/// and foreign keys.
Result<void> prepareSchema(Database &database);

} // namespace kernelwright
