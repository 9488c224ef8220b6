// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared_models.h"

#include <QDir>
#include <QFileInfo>

namespace kernelwright
{

QString sharedModelFolder()
{
    const QString chosen = qEnvironmentVariable("KERNELWRIGHT_SHARED");
    const QString folder =
        chosen.isEmpty() ? qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/../shared" : chosen;
    const QDir models(folder + "/models");
    return models.exists() ? models.absolutePath() : QString();
}

QStringList sharedModels()
{
    QStringList models;
    const QDir folder(sharedModelFolder());
    if (sharedModelFolder().isEmpty()) return models;
    for (const QString &example : folder.entryList({"*.io.pt"}, QDir::Files, QDir::Name)) {
        const QString base = example.chopped(6);
        for (const char *ending : {".pt2", ".pt"})
            if (folder.exists(base + ending)) models.append(base + ending);
    }
    return models;
}

} // namespace kernelwright
