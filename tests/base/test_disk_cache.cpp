// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/disk_cache.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace kernelwright;

class TestDiskCache : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        qputenv("XDG_CACHE_HOME", folder_->path().toUtf8());
    }

    void whatIsKeptIsFoundUnderItsKeyAlone()
    {
        DiskCache("things").keep("a GPU; driver 1", {{"rate", 5.5}});
        const auto found = DiskCache("things").find("a GPU; driver 1");
        QVERIFY(found);
        QCOMPARE(found->at("rate").get<double>(), 5.5);
        QVERIFY(!DiskCache("things").find("a GPU; driver 2"));
        QVERIFY(!DiskCache("others").find("a GPU; driver 1"));
    }

    void aNewValueReplacesTheOld()
    {
        const DiskCache cache("things");
        cache.keep("key", 1);
        cache.keep("key", 2);
        QCOMPARE(cache.find("key")->get<int>(), 2);
        QCOMPARE(files().size(), 1); // and no unfinished file is left
    }

    void aDamagedFileIsNotThere()
    {
        const DiskCache cache("things");
        cache.keep("key", 1);
        const std::string path =
            QDir(folder_->filePath("kernelwright/things")).filePath(files().front()).toStdString();
        for (const char *damage : {"", "{", "[]", "5", "{\"key\": \"another\", \"value\": 1}",
                                   "{\"key\": \"key\"}", "\xff\xfe{}"}) {
            std::ofstream(path) << damage;
            QVERIFY2(!cache.find("key"), damage);
        }
        cache.keep("key", 3);
        QCOMPARE(cache.find("key")->get<int>(), 3);
    }

    void aPlaceThatCannotBeWrittenCostsNothingElse()
    {
        QFile blocking(folder_->filePath("kernelwright"));
        QVERIFY(blocking.open(QIODevice::WriteOnly)); // a file where the folder should be
        const DiskCache cache("things");
        cache.keep("key", 1);
        QVERIFY(!cache.find("key"));
    }

private:
    QStringList files() const
    {
        return QDir(folder_->filePath("kernelwright/things")).entryList(QDir::Files);
    }
    std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_APPLESS_MAIN(TestDiskCache)
#include "test_disk_cache.moc"
