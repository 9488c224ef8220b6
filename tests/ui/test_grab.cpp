// SPDX-License-Identifier: GPL-3.0-or-later
#include "scripted_backend.h"
#include "ui/shell/grab_walk.h"
#include "ui/shell/main_window.h"
#include "ui/shell/workbench.h"
#include "ui/theme/theme.h"

#include <QDir>
#include <QImage>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

class TestGrab : public QObject
{
    Q_OBJECT

private slots:
    void theWalkWritesAPictureOfEachStep();
    void aStepThatDoesNotComeAboutIsNamed();
    void aStepThatTakesTooLongIsNamed();
    void aFolderThatCannotBeMadeIsNamed();

private:
    /// Returns the walk's sentence.
    QString walk(ScriptedBackend &backend, const QString &pictures, int limitMs);
};

QString TestGrab::walk(ScriptedBackend &backend, const QString &pictures, int limitMs)
{
    const QTemporaryDir folder;
    QFile model(folder.filePath(QStringLiteral("small.pt2")));
    if (!model.open(QIODevice::WriteOnly)) return QStringLiteral("no temporary model");
    model.write("PK");
    model.close();
    QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    ThemeController themes;
    MainWindow window(themes, settings);
    Workbench workbench(window, backend);
    themes.setChoice(ThemeChoice::Dark);
    window.resize(1600, 1000);
    window.show();
    GrabWalk grab(window, workbench, backend, {pictures, model.fileName(), limitMs});
    QSignalSpy finished(&grab, &GrabWalk::finished);
    grab.start();
    if (finished.isEmpty() && !finished.wait(120000)) return QStringLiteral("the walk did not end");
    return finished.front().front().toString();
}

void TestGrab::theWalkWritesAPictureOfEachStep()
{
    if (QStandardPaths::findExecutable(QStringLiteral("dot")).isEmpty())
        QSKIP("skipped: Graphviz is not installed");
    const QTemporaryDir scratch;
    // KERNELWRIGHT_PICTURES keeps the pictures for looking at them.
    const QString pictures =
        qEnvironmentVariable("KERNELWRIGHT_PICTURES", scratch.filePath(QStringLiteral("pictures")));
    ScriptedBackend backend;
    QCOMPARE(walk(backend, pictures, 30000), QString());
    const QStringList names = QDir(pictures).entryList({QStringLiteral("*.png")}, QDir::Files, QDir::Name);
    QCOMPARE(names.size(), 12);
    QCOMPARE(names.front(), QStringLiteral("01-welcome.png"));
    for (const QString &name : names)
        QCOMPARE(QImage(pictures + QLatin1Char('/') + name).size(), QSize(1600, 1000));
    for (const char *call :
         {"optimise", "prompt #0: more rows per block", "accept #3", "evaluate edit of #3", "measure"})
        QVERIFY2(backend.calls.contains(QString::fromLatin1(call)), call);
}

void TestGrab::aStepThatDoesNotComeAboutIsNamed()
{
    const QTemporaryDir scratch;
    ScriptedBackend backend;
    backend.failOpening = QStringLiteral("the file is cut off");
    const QString sentence = walk(backend, scratch.filePath(QStringLiteral("pictures")), 500);
    QVERIFY2(sentence.contains(QStringLiteral("the model is open, drawn and timed")), qPrintable(sentence));
    QVERIFY2(sentence.contains(QStringLiteral("the file is cut off")), qPrintable(sentence));
}

void TestGrab::aStepThatTakesTooLongIsNamed()
{
    const QTemporaryDir scratch;
    ScriptedBackend backend;
    backend.pause(); // nothing will be told
    const QString sentence = walk(backend, scratch.filePath(QStringLiteral("pictures")), 1000);
    QVERIFY2(sentence.startsWith(QStringLiteral("Within 1 s it did not come about that")),
             qPrintable(sentence));
}

void TestGrab::aFolderThatCannotBeMadeIsNamed()
{
    ScriptedBackend backend;
    QVERIFY(walk(backend, QStringLiteral("/proc/no/pictures"), 500)
                .contains(QStringLiteral("/proc/no/pictures")));
}

QTEST_MAIN(TestGrab)
#include "test_grab.moc"
