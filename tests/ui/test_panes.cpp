// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixtures.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/compare_window.h"
#include "ui/editor/cuda_editor.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/welcome/samples.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <Qsci/qscilexer.h>
#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

class TestPanes : public QObject
{
    Q_OBJECT

private slots:
    void streamingKeepsTheCaretAndTheView();
    void streamedTextIsNoEditOfThePerson();
    void typingIntoAStreamMakesItADraftThatTheStreamLeavesAlone();
    void typingIntoACandidateMakesADraft();
    void aDraftSurvivesLookingAtAnotherCandidate();
    void diagnosticsAreAnnotatedAtTheirLines();
    void aUnifiedDiffTellsWhichLinesChanged();
    void aClickOnAPointNamesItsCandidate();
    void chartsExportPictureAndNumbers();
    void anExportThatCannotBeWrittenSaysSo();
    void stagesOfAnotherCandidateAreIgnored();
    void theGraphIsDrawnByGraphviz();
    void withoutGraphvizTheGraphSaysWhatToInstall();
    void aModuleOpensAndClosesByDoubleClick();
    void aThemeChangeReachesChartsEditorAndGraph();
    void everyNamedColourIsInBothThemes();
    void samplesAreReadAndMissingOnesLeftOut();

private:
    ThemeController themes_;
};

void TestPanes::streamingKeepsTheCaretAndTheView()
{
    CudaEditor editor(themes_);
    editor.resize(500, 200);
    editor.show();
    QStringList lines;
    for (int i = 0; i < 100; ++i)
        lines << QStringLiteral("int line_%1;").arg(i);
    editor.setSource(lines.join(QLatin1Char('\n')));
    editor.setCursorPosition(2, 4);
    editor.setFirstVisibleLine(1);
    for (int i = 0; i < 50; ++i)
        editor.appendStreamed(QStringLiteral("// more %1\n").arg(i));
    int line = -1;
    int column = -1;
    editor.getCursorPosition(&line, &column);
    QCOMPARE(line, 2);
    QCOMPARE(column, 4);
    QCOMPARE(editor.firstVisibleLine(), 1);
    QVERIFY(editor.source().endsWith(QStringLiteral("// more 49\n")));
}

void TestPanes::streamedTextIsNoEditOfThePerson()
{
    CudaEditor editor(themes_);
    QSignalSpy edited(&editor, &CudaEditor::personEdited);
    editor.setSource(QStringLiteral("a"));
    editor.appendStreamed(QStringLiteral("b µ"));
    QCOMPARE(edited.size(), 0);
    QCOMPARE(editor.source(), QStringLiteral("ab µ"));
    QVERIFY(!editor.isUndoAvailable());
    QTest::keyClicks(&editor, QStringLiteral("x"));
    QVERIFY(edited.size() > 0);
}

void TestPanes::typingIntoAStreamMakesItADraftThatTheStreamLeavesAlone()
{
    EditorPane pane(themes_);
    pane.beginStream(QStringLiteral("#1"));
    pane.stream(QStringLiteral("int a;\n"));
    QCOMPARE(pane.state(), EditorPane::State::Streaming);
    QTest::keyClicks(pane.editor(), QStringLiteral("x"));
    QCOMPARE(pane.state(), EditorPane::State::Draft);
    pane.stream(QStringLiteral("int b;\n"));
    QCOMPARE(pane.source(), QStringLiteral("xint a;\n"));
    pane.endStream(candidateFromText(QStringLiteral("1 parent 0 evaluating by playbook: one")));
    QCOMPARE(pane.source(), QStringLiteral("xint a;\n"));
}

void TestPanes::typingIntoACandidateMakesADraft()
{
    EditorPane pane(themes_);
    QSignalSpy wanted(&pane, &EditorPane::evaluateRequested);
    pane.showCandidate(candidateFromText(QStringLiteral("3 parent 1 faster 10 x 2.00 by playbook: one")),
                       nullptr, nullptr);
    QCOMPARE(pane.state(), EditorPane::State::Showing);
    QTest::keyClicks(pane.editor(), QStringLiteral("// "));
    QCOMPARE(pane.state(), EditorPane::State::Draft);
    pane.evaluate();
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].value<CandidateId>(), 3);
    QCOMPARE(wanted[0][1].toString(), QStringLiteral("// // source of 3\n"));
    QVERIFY(pane.editor()->isReadOnly());
    pane.draftBecame(candidateFromText(QStringLiteral("4 parent 3 evaluating by person: mine")));
    QCOMPARE(pane.shown(), 4);
    QCOMPARE(pane.state(), EditorPane::State::Showing);
}

