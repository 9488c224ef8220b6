// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/compile_log.h"

#include <QTest>

using namespace kernelwright;

class TestCompileLog : public QObject
{
    Q_OBJECT
private slots:
    void columnComesFromTheCaret();
    void aMessageInAHeaderNamesTheHeader();
    void notesBetweenHeadAndQuoteBelongToTheMessage();
    void ptxasErrorsAreErrors();
    void resourcesAreReadPerKernel();
    void otherTextIsNoMessage();
};

void TestCompileLog::columnComesFromTheCaret()
{
    const auto found =
        parseDiagnostics("candidate.cu(7): error: identifier \"foo\" is undefined\n"
                         "      foo(3);\n"
                         "      ^\n"
                         "\n"
                         "candidate.cu(9): warning #177-D: variable \"y\" was declared but never referenced\n"
                         "  int y;\n"
                         "      ^\n");
    QCOMPARE(found.size(), std::size_t{2});
    QCOMPARE(found[0].line, 7);
    QCOMPARE(found[0].column, 5);
    QCOMPARE(found[0].severity, std::string("error"));
    QCOMPARE(found[0].message, std::string("identifier \"foo\" is undefined"));
    QCOMPARE(found[1].line, 9);
    QCOMPARE(found[1].column, 5);
    QCOMPARE(found[1].severity, std::string("warning"));
}

void TestCompileLog::aMessageInAHeaderNamesTheHeader()
{
    const auto found =
        parseDiagnostics("/usr/local/cuda/include/cuda_fp16.h(12): catastrophic error: no such thing\n");
    QCOMPARE(found.size(), std::size_t{1});
    QCOMPARE(found[0].line, 0);
    QCOMPARE(found[0].severity, std::string("error"));
    QCOMPARE(found[0].message, std::string("in /usr/local/cuda/include/cuda_fp16.h, line 12: no such thing"));
}

void TestCompileLog::notesBetweenHeadAndQuoteBelongToTheMessage()
{
    const auto found = parseDiagnostics("candidate.cu(3): error: no instance of overloaded function matches\n"
                                        "            argument types are: (float)\n"
                                        "    y[0] = f(x);\n"
                                        "           ^\n");
    QCOMPARE(found.size(), std::size_t{1});
    QCOMPARE(found[0].message,
             std::string("no instance of overloaded function matches argument types are: (float)"));
    QCOMPARE(found[0].column, 10);
}

void TestCompileLog::ptxasErrorsAreErrors()
{
    const auto found = parseDiagnostics(
        "ptxas error   : Entry function 'k' uses too much shared data (0x40000 bytes, 0xc000 max)\n"
        "ptxas candidate.ptx, line 12; error   : Unknown symbol 'q'\n");
    QCOMPARE(found.size(), std::size_t{2});
    QCOMPARE(found[0].severity, std::string("error"));
    QCOMPARE(found[0].line, 0);
    QVERIFY(found[0].message.find("too much shared data") != std::string::npos);
    QCOMPARE(found[1].message, std::string("Unknown symbol 'q'"));
}

void TestCompileLog::resourcesAreReadPerKernel()
{
    const auto kernels = parseResources(
        "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
        "ptxas         .     400 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 26 registers, used 0 barriers, 400 bytes cumulative stack size\n"
        "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem\n");
    QCOMPARE(kernels.size(), std::size_t{2});
    QCOMPARE(kernels[0].kernel, std::string("second"));
    QCOMPARE(kernels[0].registers, 26);
    QCOMPARE(kernels[0].spillBytes, 20);
    QCOMPARE(kernels[0].sharedBytes, 0);
    QCOMPARE(kernels[1].registers, 10);
    QCOMPARE(kernels[1].sharedBytes, 256);
}

void TestCompileLog::otherTextIsNoMessage()
{
    QVERIFY(parseDiagnostics("").empty());
    QVERIFY(parseDiagnostics("1 error detected in the compilation of \"candidate.cu\".\n").empty());
    QVERIFY(parseDiagnostics(std::string(100000, '(')).empty());
    QVERIFY(parseResources("nothing here\n").empty());
}

QTEST_APPLESS_MAIN(TestCompileLog)
#include "test_compile_log.moc"
