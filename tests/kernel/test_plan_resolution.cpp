// SPDX-License-Identifier: GPL-3.0-or-later
// Computing a launch plan for one shape case: values, bound parameters, and what hostile plans are told.
#include "graph_text.h"
#include "kernel/launch_plan.h"

#include <QtTest>

#include <cstring>

using namespace kernelwright;

namespace
{
/// y = x + b for x float32[6, 40] that is a slice of something 64 wide, b float16[40].
Task sampleTask()
{
    const OperatorGraph graph =
        graphFromText("input x float32[6, 40] strides [64, 1]\n"
                      "parameter layer.b float16[40]\n"
                      "y = aten::add.Tensor(self=%x, other=%layer_b) -> float32[6, 40]\n"
                      "output y\n");
    const auto task = cutTask(graph, {0}, "sum", "single");
    if (!task) qFatal("%s", task.error().message.c_str());
    return *task;
}

const std::string parameterList = "const float *x, const __half *b, float *y";

std::string sourceWith(const std::string &plan, const std::string &parameters = parameterList)
{
    return plan + "extern \"C\" __global__ void k(" + parameters + ") {}\n";
}

Result<ResolvedPlan> resolve(const std::string &source, const LaunchLimits &limits = {},
                             const std::map<std::string, std::int64_t> &tuning = {})
{
    const auto plan = parseLaunchPlan(source);
    if (!plan) return tl::unexpected<Error>(plan.error());
    const Task task = sampleTask();
    return resolveLaunchPlan(*plan, task, task.cases.front(), limits, tuning);
}

/// The value of one expression, as grid x.
Result<std::int64_t> gridOf(const std::string &expression)
{
    const auto resolved = resolve(sourceWith("//@ kernel k grid=" + expression + " block=1\n"));
    if (!resolved) return tl::unexpected<Error>(resolved.error());
    return resolved->kernels[0].grid[0];
}

template <class T>
T scalar(const BoundParameter &parameter)
{
    T value{};
    if (parameter.kind != BoundParameter::Kind::Scalar || parameter.bytes.size() != sizeof value)
        qFatal("not a scalar of %zu bytes", sizeof value);
    std::memcpy(&value, parameter.bytes.data(), sizeof value);
    return value;
}
} // namespace

class TestPlanResolution : public QObject
{
    Q_OBJECT

private slots:
    void computesExpressions_data();
    void computesExpressions();
    void refusesValuesThatAreNone_data();
    void refusesValuesThatAreNone();
    void listsTheNamesThereAre();
    void bindsPointersByName();
    void bindsScalarsInTheirOwnForm();
    void refusesScalarsThatDoNotFit_data();
    void refusesScalarsThatDoNotFit();
    void refusesParameters_data();
    void refusesParameters();
    void choosesTunables();
    void letsUseOnlyWhatStandsAbove();
    void sizesWorkspaces();
    void keepsToTheDevicesLimits_data();
    void keepsToTheDevicesLimits();
    void needsEveryOutputWritten();
    void resolvesAnotherShape();
};

void TestPlanResolution::computesExpressions_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<qint64>("value");
    const auto row = [](const char *expression, qint64 value) {
        QTest::newRow(expression) << expression << value;
    };
    row("7", 7);
    row("2+3*4", 14);
    row("(2+3)*4", 20);
    row("10-2-3", 5);
    row("-3+4", 1);
    row("64/4/2", 8);
    row("x_numel", 240);
    row("x_size0", 6);
    row("x_size1", 40);
    row("x_stride0", 64);
    row("x_stride1", 1);
    row("b_numel", 40);
    row("b_size0*2", 80);
    row("y_stride0", 40);
    row("sm_count", 1);
    row("warp_size", 32);
    row("max_threads_per_block", 1024);
    row("max_shared_bytes", 49152);
    row("min(3,2)", 2);
    row("max(3,2)", 3);
    row("min(5,4,3)", 3);
    row("max(1,9,4)", 9);
    row("ceil(2.1)", 3);
    row("floor(2.9)", 2);
    row("ceil(x_size1/32)", 2);
    row("ceildiv(40,32)", 2);
    row("ceildiv(64,32)", 2);
    row("ceildiv(1,32)", 1);
    row("ceildiv(0,32)+1", 1);
    row("ceildiv(-40,32)+2", 1);
    row("ceildiv(2147483647,1)", 2147483647);
    row("pow2ceil(40)", 64);
    row("pow2ceil(64)", 64);
    row("pow2ceil(1)", 1);
    row("pow2ceil(0)", 1);
    row("pow2ceil(-5)", 1);
    row("pow2ceil(x_size1+25)", 128);
    row("1e3", 1000);
    row("0.5*8", 4);
    row("(x_size1>32)?7:9", 7);
    row("(x_size1<32)?7:9", 9);
    row("(x_size0==6)*5", 5);
    row("min( ceildiv( x_numel , 256 ) , sm_count * 32 )", 1);
}

