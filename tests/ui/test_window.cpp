// SPDX-License-Identifier: GPL-3.0-or-later
// Opening and coming back, layout, hints and names of the window, over a scripted backend.
#include "bench.h"

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

class TestWindow : public QObject
{
    Q_OBJECT

private slots:
    void aModelThatCannotBeOpenedIsAnErrorInWords();
    void aMissingFileIsAnErrorInWords();
    void aDroppedFileIsOpened();
    void aSessionComesBackWhole();
    void theLastSessionIsOffered();
    void aQuestionMarkCanBeTyped();
    void layoutIsRestored();
    void theDefaultLayoutComesBack();
    void everyPaneSaysWhatToDoNext();
    void everyControlHasAnAccessibleName();
};

void TestWindow::aModelThatCannotBeOpenedIsAnErrorInWords()
{
    Bench bench;
    bench.backend.failOpening =
        QStringLiteral("'small.pt2' is cut off: its directory is missing; copy it again");
    bench.workbench.openFile(bench.modelPath);
    QTRY_COMPARE(bench.window.messages->level(), MessageBar::Level::Error);
    QCOMPARE(bench.window.messages->text(), bench.backend.failOpening);
    QVERIFY(bench.window.isShowingWelcome());
    QVERIFY(bench.window.log->text().contains(bench.backend.failOpening));
}

void TestWindow::aMissingFileIsAnErrorInWords()
{
    Bench bench;
    bench.workbench.openFile(QStringLiteral("/nonexistent/model.pt2"));
    QCOMPARE(bench.window.messages->level(), MessageBar::Level::Error);
    QVERIFY(bench.window.messages->text().contains(QStringLiteral("/nonexistent/model.pt2")));
    QVERIFY(bench.backend.calls.isEmpty());
}

void TestWindow::aDroppedFileIsOpened()
{
    Bench bench;
    QMimeData files;
    files.setUrls({QUrl::fromLocalFile(bench.modelPath)});
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&bench.window, &enter);
    QVERIFY(enter.isAccepted());
    QApplication::sendEvent(&bench.window, &drop);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("open small.pt2 on ")));
}

void TestWindow::aSessionComesBackWhole()
{
    Bench bench;
    const QString path = bench.folder.filePath(QStringLiteral("yesterday.session"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("SQLite format 3\0", 16);
    file.close();
    bench.workbench.openFile(path);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("open session yesterday.session")));
    QCOMPARE(bench.workbench.candidates().all().size(), 2U);
    QCOMPARE(bench.workbench.selected(), 2); // the accepted one
    QCOMPARE(bench.window.agent->cardCount(), 2);
    QCOMPARE(bench.window.agent->cardOf(1)->reasoning(), QStringLiteral("I would begin simply."));
    QCOMPARE(bench.window.charts->latency()->series().points.size(), 2U);
    QCOMPARE(bench.window.result->headline(), QStringLiteral("Whole model: 1.11× as fast"));
    QVERIFY(bench.window.messages->text().contains(QStringLiteral("2 candidates")));
    QTest::mouseClick(bench.window.messages->actionButton(), Qt::LeftButton);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("optimise")));
}

void TestWindow::theLastSessionIsOffered()
{
    Bench bench;
    bench.workbench.offerLastSession();
    QVERIFY(bench.window.messages->text().isEmpty()); // there was none
    const QString path = bench.folder.filePath(QStringLiteral("last.session"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("SQLite format 3\0", 16);
    file.close();
    bench.settings.setValue(QStringLiteral("lastSession"), path);
    bench.workbench.offerLastSession();
    QVERIFY(bench.window.messages->text().contains(QStringLiteral("last.session")));
    QTest::mouseClick(bench.window.messages->actionButton(), Qt::LeftButton);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("open session last.session")));
}

void TestWindow::aQuestionMarkCanBeTyped()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    PromptBox *prompt = bench.window.agent->prompt();
    prompt->setFocus();
    QTest::keyClick(prompt, Qt::Key_Question, Qt::ShiftModifier);
    QCOMPARE(prompt->toPlainText(), QStringLiteral("?"));
    CudaEditor *editor = bench.window.editor->editor();
    editor->setFocus();
    QTest::keyClick(editor, Qt::Key_Question, Qt::ShiftModifier);
    QVERIFY(editor->source().startsWith(QLatin1Char('?')));
}

void TestWindow::layoutIsRestored()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    ThemeController themes;
    {
        MainWindow window(themes, settings);
        window.show();
        window.showPanes();
        window.dock(QStringLiteral("log"))->hide();
        window.dock(QStringLiteral("agent"))->setFloating(true);
        window.close();
    }
    MainWindow window(themes, settings);
    window.show();
    window.showPanes();
    QVERIFY(window.dock(QStringLiteral("log"))->isHidden());
    QVERIFY(window.dock(QStringLiteral("agent"))->isFloating());
    QVERIFY(!window.dock(QStringLiteral("graph"))->isHidden());
}

void TestWindow::theDefaultLayoutComesBack()
{
    Bench bench;
    bench.open();
    bench.window.dock(QStringLiteral("editor"))->hide();
    bench.window.dock(QStringLiteral("charts"))->setFloating(true);
    bench.window.actions().find(QStringLiteral("view.defaultLayout"))->trigger();
    QVERIFY(!bench.window.dock(QStringLiteral("editor"))->isHidden());
    QVERIFY(!bench.window.dock(QStringLiteral("charts"))->isFloating());
    QVERIFY(bench.window.dock(QStringLiteral("graph"))->width() >
            bench.window.dock(QStringLiteral("agent"))->width());
}

void TestWindow::everyPaneSaysWhatToDoNext()
{
    Bench bench;
    for (const char *name : {"graph", "operators", "agent", "editor", "charts", "candidates", "stages",
                             "metrics", "result", "log"}) {
        bool says = false;
        for (const QLabel *label : bench.window.dock(QString::fromLatin1(name))->findChildren<QLabel *>())
            says = says || (label->property("role") == QStringLiteral("empty") && label->text().size() > 20);
        QVERIFY2(says, name);
    }
}

void TestWindow::everyControlHasAnAccessibleName()
{
    Bench bench;
    bench.open();
    for (const auto *control : bench.window.findChildren<QAbstractButton *>()) {
        const bool named =
            !control->accessibleName().isEmpty() || !control->text().isEmpty() ||
            (control->inherits("QToolButton") && static_cast<const QToolButton *>(control)->defaultAction());
        const bool internal = control->objectName().startsWith(QStringLiteral("qt_")) ||
                              control->inherits("QDockWidgetTitleButton") ||
                              control->inherits("QTableCornerButton") ||
                              (control->parentWidget() && (control->parentWidget()->inherits("QTabBar") ||
                                                           control->parentWidget()->inherits("QLineEdit")));
        QVERIFY2(named || internal, qPrintable(control->objectName() + control->toolTip() +
                                               QString::fromLatin1(control->metaObject()->className())));
    }
}

QTEST_MAIN(TestWindow)
#include "test_window.moc"
