// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/compiler.h"
#include "../../gpu/launch_sources.h"
#include "engine/compile/toolkit_headers.h"

#include <QTemporaryDir>
#include <QTest>

using namespace kernelwright;

class TestCompiler : public QObject
{
    Q_OBJECT
private slots:
    void aKernelBecomesPtxAndMachineCode();
    void tunablesAreMacros();
    void sharedMemoryAndRegistersAreReported();
    void warningsDoNotStopTheCompilation();
    void anErrorHasLineAndColumn();
    void includingAHostFileIsAnErrorAtItsPlace();
    void tooMuchSharedMemoryIsReported();
    void fastMathIsUsedOnlyWhereAllowed();
    void anUnknownArchitectureIsNotSupported();
    void aCancelledCompilationSaysSo();
    void missingHeadersAreNamed();
    void theCacheKeepsTheLatest();
    void whatOnlySomeGpusHaveCompiles_data();
    void whatOnlySomeGpusHaveCompiles();

private:
    static CompileRequest request(const char *source)
    {
        CompileRequest request;
        request.source = source;
        request.architecture = "sm_90";
        return request;
    }
};

void TestCompiler::aKernelBecomesPtxAndMachineCode()
{
    const auto outcome =
        compileCandidate(request("#include <cuda_fp16.h>\n"
                                 "extern \"C\" __global__ void half_it(__half *x) { x[threadIdx.x] = "
                                 "__hmul(x[threadIdx.x], __float2half(0.5f)); }\n"));
    QVERIFY2(outcome.has_value(), outcome ? "" : outcome.error().message.c_str());
    QVERIFY2(outcome->succeeded, outcome->program.report.log.c_str());
    QVERIFY(outcome->program.ptx.find(".entry half_it") != std::string::npos);
    QVERIFY(outcome->program.ptx.find(".target sm_90") != std::string::npos);
    QVERIFY2(outcome->program.ptx.find(".loc") != std::string::npos, "no line information");
    QVERIFY(outcome->program.cubin.size() > 4);
    QCOMPARE(std::string(outcome->program.cubin.data() + 1, 3), std::string("ELF"));
}

void TestCompiler::tunablesAreMacros()
{
    CompileRequest with =
        request("extern \"C\" __global__ void k(int *x) { static_assert(ROWS == 8); x[0] = ROWS; }\n");
    with.macros["ROWS"] = 8;
    QVERIFY(compileCandidate(with).value().succeeded);
    with.macros["ROWS"] = 4;
    QVERIFY(!compileCandidate(with).value().succeeded);
}

void TestCompiler::sharedMemoryAndRegistersAreReported()
{
    const auto outcome =
        compileCandidate(request("extern \"C\" __global__ void k(float *x) { __shared__ float s[256];\n"
                                 "s[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n"
                                 "x[threadIdx.x] = s[255 - threadIdx.x]; }\n"));
    QVERIFY(outcome.has_value() && outcome->succeeded);
    QCOMPARE(outcome->program.report.sharedBytes, 1024);
    QVERIFY(outcome->program.report.registers > 0);
    QCOMPARE(outcome->program.report.spillBytes, 0);
}

void TestCompiler::warningsDoNotStopTheCompilation()
{
    const auto outcome = compileCandidate(
        request("extern \"C\" __global__ void k(float *x) {\n    int unused;\n    x[0] = 1; }\n"));
    QVERIFY(outcome.has_value() && outcome->succeeded);
    QCOMPARE(outcome->program.report.diagnostics.size(), std::size_t{1});
    QCOMPARE(outcome->program.report.diagnostics[0].severity, std::string("warning"));
    QCOMPARE(outcome->program.report.diagnostics[0].line, 2);
    QCOMPARE(outcome->program.report.diagnostics[0].column, 9);
}

void TestCompiler::anErrorHasLineAndColumn()
{
    const auto outcome =
        compileCandidate(request("extern \"C\" __global__ void k(float *x) {\n  x[0] = nothing;\n}\n"));
    QVERIFY(outcome.has_value());
    QVERIFY(!outcome->succeeded);
    const Diagnostic &first = outcome->program.report.diagnostics.front();
    QCOMPARE(first.line, 2);
    QCOMPARE(first.column, 10);
    QCOMPARE(first.message, std::string("identifier \"nothing\" is undefined"));
}

