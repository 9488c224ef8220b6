// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/source_scan.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace kernelwright;

class TestSourceScan : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void hostReachingSourcesAreRefusedAtTheirPlace_data();
    void hostReachingSourcesAreRefusedAtTheirPlace();
    void honestSourcesPass_data();
    void honestSourcesPass();
    void aNulCharacterIsRefused();
    void aHugeSourceIsRefused();

private:
    std::vector<Diagnostic> scan(const QByteArray &source) const
    {
        return findForbiddenConstructs(source.toStdString(), {toolkit_.path().toStdString()});
    }
    QTemporaryDir toolkit_; ///< stands for the toolkit's include directory
};

void TestSourceScan::initTestCase()
{
    QFile header(toolkit_.filePath("cuda_fp16.h"));
    QVERIFY(header.open(QIODevice::WriteOnly));
}

void TestSourceScan::hostReachingSourcesAreRefusedAtTheirPlace_data()
{
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<int>("line");
    QTest::addColumn<int>("column");
    QTest::newRow("absolute path") << QByteArray("int a;\n#include \"/etc/passwd\"\n") << 2 << 10;
    QTest::newRow("absolute path in brackets") << QByteArray("#include </etc/passwd>\n") << 1 << 10;
    QTest::newRow("parent directory") << QByteArray("#include \"../secret.h\"\n") << 1 << 10;
    QTest::newRow("parent below a header folder") << QByteArray("#include <cub/../../x>\n") << 1 << 10;
    QTest::newRow("unknown header") << QByteArray("#include <stdlib.h>\n") << 1 << 10;
    QTest::newRow("spaces") << QByteArray("  #  include   \"/etc/passwd\"\n") << 1 << 16;
    QTest::newRow("digraph") << QByteArray("%:include \"/etc/passwd\"\n") << 1 << 11;
    QTest::newRow("joined lines") << QByteArray("#inc\\\nlude \"/etc/\\\npasswd\"\n") << 2 << 6;
    QTest::newRow("joined over a blank") << QByteArray("#inc\\ \nlude \"/etc/passwd\"\n") << 2 << 6;
    QTest::newRow("comment between") << QByteArray("#/*\n*/include/**/\"/etc/passwd\"\n") << 2 << 14;
    QTest::newRow("macro operand") << QByteArray("#define H \"/etc/passwd\"\n#include H\n") << 2 << 2;
    QTest::newRow("behind a raw string")
        << QByteArray("auto s = R\"x(\")x\";\n#include \"/etc/passwd\"\n") << 2 << 10;
    QTest::newRow("behind a digit separator")
        << QByteArray("int a = 1'000;\n#include \"/etc/passwd\"\n") << 2 << 10;
    QTest::newRow("behind an open quote")
        << QByteArray("#error don't\n#include \"/etc/passwd\"\n") << 2 << 10;
    QTest::newRow("include_next") << QByteArray("#include_next <cuda_fp16.h>\n") << 1 << 2;
    QTest::newRow("embed") << QByteArray("int a[] = {\n#embed \"/etc/passwd\"\n};\n") << 2 << 2;
    QTest::newRow("has_include") << QByteArray("#if defined(A) && __has_include(</etc/passwd>)\n#endif\n")
                                 << 1 << 19;
    QTest::newRow("pasted has_include")
        << QByteArray("#define P(a,b) a##b\n#if P(__has_,include)(\"/etc/passwd\")\n#endif\n") << 2 << 5;
    QTest::newRow("pasted by a header's macro")
        << QByteArray("#define A CAT(__has_,include)(\"/etc/passwd\")\n#define B A\n#if 1 + B\n#endif\n") << 3
        << 9;
    QTest::newRow("file name") << QByteArray("const char *f = __FILE__;\n") << 1 << 17;
    QTest::newRow("time") << QByteArray("int t = __TIME__[0];\n") << 1 << 9;
    QTest::newRow("line") << QByteArray("#line 7 \"other.cu\"\n") << 1 << 2;
    QTest::newRow("line marker") << QByteArray("# 7 \"other.cu\"\n") << 1 << 3;
}

void TestSourceScan::hostReachingSourcesAreRefusedAtTheirPlace()
{
    QFETCH(QByteArray, source);
    const auto found = scan(source);
    QVERIFY(!found.empty());
    QCOMPARE(found.front().severity, std::string("error"));
    QTEST(found.front().line, "line");
    QTEST(found.front().column, "column");
}

void TestSourceScan::honestSourcesPass_data()
{
    QTest::addColumn<QByteArray>("source");
    QTest::newRow("toolkit header") << QByteArray("#include <cuda_fp16.h>\n#include \"cuda_fp16.h\"\n");
    QTest::newRow("commented out") << QByteArray(
        "// #include \"/etc/passwd\"\n/*\n#include \"/etc/passwd\"\n*/\n");
    QTest::newRow("inside a string") << QByteArray("const char *s = \"__FILE__ #include\";\n");
    QTest::newRow("inside a raw string")
        << QByteArray("const char *s = R\"(\n#include \"/etc/passwd\"\n)\";\n");
    QTest::newRow("comment goes on by a splice") << QByteArray("// note \\\n#include \"/etc/passwd\"\n");
    QTest::newRow("plain conditions")
        << QByteArray("#define ROWS 4\n#if defined(ROWS) && ROWS * 2 > 7 && __CUDA_ARCH__ >= 900\n#endif\n");
    QTest::newRow("pasting outside conditions") << QByteArray("#define P(a,b) a##b\nint P(x,1);\n");
    QTest::newRow("pragma") << QByteArray("#pragma unroll 4\n");
    QTest::newRow("empty") << QByteArray();
}

void TestSourceScan::honestSourcesPass()
{
    QFETCH(QByteArray, source);
    const auto found = scan(source);
    QVERIFY2(found.empty(), found.empty() ? "" : found.front().message.c_str());
}

void TestSourceScan::aNulCharacterIsRefused()
{
    const auto found = scan(QByteArray("int a;\nab\0#include <x>", 21));
    QCOMPARE(found.size(), std::size_t{1});
    QCOMPARE(found[0].line, 2);
    QCOMPARE(found[0].column, 3);
}

void TestSourceScan::aHugeSourceIsRefused()
{
    const auto found = scan(QByteArray(int(maximumSourceBytes) + 1, ' '));
    QCOMPARE(found.size(), std::size_t{1});
    QVERIFY(found[0].message.find("at most") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestSourceScan)
#include "test_source_scan.moc"
