// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a launch plan: what the grammar allows, and the place and wish of every error.
#include "kernel/launch_plan.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
const std::string kernelText = "extern \"C\" __global__ void k(const float *x, float *y) {}\n";
const std::string kernelLine = "//@ kernel k grid=1 block=32\n";

std::string parseError(const std::string &source)
{
    const auto plan = parseLaunchPlan(source);
    return plan ? "no error" : plan.error().message;
}
} // namespace

class TestLaunchPlan : public QObject
{
    Q_OBJECT

private slots:
    void readsEveryDirective();
    void keepsPositionsOfExpressions();
    void readsTuplesAndPlainExpressions_data();
    void readsTuplesAndPlainExpressions();
    void acceptsCommentsAroundThePlan();
    void readsTheSameKernelTwice();
    void saysWhereAndWhatWasExpected_data();
    void saysWhereAndWhatWasExpected();
    void findsKernels_data();
    void findsKernels();
    void doesNotFindKernels_data();
    void doesNotFindKernels();
    void readsParameters_data();
    void readsParameters();
    void boundsWhatItReads();
    void survivesEveryTruncation();
};

void TestLaunchPlan::readsEveryDirective()
{
    const auto plan =
        parseLaunchPlan("//@ let rows = x_numel/x_size1\n"
                        "//@ tune ROWS = 4 1 2 8\n"
                        "//@ workspace partial bytes=4*rows\n"
                        "//@ kernel first grid=ceildiv(rows,ROWS) block=(32,ROWS) shared=128*4\n"
                        "//@ kernel second grid=(1,rows,2) block=256\n"
                        "//@ schedule tactic=two_pass version=3\n"
                        "//@ schedule note=a=b\n"
                        "extern \"C\" __global__ void first(float *partial) {}\n"
                        "extern \"C\" __global__ void second(float *y, int rows) {}\n");
    QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
    QCOMPARE(plan->lets.size(), std::size_t{1});
    QCOMPARE(plan->lets[0].first, std::string("rows"));
    QCOMPARE(plan->lets[0].second.text, std::string("x_numel/x_size1"));
    QCOMPARE(plan->tunables.size(), std::size_t{1});
    QCOMPARE(plan->tunables[0].values, (std::vector<std::int64_t>{4, 1, 2, 8}));
    QCOMPARE(plan->workspaces.size(), std::size_t{1});
    QCOMPARE(plan->workspaces[0].second.text, std::string("4*rows"));
    QCOMPARE(plan->kernels.size(), std::size_t{2});
    QCOMPARE(plan->kernels[0].name, std::string("first"));
    QCOMPARE(plan->kernels[0].grid[0].text, std::string("ceildiv(rows,ROWS)"));
    QCOMPARE(plan->kernels[0].grid[1].text, std::string("1"));
    QCOMPARE(plan->kernels[0].block[1].text, std::string("ROWS"));
    QCOMPARE(plan->kernels[0].block[2].text, std::string("1"));
    QCOMPARE(plan->kernels[0].shared.text, std::string("128*4"));
    QCOMPARE(plan->kernels[1].grid[2].text, std::string("2"));
    QCOMPARE(plan->kernels[1].shared.text, std::string("0"));
    QCOMPARE(plan->kernels[1].parameters.size(), std::size_t{2});
    QCOMPARE(plan->schedule.size(), std::size_t{3});
    QCOMPARE(plan->schedule.at("tactic"), std::string("two_pass"));
    QCOMPARE(plan->schedule.at("note"), std::string("a=b"));
}

void TestLaunchPlan::keepsPositionsOfExpressions()
{
    const auto plan = parseLaunchPlan("\n   //@ kernel k grid=(1, 22,3) block=64\n" + kernelText);
    QVERIFY(plan.has_value());
    const PlannedKernel &kernel = plan->kernels[0];
    QCOMPARE(kernel.position.line, 2);
    QCOMPARE(kernel.position.column, 15);
    QCOMPARE(kernel.grid[0].position.column, 23);
    QCOMPARE(kernel.grid[1].position.column, 26);
    QCOMPARE(kernel.grid[1].text, std::string("22"));
    QCOMPARE(kernel.grid[2].position.column, 29);
    QCOMPARE(kernel.block[0].position.line, 2);
}