void TestPanes::aDraftSurvivesLookingAtAnotherCandidate()
{
    EditorPane pane(themes_);
    pane.showCandidate(candidateFromText(QStringLiteral("1 parent 0 faster 10 x 2.00 by playbook: one")),
                       nullptr, nullptr);
    QTest::keyClicks(pane.editor(), QStringLiteral("mine"));
    pane.showCandidate(candidateFromText(QStringLiteral("2 parent 1 faster 10 x 2.00 by playbook: two")),
                       nullptr, nullptr);
    QCOMPARE(pane.source(), QStringLiteral("// source of 2\n"));
    QPushButton *back = nullptr;
    for (QPushButton *button : pane.findChildren<QPushButton *>())
        if (button->text() == QStringLiteral("Back to my draft")) back = button;
    QVERIFY(back);
    QTest::mouseClick(back, Qt::LeftButton);
    QCOMPARE(pane.source(), QStringLiteral("mine// source of 1\n"));
    QCOMPARE(pane.state(), EditorPane::State::Draft);
    QCOMPARE(pane.shown(), 1);
}

void TestPanes::diagnosticsAreAnnotatedAtTheirLines()
{
    CudaEditor editor(themes_);
    editor.setSource(QStringLiteral("one\ntwo\nthree\n"));
    editor.setDiagnostics({{2, 1, "error", "expected a \";\""},
                           {2, 3, "warning", "unused"},
                           {99, 1, "error", "beyond the end"}});
    QCOMPARE(editor.annotatedLines(), 2);
    QCOMPARE(editor.annotation(1), QStringLiteral("error: expected a \";\"\nwarning: unused"));
    QCOMPARE(editor.annotation(0), QStringLiteral("error: beyond the end"));
    editor.setDiagnostics({});
    QCOMPARE(editor.annotatedLines(), 0);
}

void TestPanes::aUnifiedDiffTellsWhichLinesChanged()
{
    const ChangedLines changed =
        changedLines(QStringLiteral("--- #1\n+++ #2\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n"
                                    "@@ -10 +11 @@\n-j\n+J\n"));
    QCOMPARE(changed.removed, std::set<int>({1, 9}));
    QCOMPARE(changed.added, std::set<int>({1, 2, 10}));
}

void TestPanes::aClickOnAPointNamesItsCandidate()
{
    IterationChart chart(themes_, &Theme::seriesLatency, QStringLiteral("Latency"));
    chart.resize(400, 200);
    chart.show();
    chart.setSeries(
        latencySeries({candidateFromText(QStringLiteral("1 parent 0 slower 30 x 0.67 by playbook: one")),
                       candidateFromText(QStringLiteral("2 parent 1 faster 10 x 2.00 by playbook: two"))}));
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QTRY_VERIFY(!chart.positionOf(2).isNull());
    QSignalSpy clicked(&chart, &IterationChart::candidateClicked);
    QTest::mouseClick(chart.viewport(), Qt::LeftButton, {}, chart.positionOf(2).toPoint());
    QCOMPARE(clicked.size(), 1);
    QCOMPARE(clicked[0][0].value<CandidateId>(), 2);
    QTest::mouseClick(chart.viewport(), Qt::LeftButton, {}, QPoint(200, 5));
    QCOMPARE(clicked.size(), 1);
    QVERIFY(chart.positionOf(1).y() < chart.positionOf(2).y()); // the slower one stands higher
}

void TestPanes::chartsExportPictureAndNumbers()
{
    ChartsPane pane(themes_);
    pane.resize(400, 500);
    pane.setCandidates(QStringLiteral("RMSNorm"),
                       {candidateFromText(QStringLiteral("1 parent 0 faster 10 x 2.00 by playbook: one"))});
    const QTemporaryDir folder;
    QVERIFY(pane.exportPicture(folder.filePath(QStringLiteral("charts.png"))).has_value());
    QVERIFY(QImage(folder.filePath(QStringLiteral("charts.png"))).width() > 100);
    QVERIFY(pane.exportNumbers(folder.filePath(QStringLiteral("numbers.csv"))).has_value());
    QFile numbers(folder.filePath(QStringLiteral("numbers.csv")));
    QVERIFY(numbers.open(QIODevice::ReadOnly));
    QVERIFY(numbers.readAll().contains("1,1,faster,10,0.5,2,41,1001"));
}

void TestPanes::anExportThatCannotBeWrittenSaysSo()
{
    ChartsPane pane(themes_);
    const auto written = pane.exportNumbers(QStringLiteral("/nonexistent/numbers.csv"));
    QVERIFY(!written);
    QVERIFY(written.error().message.find("/nonexistent/numbers.csv") != std::string::npos);
    QVERIFY(!pane.exportPicture(QStringLiteral("/nonexistent/charts.png")));
}

