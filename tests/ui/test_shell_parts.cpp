// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/action_registry.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/postbox.h"
#include "ui/shell/work_thread.h"
#include "ui/theme/theme.h"

#include <QLineEdit>
#include <QMainWindow>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <thread>

using namespace kernelwright::ui;

class TestShellParts : public QObject
{
    Q_OBJECT

private slots:
    void lettersComeInOrderAndTextIsJoined();
    void aCharacterCutInTwoArrivesWhole();
    void lettersNotDeliveredAreDroppedWithThePostbox();
    void jobsRunOneAfterAnother();
    void aRunningJobLetsInterludesInAndHolds();
    void endingDropsWhatWaits();
    void paletteFindsCommandsByLetters_data();
    void paletteFindsCommandsByLetters();
    void paletteRunsTheChosenCommand();
    void shortcutsAreRememberedAndConflictsRefused();
    void anErrorIsNotPushedAsideByInformation();
};

void TestShellParts::lettersComeInOrderAndTextIsJoined()
{
    Postbox postbox;
    QStringList received;
    postbox.setTextReceiver([&](int channel, const QString &text) {
        received << QStringLiteral("%1:%2").arg(channel).arg(text);
    });
    std::thread sender([&] {
        postbox.postText(0, "a");
        postbox.postText(0, "b");
        postbox.post([&] { received << QStringLiteral("letter"); });
        postbox.postText(1, "c");
        postbox.postText(0, "d");
    });
    sender.join();
    QTRY_COMPARE(received, QStringList({"0:ab", "letter", "1:c", "0:d"}));
}

void TestShellParts::aCharacterCutInTwoArrivesWhole()
{
    Postbox postbox;
    QString received;
    postbox.setTextReceiver([&](int, const QString &text) { received += text; });
    const std::string text = "12 µs × 3 – ½";
    int sent = 0;
    for (const char byte : text) {
        postbox.postText(0, {&byte, 1});
        if (++sent % 2 == 0) QTest::qWait(35);
    }
    QTRY_COMPARE(received, QString::fromStdString(text));
}

void TestShellParts::lettersNotDeliveredAreDroppedWithThePostbox()
{
    bool delivered = false;
    {
        Postbox postbox;
        postbox.post([&] { delivered = true; });
    }
    QTest::qWait(60);
    QVERIFY(!delivered);
}

void TestShellParts::jobsRunOneAfterAnother()
{
    std::vector<int> order;
    std::atomic<int> done = 0;
    WorkThread thread;
    for (int i = 0; i < 20; ++i)
        thread.post([&, i] {
            order.push_back(i);
            ++done;
        });
    QTRY_COMPARE(done.load(), 20);
    QVERIFY(std::is_sorted(order.begin(), order.end()));
}

void TestShellParts::aRunningJobLetsInterludesInAndHolds()
{
    WorkThread thread;
    std::atomic<bool> hold = true;
    std::atomic<int> interludes = 0;
    std::atomic<bool> jobDone = false;
    std::atomic<bool> nested = false;
    thread.post([&] {
        thread.safePoint([&] { return hold.load(); });
        jobDone = true;
    });
    thread.postInterlude([&] {
        thread.safePoint([&] {
            nested = true; // must not be asked inside an interlude
            return false;
        });
        ++interludes;
    });
    QTRY_COMPARE(interludes.load(), 1);
    QVERIFY(!jobDone);
    thread.postInterlude([&] { ++interludes; });
    QTRY_COMPARE(interludes.load(), 2);
    QVERIFY(!jobDone);
    hold = false;
    thread.wake();
    QTRY_VERIFY(jobDone.load());
    QVERIFY(!nested);
}

void TestShellParts::endingDropsWhatWaits()
{
    std::atomic<bool> started = false;
    std::atomic<bool> release = false;
    bool second = false;
    {
        WorkThread thread;
        thread.post([&] {
            started = true;
            while (!release)
                std::this_thread::yield();
        });
        thread.post([&] { second = true; });
        QTRY_VERIFY(started.load());
        std::thread opener([&] { release = true; });
        opener.join();
        thread.finish();
        // Either the job that waited was dropped, or it had begun before the end was asked for.
        thread.post([&] { second = true; });
        const bool before = second;
        QTest::qWait(10);
        QCOMPARE(second, before);
    }
}