void TestLaunchPlan::readsTuplesAndPlainExpressions_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("parts");
    QTest::newRow("number") << "7" << QStringList{"7", "1", "1"};
    QTest::newRow("one in parentheses") << "(7)" << QStringList{"(7)", "1", "1"};
    QTest::newRow("sum times") << "(a+b)*c" << QStringList{"(a+b)*c", "1", "1"};
    QTest::newRow("two groups") << "(a+b)*(c+d)" << QStringList{"(a+b)*(c+d)", "1", "1"};
    QTest::newRow("pair") << "(a,b)" << QStringList{"a", "b", "1"};
    QTest::newRow("three") << "(a,b,c)" << QStringList{"a", "b", "c"};
    QTest::newRow("calls inside") << "(ceildiv(a,b),min(c,d))"
                                  << QStringList{"ceildiv(a,b)", "min(c,d)", "1"};
    QTest::newRow("call alone") << "ceildiv(a,b)" << QStringList{"ceildiv(a,b)", "1", "1"};
    QTest::newRow("spaces inside") << "(ceildiv(a, 2), max(b, 3))"
                                   << QStringList{"ceildiv(a, 2)", "max(b, 3)", "1"};
    QTest::newRow("call with spaces") << "ceildiv( a , b )" << QStringList{"ceildiv( a , b )", "1", "1"};
}

void TestLaunchPlan::readsTuplesAndPlainExpressions()
{
    QFETCH(QString, text);
    QFETCH(QStringList, parts);
    const auto plan = parseLaunchPlan("//@ kernel k grid=" + text.toStdString() + " block=1\n" + kernelText);
    QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
    for (int i = 0; i < 3; ++i)
        QCOMPARE(QString::fromStdString(plan->kernels[0].grid[i].text).trimmed(), parts[i]);
}

void TestLaunchPlan::acceptsCommentsAroundThePlan()
{
    const auto plan = parseLaunchPlan("// A title.\r\n/* a licence\n   over lines */\n\n" + kernelLine +
                                      "// Why it is so.\n//@ tune A = 1\r\n" + kernelText);
    QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
    QCOMPARE(plan->tunables.size(), std::size_t{1});
}

void TestLaunchPlan::readsTheSameKernelTwice()
{
    const auto plan = parseLaunchPlan(kernelLine + kernelLine + kernelText);
    QVERIFY(plan.has_value());
    QCOMPARE(plan->kernels.size(), std::size_t{2});
}