void TestPanes::stagesOfAnotherCandidateAreIgnored()
{
    StagesPane pane(themes_);
    pane.setCandidate(candidateFromText(QStringLiteral("1 parent 0 evaluating by playbook: one")));
    pane.setStage(1, {"compile", StageStatus::Passed});
    pane.setStage(2, {"smoke", StageStatus::Failed, "of another"});
    QCOMPARE(pane.model().row(0).status, StageStatus::Passed);
    QCOMPARE(pane.model().row(1).status, StageStatus::Pending);
}

void TestPanes::theGraphIsDrawnByGraphviz()
{
    if (QStandardPaths::findExecutable(QStringLiteral("dot")).isEmpty())
        QSKIP("skipped: Graphviz is not installed");
    GraphPane pane(themes_);
    QSignalSpy drawn(&pane, &GraphPane::drawn);
    pane.setGraph(smallGraph());
    QVERIFY(drawn.wait(20000));
    QCOMPARE(pane.visible().nodes.size(), 12U); // all modules open: ten operators, input, output
    pane.selectNodes({QStringLiteral("mm_1")});
    QCOMPARE(pane.selectedNodes(), QStringList{QStringLiteral("mm_1")});
    QVERIFY(pane.optimiseButton()->isEnabled());
}

void TestPanes::withoutGraphvizTheGraphSaysWhatToInstall()
{
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nonexistent");
    GraphPane pane(themes_);
    QSignalSpy failed(&pane, &GraphPane::failed);
    pane.setGraph(smallGraph());
    const bool told = !failed.isEmpty() || failed.wait(10000);
    qputenv("PATH", path);
    QVERIFY(told);
    QVERIFY(failed.front().front().toString().contains(QStringLiteral("install the package graphviz")));
}

void TestPanes::aModuleOpensAndClosesByDoubleClick()
{
    if (QStandardPaths::findExecutable(QStringLiteral("dot")).isEmpty())
        QSKIP("skipped: Graphviz is not installed");
    GraphPane pane(themes_);
    QSignalSpy drawn(&pane, &GraphPane::drawn);
    pane.setGraph(smallGraph());
    QVERIFY(drawn.wait(20000));
    emit pane.view()->moduleToggled("layers.0.norm");
    QVERIFY(drawn.wait(20000));
    QCOMPARE(pane.visible().nodes.size(), 8U); // five operators have become one box
    pane.openModule("layers.0.norm", true);
    QVERIFY(drawn.wait(20000));
    QCOMPARE(pane.visible().nodes.size(), 12U);
}

void TestPanes::aThemeChangeReachesChartsEditorAndGraph()
{
    EditorPane editor(themes_);
    IterationChart chart(themes_, &Theme::seriesLatency, QStringLiteral("Latency"));
    GraphView graph(themes_);
    themes_.setChoice(ThemeChoice::Dark);
    QCOMPARE(chart.chart()->backgroundBrush().color(), themes_.theme().surface);
    themes_.setChoice(ThemeChoice::Light);
    const QColor light = themes_.theme().surface;
    QVERIFY(light.lightness() > 200);
    QCOMPARE(chart.chart()->backgroundBrush().color(), light);
    QCOMPARE(graph.backgroundBrush().color(), light);
    QCOMPARE(editor.editor()->lexer()->paper(0), light);
    QCOMPARE(qApp->palette().color(QPalette::Base), light);
}

void TestPanes::everyNamedColourIsInBothThemes()
{
    for (const char *name : {"dark", "light"}) {
        const Theme theme = bundledTheme(QString::fromLatin1(name));
        for (const QColor &colour :
             {theme.window, theme.text, theme.accent, theme.good, theme.bad, theme.seriesFloor, theme.heatHot,
              theme.codeDirective, theme.codeSelection})
            QVERIFY2(colour.isValid(), name);
        QVERIFY(std::abs(theme.text.lightness() - theme.surface.lightness()) > 120);
    }
}

void TestPanes::samplesAreReadAndMissingOnesLeftOut()
{
    QVERIFY(readSamples({}).empty());
    const QTemporaryDir folder;
    QVERIFY(readSamples(folder.path()).empty());
    const auto write = [&](const char *name, const QByteArray &text) {
        QFile file(folder.filePath(QString::fromLatin1(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write("a.pt2", "x");
    write("samples.json",
          R"({"samples":[{"file":"a.pt2","title":"A","teaches":"something"},{"file":"gone.pt2"},7]})");
    const auto samples = readSamples(folder.path());
    QCOMPARE(samples.size(), 1U);
    QCOMPARE(samples[0].title, QStringLiteral("A"));
    write("samples.json", "{{{");
    QVERIFY(readSamples(folder.path()).empty());
}

QTEST_MAIN(TestPanes)
#include "test_panes.moc"
