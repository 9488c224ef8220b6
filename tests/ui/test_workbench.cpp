// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window over a scripted backend, driven by keys and mouse as a person drives it.
#include "scripted_backend.h"
#include "ui/agent/agent_pane.h"
#include "ui/agent/iteration_card.h"
#include "ui/agent/prompt_box.h"
#include "ui/candidates/candidates_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/cuda_editor.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/log/log_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "ui/shell/device_badge.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/workbench.h"
#include "ui/theme/theme.h"

#include <QDockWidget>
#include <QDropEvent>
#include <QItemSelectionModel>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

namespace
{

/// A window with a model open, as one has it after the first click.
struct Bench
{
    Bench()
    {
        window.resize(1600, 1000);
        window.show();
        QFile model(modelPath);
        if (!model.open(QIODevice::WriteOnly)) qFatal("no temporary model");
        model.write("PK");
    }

    void open()
    {
        QSignalSpy drawn(window.graph, &GraphPane::drawn);
        workbench.openFile(modelPath);
        QVERIFY(drawn.wait(20000));
        QTRY_COMPARE(backend.job(), Job::None);
    }

    void searchToTheEnd()
    {
        QSignalSpy finished(&backend, &Backend::searchFinished);
        button("search.run")->click();
        QVERIFY(finished.wait(20000));
        QTRY_COMPARE(backend.job(), Job::None);
    }

    QToolButton *button(const char *id) { return window.findChild<QToolButton *>(QString::fromLatin1(id)); }
    void key(QWidget *target, Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        window.activateWindow();
        target->setFocus();
        QTest::keyClick(target, key, modifiers);
    }

    QTemporaryDir folder;
    QString modelPath = folder.filePath(QStringLiteral("small.pt2"));
    QSettings settings{folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat};
    ThemeController themes;
    MainWindow window{themes, settings};
    ScriptedBackend backend;
    Workbench workbench{window, backend};
};

} // namespace

class TestWorkbench : public QObject
{
    Q_OBJECT

private slots:
    void openingAModelShowsGraphTasksAndDevice();
    void theFirstButtonSearchesUntilTheEnd();
    void theFirstFasterCandidateIsAnnouncedAndCanBeAccepted();
    void altEnterAcceptsAndTheWholeModelIsMeasured();
    void anIncorrectCandidateCannotBeAccepted();
    void ctrlEnterEvaluatesTheEditAsAChild();
    void aPromptSteersTheRunningSearch();
    void aPromptFromAChosenCandidateWorksWithoutASearch();
    void pauseAndContinue();
    void stopEndsTheSearchAndKeepsWhatWasFound();
    void selectingACandidateShowsItEverywhere();
    void selectedOperatorsAreOptimised();
    void graphAndTableSelectTogether();
    void aModelThatCannotBeOpenedIsAnErrorInWords();
    void aMissingFileIsAnErrorInWords();
    void aDroppedFileIsOpened();
    void aSessionComesBackWhole();
    void aDraftIsNotOverwrittenByTheAgent();
    void lookingAtACandidateIsNotDisturbedByTheAgent();
    void aQuestionMarkCanBeTyped();
    void theLastSessionIsOffered();
    void layoutIsRestored();
    void theDefaultLayoutComesBack();
    void everyPaneSaysWhatToDoNext();
    void everyControlHasAnAccessibleName();
};

void TestWorkbench::openingAModelShowsGraphTasksAndDevice()
{
    Bench bench;
    QVERIFY(bench.window.isShowingWelcome());
    bench.open();
    QVERIFY(!bench.window.isShowingWelcome());
    QCOMPARE(bench.window.operators->tasks().rowCount(), 1);
    QCOMPARE(bench.window.operators->operators().rowCount(), 10);
    QCOMPARE(bench.window.device->text(), QStringLiteral("simt:h200 · modelled times"));
    QVERIFY(bench.button("search.run")->isEnabled());
    QVERIFY(bench.window.messages->text().contains(QStringLiteral("RMSNorm in layers.0.norm")));
}

void TestWorkbench::theFirstButtonSearchesUntilTheEnd()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    QCOMPARE(bench.window.agent->cardCount(), 4);
    QCOMPARE(bench.workbench.candidates().all().size(), 4U);
    QCOMPARE(bench.window.charts->latency()->series().points.size(), 3U);
    QCOMPARE(bench.window.charts->latency()->series().failures.size(), 1U);
    QVERIFY(bench.window.agent->cardOf(3)->isFolded());
    QVERIFY(bench.window.agent->cardOf(3)->verdict().contains(QStringLiteral("faster")));
    QVERIFY(bench.window.editor->source().contains(QStringLiteral("// candidate 4")));
}

