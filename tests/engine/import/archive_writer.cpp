// SPDX-License-Identifier: GPL-3.0-or-later
#include "archive_writer.h"

#include <QFile>
#include <zip.h>

namespace kernelwright
{

void writeArchive(const QString &path, const Records &records, bool deflate)
{
    int code = 0;
    zip_t *archive = zip_open(path.toLocal8Bit().constData(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive) qFatal("cannot write '%s'", qPrintable(path));
    for (const auto &[name, bytes] : records) {
        zip_source_t *source =
            zip_source_buffer(archive, bytes.constData(), static_cast<zip_uint64_t>(bytes.size()), 0);
        const zip_int64_t index = zip_file_add(archive, name.toUtf8().constData(), source, ZIP_FL_ENC_UTF_8);
        if (index < 0) qFatal("cannot add '%s'", qPrintable(name));
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                 deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    if (zip_close(archive) != 0) qFatal("cannot close '%s'", qPrintable(path));
}

QByteArray readFile(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read '%s'", qPrintable(path));
    return file.readAll();
}

void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write '%s'", qPrintable(path));
}

namespace pickle
{

namespace
{
QByteArray littleEndian(qint32 value)
{
    return QByteArray(reinterpret_cast<const char *>(&value), sizeof value);
}
} // namespace

QByteArray start()
{
    return QByteArray("\x80\x02", 2);
}
QByteArray text(const QByteArray &utf8)
{
    return "X" + littleEndian(static_cast<qint32>(utf8.size())) + utf8;
}
QByteArray integer(qint32 value)
{
    return "J" + littleEndian(value);
}
QByteArray global(const QByteArray &module, const QByteArray &name)
{
    return "c" + module + "\n" + name + "\n";
}
QByteArray tuple(const QByteArray &items)
{
    return "(" + items + "t";
}
QByteArray dict(const QByteArray &keysAndValues)
{
    return "}(" + keysAndValues + "u";
}
QByteArray stop()
{
    return ".";
}

QByteArray tensor(const QByteArray &storageType, const QByteArray &key, const std::vector<qint32> &sizes)
{
    qint32 count = 1;
    QByteArray sizeItems;
    QByteArray strideItems;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strideItems.prepend(integer(count));
        sizeItems.prepend(integer(sizes[i]));
        count *= sizes[i];
    }
    const QByteArray storage =
        tuple(text("storage") + global("torch", storageType) + text(key) + text("cpu") + integer(count)) +
        "Q";
    const QByteArray hooks = global("collections", "OrderedDict") + ")R";
    return global("torch._utils", "_rebuild_tensor_v2") +
           tuple(storage + integer(0) + tuple(sizeItems) + tuple(strideItems) + "\x89" + hooks) + "R";
}

} // namespace pickle

Records savedRecords(const QString &folder, const QByteArray &pickleBytes, const Records &storages)
{
    Records records{{folder + "/data.pkl", pickleBytes}, {folder + "/byteorder", "little"}};
    for (const auto &[key, bytes] : storages)
        records.emplace_back(folder + "/data/" + key, bytes);
    return records;
}

} // namespace kernelwright