void TestShellParts::paletteFindsCommandsByLetters_data()
{
    QTest::addColumn<QString>("wanted");
    QTest::addColumn<bool>("found");
    QTest::newRow("nothing typed") << QString() << true;
    QTest::newRow("a word") << QStringLiteral("optimise") << true;
    QTest::newRow("some letters") << QStringLiteral("s opt") << true;
    QTest::newRow("other order") << QStringLiteral("esimitpo") << false;
    QTest::newRow("a letter too many") << QStringLiteral("optimisee") << false;
}

void TestShellParts::paletteFindsCommandsByLetters()
{
    QFETCH(QString, wanted);
    QTEST(matchesLoosely(QStringLiteral("Search: Optimise"), wanted), "found");
}

void TestShellParts::paletteRunsTheChosenCommand()
{
    ThemeController themes;
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    QMainWindow window;
    window.resize(800, 600);
    window.show();
    ActionRegistry registry(themes, settings, &window);
    QStringList ran;
    registry.add("a.open", "File", "Open", {}, {}, [&] { ran << "open"; });
    registry.add("b.fit", "View", "Show the whole graph", {}, {}, [&] { ran << "fit"; });
    registry.add("b.off", "View", "Show nothing", {}, {}, [&] { ran << "off"; })->setEnabled(false);
    CommandPalette palette(registry, &window);
    palette.open();
    QCOMPARE(palette.shownCommands(), QStringList({"Open", "Show the whole graph"}));
    QTest::keyClick(palette.input(), Qt::Key_Down);
    QTest::keyClick(palette.input(), Qt::Key_Return);
    QCOMPARE(ran, QStringList{"fit"});
    palette.open();
    QTest::keyClicks(palette.input(), QStringLiteral("ope"));
    QTest::keyClick(palette.input(), Qt::Key_Return);
    QCOMPARE(ran, QStringList({"fit", "open"}));
}

void TestShellParts::shortcutsAreRememberedAndConflictsRefused()
{
    ThemeController themes;
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    const QKeySequence other(Qt::CTRL | Qt::Key_M);
    {
        QMainWindow window;
        ActionRegistry registry(themes, settings, &window);
        registry.add("a", "A", "A", QKeySequence(Qt::Key_F5), {}, [] {});
        QAction *b = registry.add("b", "B", "B", QKeySequence(Qt::Key_F6), {}, [] {});
        QCOMPARE(registry.setShortcut("a", QKeySequence(Qt::Key_F6)), b);
        QCOMPARE(registry.find("a")->shortcut(), QKeySequence(Qt::Key_F5));
        QCOMPARE(registry.setShortcut("a", other), nullptr);
    }
    QMainWindow window;
    ActionRegistry registry(themes, settings, &window);
    QCOMPARE(registry.add("a", "A", "A", QKeySequence(Qt::Key_F5), {}, [] {})->shortcut(), other);
    registry.restoreShortcuts();
    QCOMPARE(registry.find("a")->shortcut(), QKeySequence(Qt::Key_F5));
}

void TestShellParts::anErrorIsNotPushedAsideByInformation()
{
    ThemeController themes;
    QWidget window;
    MessageBar bar(themes, &window);
    window.show();
    bool undone = false;
    bar.show(MessageBar::Level::Error, QStringLiteral("bad"));
    bar.show(MessageBar::Level::Information, QStringLiteral("by the way"));
    QCOMPARE(bar.text(), QStringLiteral("bad"));
    bar.show(MessageBar::Level::Success, QStringLiteral("good"), QStringLiteral("Undo"),
             [&] { undone = true; });
    QCOMPARE(bar.text(), QStringLiteral("good"));
    QTest::mouseClick(bar.actionButton(), Qt::LeftButton);
    QVERIFY(undone);
    QVERIFY(bar.text().isEmpty());
}

QTEST_MAIN(TestShellParts)
#include "test_shell_parts.moc"