void TestWorkbench::theFirstFasterCandidateIsAnnouncedAndCanBeAccepted()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    QCOMPARE(bench.window.messages->level(), MessageBar::Level::Success);
    QVERIFY(bench.window.messages->text().startsWith(QStringLiteral(
        "#4 for “RMSNorm in layers.0.norm” is correct and 1.52× as fast as eager (modelled)")));
    QTest::mouseClick(bench.window.messages->actionButton(), Qt::LeftButton);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("accept #4")));
}

void TestWorkbench::altEnterAcceptsAndTheWholeModelIsMeasured()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    QSignalSpy measured(&bench.backend, &Backend::wholeModelMeasured);
    bench.key(bench.window.editor->editor(), Qt::Key_Return, Qt::AltModifier);
    QVERIFY(measured.wait(5000));
    QVERIFY(bench.backend.calls.contains(QStringLiteral("accept #4")));
    QVERIFY(bench.backend.calls.contains(QStringLiteral("measure")));
    QVERIFY(bench.workbench.candidates().find(4)->accepted);
    QCOMPARE(bench.window.result->headline(), QStringLiteral("Whole model: 1.06× as fast"));
    QVERIFY(!bench.button("search.accept")->isEnabled());
}

void TestWorkbench::anIncorrectCandidateCannotBeAccepted()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    bench.workbench.select(2, true);
    QVERIFY(!bench.button("search.accept")->isEnabled());
    bench.workbench.accept(2);
    QVERIFY(!bench.backend.calls.contains(QStringLiteral("accept #2")));
}

void TestWorkbench::ctrlEnterEvaluatesTheEditAsAChild()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    bench.workbench.select(3, true);
    QSignalSpy evaluated(&bench.backend, &Backend::candidateEvaluated);
    CudaEditor *editor = bench.window.editor->editor();
    editor->setFocus();
    QTest::keyClicks(editor, QStringLiteral("// mine "));
    bench.key(editor, Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(evaluated.wait(5000));
    QVERIFY(bench.backend.calls.contains(QStringLiteral("evaluate edit of #3")));
    const Candidate *edit = bench.workbench.candidates().find(5);
    QVERIFY(edit);
    QCOMPARE(edit->parent, 3);
    QCOMPARE(edit->author, std::string("person"));
    QVERIFY(edit->source.starts_with("// mine "));
    QVERIFY(edit->source.find('\r') == std::string::npos);
    QCOMPARE(bench.window.candidatesModel->indexOf(5).parent().data(IdRole).toInt(), 3);
    QCOMPARE(bench.window.editor->shown(), 5);
}

void TestWorkbench::aPromptSteersTheRunningSearch()
{
    Bench bench;
    bench.open();
    QSignalSpy evaluated(&bench.backend, &Backend::candidateEvaluated);
    bench.button("search.run")->click();
    QVERIFY(evaluated.wait(5000));
    QCOMPARE(bench.backend.job(), Job::Searching);
    PromptBox *prompt = bench.window.agent->prompt();
    prompt->setFocus();
    QTest::keyClicks(prompt, QStringLiteral("more rows per block"));
    QTest::keyClick(prompt, Qt::Key_Return);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("prompt #0: more rows per block")));
    QVERIFY(prompt->toPlainText().isEmpty());
    QSignalSpy finished(&bench.backend, &Backend::searchFinished);
    QVERIFY(finished.wait(20000));
    bool followed = false;
    for (const Candidate &candidate : bench.workbench.candidates().all())
        followed = followed || candidate.instruction == "more rows per block";
    QVERIFY(followed);
}

void TestWorkbench::aPromptFromAChosenCandidateWorksWithoutASearch()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    QTreeView *tree = bench.window.candidates->view();
    const QModelIndex row = [&] {
        const auto hits = tree->model()->match(tree->model()->index(0, 0), IdRole, 3, 1,
                                               Qt::MatchRecursive | Qt::MatchExactly);
        return hits.value(0);
    }();
    QVERIFY(row.isValid());
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(row).center());
    QCOMPARE(bench.workbench.promptTarget(), 3);
    PromptBox *prompt = bench.window.agent->prompt();
    QTest::keyClicks(prompt, QStringLiteral("use shared memory"));
    QTest::keyClick(prompt, Qt::Key_Return);
    QVERIFY(bench.backend.calls.contains(QStringLiteral("prompt #3: use shared memory")));
    QTRY_COMPARE(bench.workbench.candidates().all().size(), 5U);
    QCOMPARE(bench.workbench.candidates().find(5)->parent, 3);
}

void TestWorkbench::pauseAndContinue()
{
    Bench bench;
    bench.open();
    QSignalSpy added(&bench.backend, &Backend::candidateAdded);
    bench.button("search.run")->click();
    QVERIFY(added.wait(5000));
    bench.button("search.pause")->click();
    QVERIFY(bench.backend.isPaused());
    QCOMPARE(bench.button("search.run")->text(), QStringLiteral("Continue"));
    const auto before = bench.workbench.candidates().all().size();
    QTest::qWait(30);
    QCOMPARE(bench.workbench.candidates().all().size(), before);
    QSignalSpy finished(&bench.backend, &Backend::searchFinished);
    bench.key(&bench.window, Qt::Key_F5, Qt::NoModifier);
    QVERIFY(!bench.backend.isPaused());
    QVERIFY(finished.wait(20000));
}

