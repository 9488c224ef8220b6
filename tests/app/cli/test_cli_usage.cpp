// SPDX-License-Identifier: GPL-3.0-or-later
// Wrong usage and bad input: status 2, one message that says what and what to do, nothing written.
#include "cli_fixture.h"

#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

class TestCliUsage : public QObject
{
    Q_OBJECT

private slots:
    void init() { cli_ = std::make_unique<CliFixture>(); }

    void badUsageIsRefused_data();
    void badUsageIsRefused();
    void everyCommandHasHelp_data();
    void everyCommandHasHelp();
    void withoutAnyWordItTellsWhatThereIs();
    void theVersionIsTold();
    void controlCharactersDoNotReachTheTerminal();

private:
    std::unique_ptr<CliFixture> cli_;
};

void TestCliUsage::badUsageIsRefused_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const QString &arguments, const char *expected) {
        QTest::newRow(name) << arguments.split(' ', Qt::SkipEmptyParts) << QString(expected);
    };
    row("unknown command", "optimise m.pt2", "did you mean 'optimize'?");
    row("nothing like a command", "zzzzzzzz",
        "there is no command 'zzzzzzzz'; kernelwright-cli --help lists them");
    row("unknown option", "run m.pt2 --jsom x", "run has no option 'jsom', did you mean '--json'?");
    row("option without its value", "run m.pt2 --io", "Missing value after '--io'");
    row("operand missing", "import", "import needs MODEL");
    row("one operand too many", "import a b", "'b' is too much");
    row("devices takes none", "devices x", "devices takes no operand");
    row("model cannot be opened", "import bad.pt2", "bad.pt2' is cut off: export the model again");
    row("json into a missing folder", "import m.pt2 --json absent/x.json", "there is no folder");
    row("json into a folder", "import m.pt2 --json .", "is a folder");
    row("no such device", "profile m.pt2 --device gpu0", "'gpu0' is not a device");
    row("a host that is an option", "profile m.pt2 --device ssh://-oProxyCommand=x/cuda:0",
        "is not a device");
    row("task without a file", "task m.pt2 --node relu_1", "--node needs -o FILE");
    row("task without nodes", "task m.pt2 -o t.task", "-o needs --node");
    row("task of unknown nodes", "task m.pt2 --node nope -o t.task", "has no operator 'nope'");
    row("task into a missing folder", "task m.pt2 --node relu_1 -o absent/t.task", "there is no folder");
    row("candidate missing", "evaluate absent.cu --task t.task", "'absent.cu' cannot be read");
    row("candidate is a folder", "evaluate . --task t.task", "is a folder");
    row("candidate is empty", "evaluate empty.cu --task t.task", "is empty");
    row("candidate is not text", "evaluate binary.cu --task t.task", "is not text");
    row("evaluate without a task", "evaluate good.cu", "evaluate needs --task FILE");
    row("task file missing", "evaluate good.cu --task absent.task", "there is no task file");
    row("no such stage", "evaluate good.cu --task t.task --stages compile,smok", "there is no stage 'smok'");
    row("no stage at all", "evaluate good.cu --task t.task --stages ,", "--stages is empty");
    row("no such counters", "evaluate good.cu --task t.task --counters most",
        "--counters takes none, quick or full, not 'most'");
    row("tuning without a number", "evaluate good.cu --task t.task --tune ROWS=four",
        "--tune takes NAME=WHOLE NUMBER");
    row("tuning without a name", "evaluate good.cu --task t.task --tune =4",
        "--tune takes NAME=WHOLE NUMBER");
    row("iterations zero", "optimize m.pt2 --iterations 0", "--iterations takes a whole number from 1 on");
    row("iterations a word", "optimize m.pt2 --iterations many", "--iterations takes a whole number");
    row("minutes negative", "optimize m.pt2 --minutes -5", "--minutes takes a whole number");
    row("cost not a number", "optimize m.pt2 --max-cost nan", "--max-cost takes a number above zero");
    row("no such agent", "optimize m.pt2 --agent oracle", "oracle");
    row("tasks of nothing", "optimize m.pt2 --task ,", "--task takes operators' names");
    row("optimize a bad model", "optimize bad.pt2", "is cut off");
    row("optimize unknown nodes", "optimize m.pt2 --task nope --session s.session", "has no operator 'nope'");
    row("session in a missing folder", "optimize m.pt2 --session absent/s.session", "there is no folder");
    row("session that is text", "optimize m.pt2 --session good.cu", "is not a Kernelwright session");
    row("apply without a session", "apply absent.session", "there is no session 'absent.session'");
    row("apply what is none", "apply good.cu", "is not a Kernelwright session");
    row("apply an empty file", "apply empty.cu", "is empty, not a Kernelwright session");
    row("export without a format", "export absent.session -o d", "--format takes cuda or report");
    row("export to python", "export absent.session --format python -o d",
        "cannot be written by this version");
    row("export nowhere", "export absent.session --format cuda", "export needs -o DIR");
    row("session without a file", "session show", "session needs show|export|tsv SESSION");
    row("session's verb misspelt", "session shwo s.session", "did you mean 'show'?");
    row("session that is not there", "session show absent.session", "there is no session");
}