void TestPlanResolution::computesExpressions()
{
    QFETCH(QString, expression);
    QFETCH(qint64, value);
    const auto result = gridOf(expression.toStdString());
    QVERIFY2(result, result ? "" : result.error().message.c_str());
    QCOMPARE(*result, value);
}

void TestPlanResolution::refusesValuesThatAreNone_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *expression, const char *message) {
        QTest::newRow(expression) << expression << QString::fromUtf8(message);
    };
    row("1/0", "line 1, column 19: expected a finite number, but '1/0' divides by zero or overflows");
    row("0/0", "expected a finite number");
    row("ceildiv(4,0)", "expected a finite number");
    row("1/(x_size0-6)", "expected a finite number");
    row("1e308*10", "expected a finite number");
    row("pow2ceil(1e308*10)", "expected a finite number");
    row("min(0/0,1)*0/0", "expected a finite number");
    row("x_size1/32", "expected a whole number for grid x, but 'x_size1/32' is 1.25");
    row("0.5", "expected a whole number for grid x");
    row("0", "expected grid x from 1 to 2147483647, but '0' is 0");
    row("-1", "expected grid x from 1 to 2147483647, but '-1' is -1");
    row("x_size0-7", "expected grid x from 1 to 2147483647");
    row("2147483648", "expected grid x from 1 to 2147483647, but '2147483648' is 2147483648");
    row("1e300", "expected grid x from 1 to 2147483647");
    row("9007199254740993", "expected grid x from 1 to 2147483647");
    row("1e999", "expected");
    row("rows", "line 1, column 19: expected a known name, found 'rows'; there are ");
    row("2*rows", "line 1, column 21: expected a known name, found 'rows'");
    row("x", "expected a known name, found 'x'");
    row("x_size2", "expected a known name, found 'x_size2'");
    row("min", "expected a complete expression");
    row("2x", "expected a complete expression");
    row("threadIdx", "expected a known name, found 'threadIdx'");
}

void TestPlanResolution::refusesValuesThatAreNone()
{
    QFETCH(QString, expression);
    QFETCH(QString, message);
    const auto result = gridOf(expression.toStdString());
    QVERIFY(!result);
    const QString error = QString::fromStdString(result.error().message);
    QVERIFY2(error.contains(message), qPrintable("got: " + error));
    QVERIFY2(error.startsWith("line 1, column "), qPrintable(error));
    QVERIFY(error.size() < 1200);
}

void TestPlanResolution::listsTheNamesThereAre()
{
    const auto result = gridOf("rows");
    QVERIFY(!result);
    const QString error = QString::fromStdString(result.error().message);
    for (const char *name : {"x_numel", "x_size0…1", "x_stride0…1", "b_numel", "b_size0", "y_numel",
                             "sm_count", "warp_size", "max_threads_per_block", "max_shared_bytes"})
        QVERIFY2(error.contains(QString::fromUtf8(name)), name);
}

void TestPlanResolution::bindsPointersByName()
{
    const auto resolved = resolve(
        sourceWith("//@ workspace w bytes=64\n//@ kernel k grid=1 block=1\n",
                   "float *y, float *w, const __half *b, const float *__restrict__ x, const float *y2") +
        "");
    QVERIFY(!resolved); // y2 is nothing
    QVERIFY(resolved.error().message.find(
                "the pointer 'y2' to have the name of an input, an output or a workspace; "
                "there are b, w, x, y") != std::string::npos);

    const auto good =
        resolve(sourceWith("//@ workspace v bytes=8\n//@ workspace w bytes=64\n//@ kernel k grid=1 block=1\n",
                           "float *y, float *w, const __half *b, const float *__restrict__ x"));
    QVERIFY2(good, good ? "" : good.error().message.c_str());
    const auto &parameters = good->kernels[0].parameters;
    QCOMPARE(parameters.size(), std::size_t{4});
    QCOMPARE(parameters[0].kind, BoundParameter::Kind::Output);
    QCOMPARE(parameters[0].index, std::size_t{0});
    QCOMPARE(parameters[1].kind, BoundParameter::Kind::Workspace);
    QCOMPARE(parameters[1].index, std::size_t{1});
    QCOMPARE(parameters[2].kind, BoundParameter::Kind::Input);
    QCOMPARE(parameters[2].index, std::size_t{1});
    QCOMPARE(parameters[3].index, std::size_t{0});
}

