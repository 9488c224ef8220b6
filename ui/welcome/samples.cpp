// SPDX-License-Identifier: GPL-3.0-or-later
#include "samples.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace kernelwright::ui
{

std::vector<Sample> readSamples(const QString &folder)
{
    std::vector<Sample> samples;
    const QDir directory(folder);
    QFile file(directory.filePath(QStringLiteral("samples.json")));
    if (folder.isEmpty() || !file.open(QIODevice::ReadOnly)) return samples;
    const QJsonArray entries =
        QJsonDocument::fromJson(file.readAll()).object().value(QStringLiteral("samples")).toArray();
    for (const QJsonValue &entry : entries) {
        const QString name = entry[QStringLiteral("file")].toString();
        const QString path = directory.absoluteFilePath(name);
        if (name.isEmpty() || !QFileInfo(path).isFile()) continue;
        QString title = entry[QStringLiteral("title")].toString();
        if (title.isEmpty()) title = QFileInfo(path).completeBaseName();
        samples.push_back({path, title, entry[QStringLiteral("teaches")].toString()});
    }
    return samples;
}

} // namespace kernelwright::ui
