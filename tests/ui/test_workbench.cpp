// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does with a model in the window, by keys and mouse, over a scripted backend.
#include "bench.h"

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

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
    void aDraftIsNotOverwrittenByTheAgent();
    void lookingAtACandidateIsNotDisturbedByTheAgent();
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
    QCOMPARE(bench.window.editor->shown(), bench.workbench.selected()); // not what was half written
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

QTEST_MAIN(TestWorkbench)
#include "test_workbench.moc"