void TestPlanResolution::bindsScalarsInTheirOwnForm()
{
    const auto resolved = resolve(sourceWith(
        "//@ let half = 0.5\n//@ let big = 4294967296\n//@ let minus = -7\n//@ let yes = 1\n//@ let c = 200\n"
        "//@ kernel k grid=1 block=1\n",
        parameterList + ", int x_size0, unsigned x_numel, long long big, std::size_t x_stride0, float half, "
                        "double x_size1,"
                        "bool yes, const int minus, unsigned char c, short b_size0, std::int64_t sm_count"));
    QVERIFY2(resolved, resolved ? "" : resolved.error().message.c_str());
    const auto &parameters = resolved->kernels[0].parameters;
    QCOMPARE(parameters.size(), std::size_t{14});
    QCOMPARE(scalar<std::int32_t>(parameters[3]), 6);
    QCOMPARE(scalar<std::uint32_t>(parameters[4]), 240U);
    QCOMPARE(scalar<std::int64_t>(parameters[5]), std::int64_t{4294967296});
    QCOMPARE(scalar<std::uint64_t>(parameters[6]), std::uint64_t{64});
    QCOMPARE(scalar<float>(parameters[7]), 0.5F);
    QCOMPARE(scalar<double>(parameters[8]), 40.0);
    QCOMPARE(scalar<std::uint8_t>(parameters[9]), std::uint8_t{1});
    QCOMPARE(scalar<std::int32_t>(parameters[10]), -7);
    QCOMPARE(scalar<std::uint8_t>(parameters[11]), std::uint8_t{200});
    QCOMPARE(scalar<std::int16_t>(parameters[12]), std::int16_t{40});
    QCOMPARE(scalar<std::int64_t>(parameters[13]), std::int64_t{1});
}

void TestPlanResolution::refusesScalarsThatDoNotFit_data()
{
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("message");
    QTest::newRow("int too large")
        << "2147483648"
        << "int"
        << "expected a whole number from -2147483648 to 2147483647 for the parameter 'int n', "
           "but its value is 2147483648";
    QTest::newRow("int too small") << "-2147483649"
                                   << "int"
                                   << "expected a whole number from -2147483648";
    QTest::newRow("unsigned negative") << "-1"
                                       << "unsigned"
                                       << "expected a whole number from 0 to 4294967295";
    QTest::newRow("unsigned too large") << "4294967296"
                                        << "unsigned int"
                                        << "expected a whole number from 0 to 4294967295";
    QTest::newRow("size_t negative") << "-1"
                                     << "size_t"
                                     << "expected a whole number from 0 to 9007199254740992";
    QTest::newRow("long long inexact") << "9007199254740994"
                                       << "long long"
                                       << "to 9007199254740992";
    QTest::newRow("char") << "128"
                          << "char"
                          << "expected a whole number from -128 to 127";
    QTest::newRow("short") << "40000"
                           << "short"
                           << "expected a whole number from -32768 to 32767";
    QTest::newRow("fraction") << "0.5"
                              << "int"
                              << "expected a whole number for the parameter 'int n', but its value is 0.5";
    QTest::newRow("bool") << "2"
                          << "bool"
                          << "expected 0 or 1 for the parameter 'bool n'";
    QTest::newRow("float overflow") << "1e39"
                                    << "float"
                                    << "expected a number that float can hold";
}

void TestPlanResolution::refusesScalarsThatDoNotFit()
{
    QFETCH(QString, value);
    QFETCH(QString, type);
    QFETCH(QString, message);
    const auto resolved =
        resolve(sourceWith("//@ let n = " + value.toStdString() + "\n//@ kernel k grid=1 block=1\n",
                           parameterList + ", " + type.toStdString() + " n"));
    QVERIFY(!resolved);
    const QString error = QString::fromStdString(resolved.error().message);
    QVERIFY2(error.contains(message), qPrintable("got: " + error));
    QVERIFY2(error.startsWith("line 3, column "), qPrintable(error));
}