void TestLaunchPlan::saysWhereAndWhatWasExpected_data()
{
    QTest::addColumn<QString>("plan");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *name, const char *plan, const char *message) {
        QTest::newRow(name) << QString::fromUtf8(plan) << QString::fromUtf8(message);
    };
    row("nothing behind the mark", "//@",
        "line 1, column 4: expected let, tune, require, workspace, tensormap, kernel or schedule");
    row("unknown directive", "//@ launch k",
        "line 1, column 5: expected let, tune, require, workspace, tensormap, kernel or schedule, found "
        "'launch'");
    row("number as directive", "//@ 12",
        "line 1, column 5: expected let, tune, require, workspace, tensormap, kernel or schedule, found "
        "'12'");
    row("let without name", "//@ let = 3", "line 1, column 9: expected a name behind let, found '='");
    row("let without equals", "//@ let a 3", "line 1, column 11: expected '=' behind the name");
    row("let without expression", "//@ let a =", "line 1, column 12: expected an expression behind '='");
    row("let with spaces", "//@ let a = 1 + 2", "line 1, column 15: expected the end of the line, found '+'");
    row("let twice", "//@ let a = 1\n//@ let a = 2",
        "line 2, column 9: expected a new name, but 'a' is defined above");
    row("let and tune", "//@ let a = 1\n//@ tune a = 2",
        "line 2, column 10: expected a new name, but 'a' is defined above");
    row("let called as a function", "//@ let min = 1",
        "line 1, column 9: expected a new name, but min is a function");
    row("tune without values",
        "//@ tune A =", "line 1, column 13: expected at least one whole number behind '='");
    row("tune with a fraction", "//@ tune A = 1 2.5",
        "line 1, column 16: expected a whole number, found '2.5'");
    row("tune with a name", "//@ tune A = x", "line 1, column 14: expected a whole number, found 'x'");
    row("tune too large", "//@ tune A = 99999999999999999999",
        "line 1, column 14: expected a whole number, found '99999999999999999999'");
    row("tune with a value twice", "//@ tune A = 1 2 1",
        "line 1, column 18: expected each value once, found 1 again");
    row("workspace without bytes", "//@ workspace w 12",
        "line 1, column 17: expected bytes=EXPRESSION behind the name");
    row("workspace with another key", "//@ workspace w size=12",
        "line 1, column 17: expected bytes=EXPRESSION, found 'size'");
    row("workspace without equals", "//@ workspace w bytes", "line 1, column 22: expected '=' behind bytes");
    row("kernel without name", "//@ kernel", "line 1, column 11: expected the name of a kernel");
    row("kernel without grid", "//@ kernel k block=1", "line 1, column 21: expected grid=… for kernel 'k'");
    row("kernel without block", "//@ kernel k grid=1", "line 1, column 20: expected block=… for kernel 'k'");
    row("kernel with a wrong key", "//@ kernel k grid=1 threads=3",
        "line 1, column 21: expected grid=, block=, cluster=, shared= or cooperative, found 'threads'");
    row("grid twice", "//@ kernel k grid=1 grid=2", "line 1, column 21: expected grid= only once");
    row("grid of four", "//@ kernel k grid=(1,2,3,4) block=1",
        "line 1, column 19: expected one to three expressions for grid=");
    row("shared of two", "//@ kernel k grid=1 block=1 shared=(1,2)",
        "line 1, column 36: expected one expression for shared=");
    row("parenthesis not closed", "//@ kernel k grid=ceil(3 block=1", "line 1, column 33: expected a ')'");
    row("parenthesis too many", "//@ kernel k grid=3) block=1",
        "line 1, column 20: expected a '(' before this ')'");
    row("empty part", "//@ kernel k grid=(1,) block=1", "line 1, column 22: expected a complete expression");
    row("operator at the end", "//@ let a = 3*", "expected a complete expression, but '3*' is not one");
    row("two operators", "//@ let a = 3*/2", "expected a complete expression");
    row("two expressions", "//@ let a = 1,2", "line 1, column 13: expected one expression, found 2");
    row("assignment", "//@ let a = b=2",
        "line 1, column 14: expected an expression, which cannot assign with '='");
    row("string", "//@ let a = \"x\"", "line 1, column 13: expected a number, a name or one of + - * / ( )");
    row("semicolon", "//@ let a = 1;", "line 1, column 14: expected a number, a name or one of + - * / ( )");
    row("function unknown", "//@ let a = sqrt(4)", "expected a complete expression");
    row("too many arguments", "//@ let a = ceil(1,2)", "expected a complete expression");
    row("too few arguments", "//@ let a = ceildiv(1)", "expected a complete expression");
    row("schedule without equals", "//@ schedule fast", "line 1, column 18: expected '=' behind 'fast'");
    row("schedule key twice", "//@ schedule a=1 a=2",
        "line 1, column 18: expected each key once, found 'a' again");
    row("no kernel at all", "//@ let a = 1",
        "line 1, column 1: expected a launch plan with at least one line");
    row("empty file", "", "line 1, column 1: expected a launch plan with at least one line");
    row("plan behind code", "#include <x>\n//@ let a = 1",
        "line 2, column 1: expected no launch plan behind the first line of code");
    row("kernel not in the source", "//@ kernel other grid=1 block=1",
        "line 1, column 12: expected a kernel extern \"C\" __global__ void other(…) in the source; there "
        "are: k");
    row("control characters", "//@ \x01\x02",
        "line 1, column 5: expected let, tune, require, workspace, tensormap, kernel or schedule, found '?"
        "?'");
}

void TestLaunchPlan::saysWhereAndWhatWasExpected()
{
    QFETCH(QString, plan);
    QFETCH(QString, message);
    const QString error = QString::fromStdString(parseError(plan.toStdString() + "\n" + kernelText));
    QVERIFY2(error.contains(message), qPrintable("got: " + error));
    QVERIFY2(error.startsWith("line "), qPrintable(error));
    QVERIFY2(error.contains(": expected "), qPrintable(error));
}

