// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace kernelwright::ui
{

/// A bundled model.
struct Sample
{
    QString path; ///< absolute
    QString title;
    QString teaches;
};

/// The samples that samples.json of a folder lists and that exist; empty where there is none or it cannot be
/// read.
std::vector<Sample> readSamples(const QString &folder);

} // namespace kernelwright::ui