void TestCompiler::includingAHostFileIsAnErrorAtItsPlace()
{
    const auto outcome =
        compileCandidate(request("#include \"/etc/hostname\"\nextern \"C\" __global__ void k() {}\n"));
    QVERIFY(outcome.has_value());
    QVERIFY(!outcome->succeeded);
    QCOMPARE(outcome->program.report.diagnostics.front().line, 1);
    QVERIFY(outcome->program.report.diagnostics.front().message.find("/etc/hostname") != std::string::npos);
}

void TestCompiler::tooMuchSharedMemoryIsReported()
{
    const auto outcome =
        compileCandidate(request("extern \"C\" __global__ void k(float *x) { __shared__ float s[100000];\n"
                                 "s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[5]; }\n"));
    QVERIFY(outcome.has_value());
    QVERIFY(!outcome->succeeded);
    QVERIFY(outcome->program.report.diagnostics.front().message.find("shared") != std::string::npos);
}

void TestCompiler::fastMathIsUsedOnlyWhereAllowed()
{
    CompileRequest division = request("extern \"C\" __global__ void k(float *x) { x[0] = x[1] / x[2]; }\n");
    QVERIFY(compileCandidate(division).value().program.ptx.find("div.approx") == std::string::npos);
    division.allowReducedPrecision = true;
    QVERIFY(compileCandidate(division).value().program.ptx.find("div.approx") != std::string::npos);
}

void TestCompiler::anUnknownArchitectureIsNotSupported()
{
    CompileRequest old = request("extern \"C\" __global__ void k() {}\n");
    old.architecture = "sm_20";
    const auto outcome = compileCandidate(old);
    QVERIFY(!outcome.has_value());
    QVERIFY(outcome.error().code == ErrorCode::NotSupported);
    QVERIFY(outcome.error().message.find("sm_20") != std::string::npos);
    old.architecture = "sm_90 --include-path=/etc";
    QVERIFY(compileCandidate(old).error().code == ErrorCode::BadInput);
}

void TestCompiler::aCancelledCompilationSaysSo()
{
    CompileRequest cancelled = request("extern \"C\" __global__ void k(float *x) { x[0] = 1; }\n");
    cancelled.cancel.cancel();
    const auto outcome = compileCandidate(cancelled);
    if (outcome) QSKIP("this NVRTC cannot be interrupted");
    QVERIFY(outcome.error().code == ErrorCode::Cancelled);
}

void TestCompiler::missingHeadersAreNamed()
{
    QTemporaryDir empty;
    const auto found = toolkitIncludeDirectories({empty.path().toStdString()});
    QVERIFY(!found.has_value());
    QVERIFY(found.error().message.find(empty.path().toStdString()) != std::string::npos);
    QVERIFY(found.error().message.find("CUDA_HOME") != std::string::npos);
}

void TestCompiler::theCacheKeepsTheLatest()
{
    CompileCache cache(1);
    CompileRequest first = request("extern \"C\" __global__ void first() {}\n");
    const auto one = cache.compile(first);
    const auto again = cache.compile(first);
    QVERIFY(one.has_value() && again.has_value());
    QCOMPARE(one->program.ptx, again->program.ptx);
    first.macros["ROWS"] = 2;
    QVERIFY(cache.compile(first).has_value());
    QCOMPARE(cache.size(), std::size_t{1});
}

void TestCompiler::whatOnlySomeGpusHaveCompiles_data()
{
    QTest::addColumn<QString>("source");
    QTest::newRow("cluster") << clusterSource;
    QTest::newRow("cooperative grid") << cooperativeSource;
    QTest::newRow("tensor map") << tensorMapSource;
    QTest::newRow("shared memory") << sharedSource;
}

/// The sources that tests on a GPU launch are right as far as a compiler can tell.
void TestCompiler::whatOnlySomeGpusHaveCompiles()
{
    QFETCH(QString, source);
    CompileRequest compile = request("");
    compile.source = source.toStdString();
    compile.macros = {{"TILE", 32}};
    const auto outcome = compileCandidate(compile);
    QVERIFY2(outcome.has_value(), outcome ? "" : outcome.error().message.c_str());
    QVERIFY2(outcome->succeeded, outcome->program.report.log.c_str());
}

QTEST_APPLESS_MAIN(TestCompiler)
#include "test_compiler.moc"