void TestLaunchPlan::findsKernels_data()
{
    QTest::addColumn<QString>("source");
    QTest::newRow("plain") << R"(extern "C" __global__ void k(float *y) {})";
    QTest::newRow("launch bounds behind void")
        << R"(extern "C" __global__ void __launch_bounds__(256, 2) k(float *y) {})";
    QTest::newRow("launch bounds in front")
        << R"(extern "C" __global__ __launch_bounds__((1 << 8)) void k(float *y) {})";
    QTest::newRow("cluster dims") << R"(extern "C" __global__ void __cluster_dims__(2, 1, 1) k(float *y) {})";
    QTest::newRow("over lines") << "extern \"C\"\n__global__\nvoid\nk(\nfloat *y\n)\n{}";
    QTest::newRow("a block of C")
        << R"(extern "C" { __device__ int f() { return 1; } __global__ void k(float *y) {} })";
    QTest::newRow("comments between") << "extern \"C\" /* k(int) */ __global__ void // k(\nk(float *y) {}";
    QTest::newRow("behind a string that looks like one")
        << R"y(__device__ const char *s = "extern \"C\" __global__ void k(int z)"; extern "C" __global__ void k(float *y) {})y";
    QTest::newRow("behind a raw string")
        << R"x(__device__ const char *s = R"(extern "C" __global__ void k(int z))"; extern "C" __global__ void k(float *y) {})x";
    QTest::newRow("behind a macro") << "#define K extern \"C\" __global__ \\\n void k(int z)\nextern \"C\" "
                                       "__global__ void k(float *y) {}";
    QTest::newRow("behind templates")
        << R"(template <class T> __device__ T f(T a) { return a; } struct S { int a; }; extern "C" __global__ void k(float *y) {})";
    QTest::newRow("behind another kernel")
        << R"(extern "C" __global__ void other(int n) { if (n) { } } extern "C" __global__ void k(float *y) {})";
    QTest::newRow("declared before") << R"(extern "C" __global__ void k(float *); )";
    QTest::newRow("a line joined on") << "extern \"C\" __glo\\\nbal__ void k(float *y) {}";
    QTest::newRow("digit separators")
        << "constexpr int n = 1'000'000; extern \"C\" __global__ void k(float *y) {}";
}

void TestLaunchPlan::findsKernels()
{
    QFETCH(QString, source);
    std::string text = source.toStdString();
    if (std::string(QTest::currentDataTag()) == "declared before")
        text = "extern \"C\" __global__ void k(float *); extern \"C\" __global__ void k(float *y) {}";
    const auto plan = parseLaunchPlan(kernelLine + text);
    QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
    QCOMPARE(plan->kernels[0].parameters.size(), std::size_t{1});
    QCOMPARE(plan->kernels[0].parameters[0].name, std::string("y"));
}

void TestLaunchPlan::doesNotFindKernels_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("message");
    QTest::newRow("none") << ""
                          << "line 1, column 12: expected a kernel extern";
    QTest::newRow("only in a comment") << "// extern \"C\" __global__ void k(float *y) {}"
                                       << "there is none";
    QTest::newRow("only in a string") << R"(const char *s = "extern \"C\" __global__ void k(float *y) {}";)"
                                      << "there is none";
    QTest::newRow("only in a macro") << "#define A extern \"C\" __global__ void k(float *y)"
                                     << "there is none";
    QTest::newRow("a function that is no kernel") << "extern \"C\" __device__ void k(float *y) {}"
                                                  << "there is none";
    QTest::newRow("another name") << "extern \"C\" __global__ void kk(float *y) {}"
                                  << "there are: kk";
    QTest::newRow("without C linkage")
        << "__global__ void k(float *y) {}"
        << "line 2, column 17: expected extern \"C\" in front of the kernel 'k'";
    QTest::newRow("parameters not closed")
        << "extern \"C\" __global__ void k(float *y"
        << "line 2, column 28: expected a ')' at the end of the parameters of 'k'";
    QTest::newRow("parameter without a name")
        << "extern \"C\" __global__ void k(float *y, int) {}"
        << "line 2, column 40: expected a parameter's type and its name";
    QTest::newRow("empty parameter") << "extern \"C\" __global__ void k(float *y,) {}"
                                     << "expected a parameter's type and its name";
    QTest::newRow("nothing behind __global__")
        << "extern \"C\" __global__ ;"
        << "expected the name of a kernel and its parameters behind __global__";
}

void TestLaunchPlan::doesNotFindKernels()
{
    QFETCH(QString, source);
    QFETCH(QString, message);
    const QString error = QString::fromStdString(parseError(kernelLine + source.toStdString()));
    QVERIFY2(error.contains(message), qPrintable("got: " + error));
}

