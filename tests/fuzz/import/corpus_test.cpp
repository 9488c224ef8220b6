// SPDX-License-Identifier: GPL-3.0-or-later
// Every input of the fuzzing corpus once more, as it is, cut short and with bits flipped: without libFuzzer,
// in every build, so that what was found once stays fixed.
#include "fuzz_targets.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <random>
#include <sys/resource.h>

using namespace kernelwright;

namespace
{

QString corpusFolder()
{
    return qEnvironmentVariable("KERNELWRIGHT_SOURCE", ".") + "/tests/fuzz/import/corpus/";
}

double peakMebibytes()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void runChanged(const FuzzTarget &target, const std::string &bytes)
{
    target.run(bytes);
    constexpr std::size_t cuts = 8;
    for (std::size_t i = 1; i < cuts; ++i)
        target.run(std::string_view(bytes).substr(0, bytes.size() * i / cuts));
    std::mt19937 random(1);
    constexpr int flips = 40;
    for (int i = 0; i < flips && !bytes.empty(); ++i) {
        std::string flipped = bytes;
        for (int count = 0; count <= i % 3; ++count)
            flipped[random() % flipped.size()] ^= static_cast<char>(1U << (random() % 8));
        target.run(flipped);
    }
}

} // namespace

class CorpusTest : public QObject
{
    Q_OBJECT

private slots:
    void noInputCrashesAReader_data()
    {
        QTest::addColumn<QString>("target");
        for (const FuzzTarget &target : fuzzTargets())
            QTest::newRow(target.name) << QString(target.name);
    }

    void noInputCrashesAReader()
    {
        QFETCH(QString, target);
        const QDir folder(corpusFolder() + target);
        const QStringList names = folder.entryList(QDir::Files, QDir::Name);
        QVERIFY2(!names.isEmpty(), qPrintable("no corpus in " + folder.path()));
        const double before = peakMebibytes();
        for (const QString &name : names) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const FuzzTarget &entry : fuzzTargets())
                if (target == entry.name) runChanged(entry, file.readAll().toStdString());
        }
        QVERIFY2(peakMebibytes() - before < 512, "a small file made a reader take half a gigabyte");
    }
};

QTEST_GUILESS_MAIN(CorpusTest)
#include "corpus_test.moc"
