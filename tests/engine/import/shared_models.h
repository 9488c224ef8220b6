// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace kernelwright
{

/// The folder with the models that are not part of the project, "" where it is absent.
QString sharedModelFolder();

/// The models in it that have a stored example, as paths relative to it ("gpt2_tiny.pt2").
QStringList sharedModels();

} // namespace kernelwright
