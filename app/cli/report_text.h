// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/whole_model.h"
#include "session/session.h"

#include <string>

namespace kernelwright::cli
{

/// The whole model's error and times, and which kernels stayed in it.
std::string wholeModelText(const WholeModelReport &report);

/// A session as a report in Markdown: model, device, per task every candidate, accepted sources' names, whole
/// model.
Result<std::string> markdownReport(const Session &session);

} // namespace kernelwright::cli