void TestPlanResolution::refusesParameters_data()
{
    QTest::addColumn<QString>("parameters");
    QTest::addColumn<QString>("message");
    QTest::newRow("input not const") << "float *x, float *y"
                                     << "line 3, column 37: expected const: the input x must be const";
    QTest::newRow("weight not const") << "const float *x, __half *b, float *y"
                                      << "the input b must be const";
    QTest::newRow("unknown pointer") << "const float *z, float *y"
                                     << "there are b, x, y";
    QTest::newRow("unknown scalar") << "float *y, int rows"
                                    << "expected the parameter 'rows' to have a known name; there are ";
    QTest::newRow("tensor as scalar")
        << "float x, float *y"
        << "expected a pointer, since 'x' is a tensor or a workspace, found 'float'";
    QTest::newRow("size as pointer") << "const int *x_size0, float *y"
                                     << "expected the pointer 'x_size0'";
    QTest::newRow("tunable") << "float *y, int A"
                             << "expected no parameter called A, since this tunable is a macro";
    QTest::newRow("unknown type")
        << "float *y, dim3 x_size0"
        << "expected a parameter of type bool, int, unsigned, long long, size_t, float or double, "
           "found 'dim3'";
    QTest::newRow("half scalar") << "float *y, __half x_size0"
                                 << "found '__half'";
    QTest::newRow("long long long") << "float *y, long long long x_size0"
                                    << "found 'long long long'";
    QTest::newRow("reference") << "float *y, int &x_size0"
                               << "found 'int &'";
    QTest::newRow("pointer to pointer") << "float **y"
                                        << "expected a pointer to elements, found 'float **'";
    QTest::newRow("no parameters") << ""
                                   << "expected a kernel that takes the output 'y'";
    QTest::newRow("void") << "void"
                          << "expected a kernel that takes the output 'y'";
}

void TestPlanResolution::refusesParameters()
{
    QFETCH(QString, parameters);
    QFETCH(QString, message);
    const auto resolved =
        resolve(sourceWith("//@ tune A = 1\n//@ kernel k grid=1 block=1\n", parameters.toStdString()));
    QVERIFY(!resolved);
    QVERIFY2(QString::fromStdString(resolved.error().message).contains(message),
             resolved.error().message.c_str());
}

void TestPlanResolution::choosesTunables()
{
    const std::string source =
        sourceWith("//@ tune A = 4 8 16\n//@ tune B = 1 2\n//@ kernel k grid=A*B block=A\n");
    const auto usual = resolve(source);
    QVERIFY(usual.has_value());
    QCOMPARE(usual->macros, (std::map<std::string, std::int64_t>{{"A", 4}, {"B", 1}}));
    QCOMPARE(usual->kernels[0].grid[0], 4U);
    const auto chosen = resolve(source, {}, {{"A", 16}, {"B", 2}});
    QVERIFY(chosen.has_value());
    QCOMPARE(chosen->macros.at("A"), std::int64_t{16});
    QCOMPARE(chosen->kernels[0].grid[0], 32U);
    QCOMPARE(chosen->kernels[0].block[0], 16U);
    const auto notListed = resolve(source, {}, {{"A", 5}});
    QVERIFY(!notListed);
    QVERIFY(notListed.error().message.find(
                "line 1, column 10: expected one of the values listed for A, but 5") != std::string::npos);
    const auto unknown = resolve(source, {}, {{"C", 1}});
    QVERIFY(!unknown);
    QVERIFY(unknown.error().message.find("no tunable 'C'") != std::string::npos);
}

void TestPlanResolution::letsUseOnlyWhatStandsAbove()
{
    QVERIFY(
        resolve(sourceWith("//@ let a = 2\n//@ let b2 = a*3\n//@ kernel k grid=b2 block=1\n")).has_value());
    const auto below = resolve(sourceWith("//@ let b2 = a*3\n//@ let a = 2\n//@ kernel k grid=b2 block=1\n"));
    QVERIFY(!below);
    QVERIFY(below.error().message.find("line 1, column 14: expected a known name, found 'a'") !=
            std::string::npos);
    const auto tunableBelow =
        resolve(sourceWith("//@ let a = T\n//@ tune T = 2\n//@ kernel k grid=a block=1\n"));
    QVERIFY(!tunableBelow);
    QVERIFY(resolve(sourceWith("//@ tune T = 2\n//@ let a = T\n//@ kernel k grid=a block=1\n")).has_value());
    QVERIFY(!resolve(sourceWith("//@ let a = a\n//@ kernel k grid=a block=1\n")));
    const auto taken = resolve(sourceWith("//@ let x_size0 = 2\n//@ kernel k grid=1 block=1\n"));
    QVERIFY(!taken);
    QVERIFY(taken.error().message.find("is one of the task's or the device's") != std::string::npos);
    QVERIFY(!resolve(sourceWith("//@ let y = 2\n//@ kernel k grid=1 block=1\n")));
    QVERIFY(!resolve(sourceWith("//@ workspace x bytes=4\n//@ kernel k grid=1 block=1\n")));
    QVERIFY(!resolve(sourceWith("//@ tune sm_count = 4\n//@ kernel k grid=1 block=1\n")));
}

