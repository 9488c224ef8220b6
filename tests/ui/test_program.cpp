// SPDX-License-Identifier: GPL-3.0-or-later
// The built program as a person starts it, over the real engine on the simulator.
#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

class TestProgram : public QObject
{
    Q_OBJECT

private slots:
    void badUsageEndsWithTwoAndASentence_data();
    void badUsageEndsWithTwoAndASentence();
    void aFileThatIsNoModelEndsTheWalkWithASentence();
    void theFirstMinuteComesAboutOnASample();

private:
    struct Ended
    {
        int exitCode = -1;
        QString errors;
    };
    static Ended run(const QStringList &arguments, int limitMs);
    static QString folderOfPrograms() { return qEnvironmentVariable("KERNELWRIGHT_BIN"); }
};

TestProgram::Ended TestProgram::run(const QStringList &arguments, int limitMs)
{
    QProcess program;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.insert(QStringLiteral("KERNELWRIGHT_RESOURCES"),
                       qEnvironmentVariable("KERNELWRIGHT_SOURCE") + QStringLiteral("/resources"));
    program.setProcessEnvironment(environment);
    program.start(folderOfPrograms() + QStringLiteral("/kernelwright"), arguments);
    if (!program.waitForFinished(limitMs))
        return {-1, QStringLiteral("it did not end within %1 s").arg(limitMs / 1000)};
    return {program.exitCode(), QString::fromUtf8(program.readAllStandardError())};
}

void TestProgram::badUsageEndsWithTwoAndASentence_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("two files") << QStringList({"a.pt2", "b.pt2"})
                               << QStringLiteral("one file can be opened, not 2");
    QTest::newRow("theme") << QStringList({"--theme", "pink"}) << QStringLiteral("there is no theme");
    QTest::newRow("grab") << QStringList({"--grab", ""}) << QStringLiteral("--grab needs the folder");
}

void TestProgram::badUsageEndsWithTwoAndASentence()
{
    if (!QFileInfo::exists(folderOfPrograms() + QStringLiteral("/kernelwright")))
        QSKIP("skipped: the workbench is not built");
    QFETCH(QStringList, arguments);
    QFETCH(QString, sentence);
    const Ended ended = run(arguments, 30000);
    QCOMPARE(ended.exitCode, 2);
    QVERIFY2(ended.errors.contains(sentence), qPrintable(ended.errors));
}

void TestProgram::aFileThatIsNoModelEndsTheWalkWithASentence()
{
    if (!QFileInfo::exists(folderOfPrograms() + QStringLiteral("/kernelwright")))
        QSKIP("skipped: the workbench is not built");
    const QTemporaryDir folder;
    const Ended ended =
        run({QStringLiteral("--grab"), folder.filePath(QStringLiteral("pictures")),
             QStringLiteral("--step-limit"), QStringLiteral("20"), QStringLiteral("/nonexistent/model.pt2")},
            60000);
    QCOMPARE(ended.exitCode, 1);
    QVERIFY2(ended.errors.contains(QStringLiteral("/nonexistent/model.pt2")), qPrintable(ended.errors));
}

void TestProgram::theFirstMinuteComesAboutOnASample()
{
    for (const char *name : {"/kernelwright", "/kernelwright-engine"})
        if (!QFileInfo::exists(folderOfPrograms() + QLatin1String(name)))
            QSKIP("skipped: the workbench or the engine is not built");
    const QTemporaryDir folder;
    const QString pictures = folder.filePath(QStringLiteral("pictures"));
    const Ended ended =
        run({QStringLiteral("--grab"), pictures, QStringLiteral("--device"), QStringLiteral("simt")}, 280000);
    QVERIFY2(ended.exitCode == 0, qPrintable(ended.errors));
    const QStringList names = QDir(pictures).entryList({QStringLiteral("*.png")}, QDir::Files, QDir::Name);
    QCOMPARE(names.size(), 12);
    for (const QString &name : names)
        QCOMPARE(QImage(pictures + QLatin1Char('/') + name).size(), QSize(1600, 1000));
}

QTEST_GUILESS_MAIN(TestProgram)
#include "test_program.moc"