void TestWorkbench::stopEndsTheSearchAndKeepsWhatWasFound()
{
    Bench bench;
    bench.open();
    QSignalSpy evaluated(&bench.backend, &Backend::candidateEvaluated);
    bench.button("search.run")->click();
    QVERIFY(evaluated.wait(5000));
    bench.key(&bench.window, Qt::Key_F5, Qt::ShiftModifier);
    QCOMPARE(bench.backend.job(), Job::None);
    QVERIFY(!bench.workbench.candidates().isEmpty());
    QVERIFY(bench.button("search.run")->isEnabled());
}

void TestWorkbench::selectingACandidateShowsItEverywhere()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    IterationChart *chart = bench.window.charts->latency();
    QTRY_VERIFY(!chart->positionOf(1).isNull());
    QTest::mouseClick(chart->viewport(), Qt::LeftButton, {}, chart->positionOf(1).toPoint());
    QCOMPARE(bench.workbench.selected(), 1);
    QCOMPARE(bench.window.candidates->selected(), 1);
    QVERIFY(bench.window.editor->source().contains(QStringLiteral("// candidate 1\n")));
    bench.workbench.select(2, true);
    QCOMPARE(bench.window.stages->model().row(1).status, StageStatus::Failed);
    QCOMPARE(bench.window.editor->editor()->annotatedLines(), 1);
}

void TestWorkbench::selectedOperatorsAreOptimised()
{
    Bench bench;
    bench.open();
    bench.window.graph->selectNodes({QStringLiteral("silu_1"), QStringLiteral("mul_3")});
    QTest::mouseClick(bench.window.graph->optimiseButton(), Qt::LeftButton);
    QVERIFY2(bench.backend.calls.contains(QStringLiteral("optimise silu_1 mul_3")),
             qPrintable(bench.backend.calls.join(u',')));
}

void TestWorkbench::graphAndTableSelectTogether()
{
    Bench bench;
    bench.open();
    emit bench.window.operators->nodesSelected({QStringLiteral("mm_1")});
    QCOMPARE(bench.window.graph->selectedNodes(), QStringList{QStringLiteral("mm_1")});
    emit bench.window.graph->nodesSelected({QStringLiteral("add_1")});
    const auto rows = bench.window.operators->operatorsView()->selectionModel()->selectedRows();
    QCOMPARE(rows.size(), 1);
    QCOMPARE(rows.front().data(IdRole).toString(), QStringLiteral("add_1"));
}

void TestWorkbench::aModelThatCannotBeOpenedIsAnErrorInWords()
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

void TestWorkbench::aMissingFileIsAnErrorInWords()
{
    Bench bench;
    bench.workbench.openFile(QStringLiteral("/nonexistent/model.pt2"));
    QCOMPARE(bench.window.messages->level(), MessageBar::Level::Error);
    QVERIFY(bench.window.messages->text().contains(QStringLiteral("/nonexistent/model.pt2")));
    QVERIFY(bench.backend.calls.isEmpty());
}

void TestWorkbench::aDroppedFileIsOpened()
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

void TestWorkbench::aSessionComesBackWhole()
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

void TestWorkbench::aDraftIsNotOverwrittenByTheAgent()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    bench.workbench.select(1, true);
    QTest::keyClicks(bench.window.editor->editor(), QStringLiteral("// keep me "));
    const QString draft = bench.window.editor->source();
    bench.searchToTheEnd();
    QCOMPARE(bench.window.editor->source(), draft);
    QCOMPARE(bench.window.editor->state(), EditorPane::State::Draft);
}

void TestWorkbench::lookingAtACandidateIsNotDisturbedByTheAgent()
{
    Bench bench;
    bench.open();
    QSignalSpy evaluated(&bench.backend, &Backend::candidateEvaluated);
    QSignalSpy finished(&bench.backend, &Backend::searchFinished);
    bench.button("search.run")->click();
    while (evaluated.size() < 2)
        QVERIFY(evaluated.wait(5000));
    bench.workbench.select(1, true);
    QVERIFY(finished.wait(20000));
    QCOMPARE(bench.workbench.selected(), 1);
    QCOMPARE(bench.window.editor->shown(), 1);
}

void TestWorkbench::aQuestionMarkCanBeTyped()
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

void TestWorkbench::theLastSessionIsOffered()
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

void TestWorkbench::layoutIsRestored()
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

void TestWorkbench::theDefaultLayoutComesBack()
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

void TestWorkbench::everyPaneSaysWhatToDoNext()
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

void TestWorkbench::everyControlHasAnAccessibleName()
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

QTEST_MAIN(TestWorkbench)
#include "test_workbench.moc"