void TestPlanResolution::sizesWorkspaces()
{
    const auto resolved =
        resolve(sourceWith("//@ tune A = 2\n//@ workspace v bytes=x_numel*4\n//@ workspace w bytes=A\n"
                           "//@ kernel k grid=1 block=1\n"));
    QVERIFY(resolved.has_value());
    QCOMPARE(resolved->workspaces.size(), std::size_t{2});
    QCOMPARE(resolved->workspaces[0], (std::pair<std::string, std::int64_t>("v", 960)));
    QCOMPARE(resolved->workspaces[1], (std::pair<std::string, std::int64_t>("w", 2)));
    LaunchLimits limits;
    limits.maxWorkspaceBytes = 1000;
    const auto tooMuch = resolve(sourceWith("//@ workspace v bytes=600\n//@ workspace w bytes=600\n"
                                            "//@ kernel k grid=1 block=1\n"),
                                 limits);
    QVERIFY(!tooMuch);
    QVERIFY(tooMuch.error().message.find(
                "line 2, column 23: expected the bytes of workspace 'w' from 0 to 400") != std::string::npos);
    QVERIFY(!resolve(sourceWith("//@ workspace v bytes=1e18\n//@ kernel k grid=1 block=1\n")));
    QVERIFY(!resolve(sourceWith("//@ workspace v bytes=0-1\n//@ kernel k grid=1 block=1\n")));
}

void TestPlanResolution::keepsToTheDevicesLimits_data()
{
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("message");
    QTest::newRow("grid y") << "grid=(1,65536) block=1"
                            << "expected grid y from 1 to 65535, but '65536' is 65536";
    QTest::newRow("grid z") << "grid=(1,1,65536) block=1"
                            << "expected grid z from 1 to 65535";
    QTest::newRow("block x") << "grid=1 block=1025"
                             << "expected block x from 1 to 1024";
    QTest::newRow("block z") << "grid=1 block=(1,1,65)"
                             << "expected block z from 1 to 64";
    QTest::newRow("threads") << "grid=1 block=(64,32)"
                             << "expected at most 1024 threads per block, but kernel 'k' has 2048";
    QTest::newRow("shared") << "grid=1 block=1 shared=49153"
                            << "expected the bytes of shared memory from 0 to 49152, but '49153' is 49153";
}

void TestPlanResolution::keepsToTheDevicesLimits()
{
    QFETCH(QString, settings);
    QFETCH(QString, message);
    const auto resolved = resolve(sourceWith("//@ kernel k " + settings.toStdString() + "\n"));
    QVERIFY(!resolved);
    QVERIFY2(QString::fromStdString(resolved.error().message).contains(message),
             resolved.error().message.c_str());
    QCOMPARE(resolved.error().code, ErrorCode::LaunchError);
}

void TestPlanResolution::needsEveryOutputWritten()
{
    QVERIFY(!resolve(sourceWith("//@ kernel k grid=1 block=1\n", "const float *x, const float *y")));
    // A later kernel may read the output that an earlier one wrote.
    const auto two = resolve("//@ kernel a grid=1 block=1\n//@ kernel b2 grid=1 block=1\n"
                             "extern \"C\" __global__ void a(float *y) {}\n"
                             "extern \"C\" __global__ void b2(const float *y) {}\n");
    QVERIFY2(two, two ? "" : two.error().message.c_str());
    QCOMPARE(two->kernels.size(), std::size_t{2});
}

void TestPlanResolution::resolvesAnotherShape()
{
    const auto plan = parseLaunchPlan(sourceWith("//@ kernel k grid=ceildiv(x_numel,256) block=256\n"));
    QVERIFY(plan.has_value());
    const Task task = sampleTask();
    ShapeCase other = task.cases.front();
    other.inputs[0] = contiguousType(DType::Float32, {100, 40});
    other.outputs[0] = contiguousType(DType::Float32, {100, 40});
    const auto resolved = resolveLaunchPlan(*plan, task, other, {}, {});
    QVERIFY(resolved.has_value());
    QCOMPARE(resolved->kernels[0].grid[0], 16U);
    other.outputs.clear();
    QVERIFY(!resolveLaunchPlan(*plan, task, other, {}, {}));
}

QTEST_APPLESS_MAIN(TestPlanResolution)
#include "test_plan_resolution.moc"
