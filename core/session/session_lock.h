// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <QLockFile>
#include <QString>

#include <memory>

namespace kernelwright
{

/// Holds "FILE.lock" beside a session file while it is open. A lock whose process has died is taken over.
/// `path` is absolute and free of symbolic links, so that two names of one file meet in one lock.
Result<std::unique_ptr<QLockFile>> lockSession(const QString &path);

} // namespace kernelwright