void TestLaunchPlan::readsParameters_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("type");
    QTest::addColumn<bool>("isPointer");
    QTest::addColumn<bool>("isConst");
    QTest::newRow("int") << "int n"
                         << "n"
                         << "int" << false << false;
    QTest::newRow("const int") << "const int n"
                               << "n"
                               << "const int" << false << false;
    QTest::newRow("unsigned long long") << "unsigned long long n"
                                        << "n"
                                        << "unsigned long long" << false << false;
    QTest::newRow("std::size_t") << "std::size_t n"
                                 << "n"
                                 << "std::size_t" << false << false;
    QTest::newRow("pointer") << "float *x"
                             << "x"
                             << "float *" << true << false;
    QTest::newRow("star at the type") << "float* x"
                                      << "x"
                                      << "float *" << true << false;
    QTest::newRow("const pointer") << "const float *x"
                                   << "x"
                                   << "const float *" << true << true;
    QTest::newRow("const behind") << "float const *x"
                                  << "x"
                                  << "float const *" << true << true;
    QTest::newRow("restrict") << "const __half *__restrict__ x"
                              << "x"
                              << "const __half *" << true << true;
    QTest::newRow("the pointer itself const") << "float *const x"
                                              << "x"
                                              << "float *" << true << false;
    QTest::newRow("array") << "const float x[]"
                           << "x"
                           << "const float *" << true << true;
    QTest::newRow("array with a size") << "float x[32]"
                                       << "x"
                                       << "float *" << true << false;
    QTest::newRow("pointer to pointer") << "float **x"
                                        << "x"
                                        << "float **" << true << false;
    QTest::newRow("template") << "const vec<float, 4> *x"
                              << "x"
                              << "const vec<float, 4> *" << true << true;
}

void TestLaunchPlan::readsParameters()
{
    QFETCH(QString, text);
    QFETCH(QString, name);
    QFETCH(QString, type);
    QFETCH(bool, isPointer);
    QFETCH(bool, isConst);
    const auto plan = parseLaunchPlan(kernelLine + "extern \"C\" __global__ void k(int first, " +
                                      text.toStdString() + ", int last) {}");
    QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
    QCOMPARE(plan->kernels[0].parameters.size(), std::size_t{3});
    const KernelParameter &parameter = plan->kernels[0].parameters[1];
    QCOMPARE(QString::fromStdString(parameter.name), name);
    QCOMPARE(QString::fromStdString(parameter.type), type);
    QCOMPARE(parameter.isPointer, isPointer);
    QCOMPARE(parameter.isConstPointer, isConst);
    QCOMPARE(parameter.position.line, 2);
    QVERIFY(parameter.position.column > 40);
}

void TestLaunchPlan::boundsWhatItReads()
{
    std::string many;
    for (int i = 0; i < 300; ++i)
        many += "//@ let a" + std::to_string(i) + " = 1\n";
    QVERIFY(parseError(many + kernelLine + kernelText).find("at most 256 lines") != std::string::npos);

    std::string values;
    for (int i = 0; i < 70; ++i)
        values += " " + std::to_string(i);
    QVERIFY(parseError("//@ tune A =" + values + "\n" + kernelLine + kernelText).find("at most 64 values") !=
            std::string::npos);

    std::string sum = "1";
    for (int i = 0; i < 2000; ++i)
        sum += "+1";
    QVERIFY(
        parseError("//@ let a = " + sum + "\n" + kernelLine + kernelText).find("at most 2000 characters") !=
        std::string::npos);

    const std::string deep = std::string(500, '(') + "1" + std::string(500, ')');
    QVERIFY(
        parseError("//@ let a = " + deep + "\n" + kernelLine + kernelText).find("at most 64 parentheses") !=
        std::string::npos);

    const std::string longName(5000, 'n');
    const std::string error = parseError("//@ let " + longName + " = 1\n" + kernelLine + kernelText);
    QVERIFY(error.find("at most 128 characters") != std::string::npos);
    QVERIFY(error.size() < 300);

    QVERIFY(parseError("//@ " + std::string(100000, 'z')).size() < 300);
    QVERIFY(parseError(std::string(std::size_t{5} << 20, ' ')).find("at most 4 MiB") != std::string::npos);
}

void TestLaunchPlan::survivesEveryTruncation()
{
    const std::string whole =
        "//@ let rows = (x_numel / x_size1)\n//@ tune ROWS = 4 1\n//@ workspace w bytes=4*rows\n" +
        std::string("//@ kernel k grid=(ceildiv(rows, ROWS),1) block=(32,ROWS) shared=4\n") +
        "extern \"C\" __global__ void __launch_bounds__(1) k(const float *x, float y[]) {}\n";
    QVERIFY(parseLaunchPlan(whole).has_value());
    int failures = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto plan = parseLaunchPlan(whole.substr(0, length));
        if (plan) continue;
        ++failures;
        QVERIFY2(plan.error().message.starts_with("line "), plan.error().message.c_str());
    }
    QVERIFY(failures > 200);
}

QTEST_APPLESS_MAIN(TestLaunchPlan)
#include "test_launch_plan.moc"
