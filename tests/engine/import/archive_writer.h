// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the small archives and pickles that the tests read back.
#pragma once

#include <QByteArray>
#include <QString>

#include <utility>
#include <vector>

namespace kernelwright
{

using Records = std::vector<std::pair<QString, QByteArray>>;

/// Writes a zip; records are stored as they are, or deflated.
void writeArchive(const QString &path, const Records &records, bool deflate = false);

QByteArray readFile(const QString &path);
void writeFile(const QString &path, const QByteArray &bytes);

/// Pickle instructions (protocol 2), to be put one behind the other.
namespace pickle
{
QByteArray start();
QByteArray text(const QByteArray &utf8);
QByteArray integer(qint32 value);
QByteArray global(const QByteArray &module, const QByteArray &name);
QByteArray tuple(const QByteArray &items);
QByteArray dict(const QByteArray &keysAndValues);
/// A contiguous tensor whose bytes are the storage `key`; `storageType` as in "FloatStorage".
QByteArray tensor(const QByteArray &storageType, const QByteArray &key, const std::vector<qint32> &sizes);
QByteArray stop();
} // namespace pickle

/// What torch.save writes: one pickle and the storages, by key.
Records savedRecords(const QString &folder, const QByteArray &pickleBytes, const Records &storages);

} // namespace kernelwright