void TestCliUsage::badUsageIsRefused()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, expected);
    cli_->write("good.cu", "verdict=faster us=1 eager=2\n");
    cli_->write("empty.cu", "");
    cli_->write("binary.cu", QByteArray("\x7f"
                                        "ELF\0\0\0",
                                        7));
    cli_->write("t.task", "a task");
    const CliAnswer answer = cli_->run(arguments);
    QVERIFY2(answer.status == 2, answer.err.constData());
    QVERIFY2(QString::fromUtf8(answer.err).contains(expected), answer.err.constData());
    QVERIFY(answer.err.contains("kernelwright-cli: "));
    QVERIFY(answer.err.count('\n') < 12);
    QCOMPARE(answer.out, QByteArray());
    QStringList written = cli_->filesWritten();
    if (expected.contains("no operator 'nope'")) written.removeAll("s.session"); // the search had begun
    QCOMPARE(written, QStringList());
}

void TestCliUsage::everyCommandHasHelp_data()
{
    QTest::addColumn<QString>("command");
    for (const char *name : {"devices", "import", "run", "profile", "task", "evaluate", "optimize", "apply",
                             "export", "session"})
        QTest::newRow(name) << QString(name);
}

void TestCliUsage::everyCommandHasHelp()
{
    QFETCH(QString, command);
    const CliAnswer answer = cli_->run({command, "--help"});
    QCOMPARE(answer.status, 0);
    QVERIFY(answer.out.startsWith("Usage: kernelwright-cli " + command.toUtf8()));
    QVERIFY(answer.out.contains("--json FILE"));
    QCOMPARE(answer.err, QByteArray());
    QVERIFY(cli_->run({"--help"}).out.contains("\n  " + command.toUtf8() + " "));
}

void TestCliUsage::withoutAnyWordItTellsWhatThereIs()
{
    const CliAnswer answer = cli_->run({});
    QCOMPARE(answer.status, 2);
    QVERIFY(answer.err.contains("Usage: kernelwright-cli COMMAND"));
}

void TestCliUsage::theVersionIsTold()
{
    const CliAnswer answer = cli_->run({"--version"});
    QCOMPARE(answer.status, 0);
    QVERIFY(answer.out.startsWith("kernelwright-cli "));
}

void TestCliUsage::controlCharactersDoNotReachTheTerminal()
{
    const CliAnswer answer = cli_->run({"import", "bad\x1b[31m.pt2"});
    QCOMPARE(answer.status, 2);
    QVERIFY(!answer.err.contains('\x1b'));
}

QTEST_GUILESS_MAIN(TestCliUsage)
#include "test_cli_usage.moc"
