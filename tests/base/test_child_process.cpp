// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/child_process.h"

#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>

using namespace kernelwright;

class TestChildProcess : public QObject
{
    Q_OBJECT

private slots:
    void theStatusIsTheChildsOwn()
    {
        const auto end = run({"/bin/sh", "-c", "exit 7"});
        QVERIFY2(end.has_value(), end ? "" : end.error().message.c_str());
        QCOMPARE(end->status, 7);
        QCOMPARE(end->signal, 0);
    }

    void bothStreamsGoIntoTheFile()
    {
        QVERIFY(run({"/bin/sh", "-c", "echo first; echo; echo second >&2; echo third"}));
        QCOMPARE(lastLines(output()), std::string("second · third"));
    }

    void nothingIsOnItsStandardInput()
    {
        const auto end = run({"/bin/sh", "-c", "read line && exit 3; exit 4"});
        QVERIFY(end);
        QCOMPARE(end->status, 4);
    }

    void aCrashIsToldByItsSignal()
    {
        const auto end = run({"/bin/sh", "-c", "kill -SEGV $$"});
        QVERIFY(end);
        QCOMPARE(end->signal, SIGSEGV);
    }

    void aProgramThatIsNotThereIsNamed()
    {
        const auto end = run({"/no/such/python3"});
        QVERIFY(!end);
        QCOMPARE(end.error().code, ErrorCode::Io);
        QVERIFY(end.error().message.find("/no/such/python3") != std::string::npos);
    }

    void anEndlessChildIsKilledWithItsOwnChildren()
    {
        const std::string pidFile = folder_.filePath("pid").toStdString();
        const auto end = run({"/bin/sh", "-c", "sleep 1000 & echo $! > " + pidFile + "; wait"},
                             std::chrono::milliseconds(300));
        QVERIFY(!end);
        QCOMPARE(end.error().code, ErrorCode::Timeout);
        pid_t grandchild = 0;
        std::ifstream(pidFile) >> grandchild;
        QVERIFY(grandchild > 0);
        QTRY_VERIFY(!isRunning(grandchild));
    }

    void cancellingEndsItToo()
    {
        ChildRequest request{{"/bin/sleep", "1000"}, output(), std::chrono::minutes(1), {}};
        request.cancel.cancel();
        const auto end = runChild(request);
        QVERIFY(!end);
        QCOMPARE(end.error().code, ErrorCode::Cancelled);
    }

private:
    /// A zombie whose new parent has not asked for its end yet is not running either.
    static bool isRunning(pid_t pid)
    {
        std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
        std::string number, name, state;
        return bool(status >> number >> name >> state) && state != "Z" && state != "X";
    }
    std::filesystem::path output() const { return folder_.filePath("output").toStdString(); }
    Result<ChildEnd> run(std::vector<std::string> command,
                         std::chrono::milliseconds timeout = std::chrono::minutes(1)) const
    {
        return runChild({std::move(command), output(), timeout, {}});
    }

    QTemporaryDir folder_;
};

QTEST_APPLESS_MAIN(TestChildProcess)
#include "test_child_process.moc"
