// SPDX-License-Identifier: GPL-3.0-or-later
// Clusters, cooperative grids, tensor maps and requirements: what launch plans say, and what hostile ones are
// told.
#include "kernel/launch_plan.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
/// y = f(x, table) for x float16[2, 6, 64] that is a slice of something 96 wide, table int64[8].
Task sampleTask()
{
    Task task;
    const TensorType x{DType::Float16, {2, 6, 64}, {6 * 96, 96, 1}, {}};
    const TensorType table = contiguousType(DType::Int64, {8});
    const TensorType y = contiguousType(DType::Float16, {2, 6, 64});
    task.inputs = {{"x", "x", x, false}, {"table", "table", table, false}};
    task.outputs = {{"y", "y", y, false}};
    task.cases = {{"captured", {x, table}, {y}, {}}};
    return task;
}

LaunchLimits richLimits()
{
    LaunchLimits limits;
    limits.maxClusterBlocks = 8;
    limits.hasTensorMaps = limits.hasCooperativeLaunch = true;
    limits.smCount = 132;
    return limits;
}

Result<ResolvedPlan> resolve(const std::string &source, const LaunchLimits &limits = richLimits(),
                             const std::map<std::string, std::int64_t> &tuning = {})
{
    const auto plan = parseLaunchPlan(source);
    if (!plan) return tl::unexpected<Error>(plan.error());
    const Task task = sampleTask();
    return resolveLaunchPlan(*plan, task, task.cases.front(), limits, tuning);
}

const std::string kernelLine = "//@ kernel k grid=8 block=32\n";

std::string sourceWith(const std::string &lines, const std::string &parameters = "const __half *x, __half *y")
{
    return lines + "extern \"C\" __global__ void k(" + parameters + ") {}\n";
}

/// A plan with one tensor map m with these settings, bound to the kernel.
std::string sourceWithMap(const std::string &settings)
{
    return sourceWith("//@ tensormap m " + settings + "\n" + kernelLine,
                      "const __grid_constant__ CUtensorMap m, __half *y");
}

std::string messageOf(const Result<ResolvedPlan> &resolved)
{
    return resolved ? "accepted" : resolved.error().message;
}
} // namespace

class TestLaunchFeatures : public QObject
{
    Q_OBJECT

private slots:
    void aClusterIsInBlocks();
    void aCooperativeGridIsAFlag();
    void aTensorMapIsLaidOutInnermostFirst();
    void aTensorMapMayViewItsTensorDifferently();
    void aWorkspaceMayHaveATensorMap();
    void anOutputMayBeWrittenThroughATensorMapAlone();
    void modIsTheRemainder();
    void aRequirementPicksCombinations();
    void refuses_data();
    void refuses();
    void whatTheDeviceLacksIsNotSupported_data();
    void whatTheDeviceLacksIsNotSupported();
};

void TestLaunchFeatures::aClusterIsInBlocks()
{
    const auto plan = resolve(sourceWith("//@ kernel k grid=(8,6) block=32 cluster=(4,2)\n"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QCOMPARE(plan->kernels[0].cluster[0], 4U);
    QCOMPARE(plan->kernels[0].cluster[1], 2U);
    QCOMPARE(plan->kernels[0].cluster[2], 1U);
    QCOMPARE(resolve(sourceWith(kernelLine))->kernels[0].cluster[0], 0U);
}

void TestLaunchFeatures::aCooperativeGridIsAFlag()
{
    const auto plan = resolve(sourceWith("//@ kernel k cooperative grid=sm_count block=32\n"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QVERIFY(plan->kernels[0].isCooperative);
    QVERIFY(!resolve(sourceWith(kernelLine))->kernels[0].isCooperative);
}

void TestLaunchFeatures::aTensorMapIsLaidOutInnermostFirst()
{
    const auto plan =
        resolve(sourceWithMap("tensor=x box=(1,2,64) swizzle=128 l2=256 oob=nan elementstrides=(1,2,1)"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QCOMPARE(plan->tensorMaps.size(), std::size_t{1});
    const TensorMapLayout &layout = plan->tensorMaps[0].layout;
    QCOMPARE(layout.type, DType::Float16);
    QCOMPARE(layout.sizes, (std::vector<std::uint64_t>{64, 6, 2}));
    QCOMPARE(layout.strideBytes, (std::vector<std::uint64_t>{192, 1152}));
    QCOMPARE(layout.box, (std::vector<std::uint32_t>{64, 2, 1}));
    QCOMPARE(layout.elementStrides, (std::vector<std::uint32_t>{1, 2, 1}));
    QCOMPARE(layout.modes.swizzleBytes, 128);
    QCOMPARE(layout.modes.l2PromotionBytes, 256);
    QVERIFY(layout.modes.fillsNan);
    QCOMPARE(plan->kernels[0].parameters[0].kind, BoundParameter::Kind::TensorMap);
    QCOMPARE(plan->kernels[0].parameters[0].index, std::size_t{0});
}

void TestLaunchFeatures::aTensorMapMayViewItsTensorDifferently()
{
    const auto plan = resolve(sourceWithMap("tensor=x size=(12,64) stride=(96,1) box=(4,32)"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QCOMPARE(plan->tensorMaps[0].layout.sizes, (std::vector<std::uint64_t>{64, 12}));
    QCOMPARE(plan->tensorMaps[0].layout.strideBytes, (std::vector<std::uint64_t>{192}));
}

void TestLaunchFeatures::aWorkspaceMayHaveATensorMap()
{
    const auto plan = resolve(sourceWith("//@ workspace w bytes=4096\n"
                                         "//@ tensormap m tensor=w type=float32 size=(32,32) box=(8,8)\n" +
                                             kernelLine,
                                         "const __grid_constant__ CUtensorMap m, __half *y"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QCOMPARE(plan->tensorMaps[0].kind, BoundParameter::Kind::Workspace);
    QCOMPARE(plan->tensorMaps[0].layout.strideBytes, (std::vector<std::uint64_t>{128}));
}

void TestLaunchFeatures::anOutputMayBeWrittenThroughATensorMapAlone()
{
    const auto plan = resolve(sourceWith("//@ tensormap m tensor=y box=(1,1,64)\n" + kernelLine,
                                         "const __half *x, const __grid_constant__ CUtensorMap m"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
}

void TestLaunchFeatures::modIsTheRemainder()
{
    const auto plan = resolve(sourceWith("//@ kernel k grid=(mod(11,4),mod(-1,4),mod(8,4)+1) block=32\n"));
    QVERIFY2(plan.has_value(), messageOf(plan).c_str());
    QCOMPARE(plan->kernels[0].grid[0], 3U);
    QCOMPARE(plan->kernels[0].grid[1], 3U);
    QCOMPARE(plan->kernels[0].grid[2], 1U);
}

void TestLaunchFeatures::aRequirementPicksCombinations()
{
    const std::string source = sourceWith("//@ tune ROWS = 2 4 8\n"
                                          "//@ require mod(x_size1, ROWS) == 0 && ROWS < 8\n" +
                                          kernelLine);
    QVERIFY(resolve(source).has_value());
    const auto refused = resolve(source, richLimits(), {{"ROWS", 4}});
    QCOMPARE(messageOf(refused),
             std::string("line 2, column 13: expected 'mod(x_size1, ROWS) == 0 && ROWS < 8' to "
                         "hold, but it does not with ROWS = 4 and these shapes"));
}

void TestLaunchFeatures::refuses_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *name, const std::string &source, const char *message) {
        QTest::newRow(name) << QString::fromStdString(source) << message;
    };
    const auto kernel = [](const std::string &settings) {
        return sourceWith("//@ kernel k grid=8 block=32 " + settings + "\n");
    };
    row("cluster of nothing", kernel("cluster=0"), "line 1, column 38: expected a size of the cluster");
    row("cluster too large", kernel("cluster=(8,2)"), "line 1, column 41: expected grid y to be a multiple");
    row("more blocks than a cluster has", sourceWith("//@ kernel k grid=(8,8) block=32 cluster=(8,8)\n"),
        "line 1, column 43: expected at most 8 blocks in a cluster");
    row("grid does not divide", kernel("cluster=3"),
        "line 1, column 38: expected grid x to be a multiple of the");
    row("cluster twice", kernel("cluster=1 cluster=2"), "line 1, column 40: expected cluster= only once");
    row("four sizes", kernel("cluster=(1,1,1,1)"), "expected one to three expressions for cluster=");
    row("cooperative with a value", kernel("cooperative=1"), "line 1, column 41: expected grid=, block=");
    row("cooperative twice", kernel("cooperative cooperative"), "expected cooperative only once");
    row("require nothing", sourceWith("//@ require\n" + kernelLine),
        "line 1, column 12: expected an expression");
    row("require half a thing", sourceWith("//@ require (1 <\n" + kernelLine), "line 1, column");
    row("require an unknown name", sourceWith("//@ require nothing > 1\n" + kernelLine),
        "line 1, column 13: expected a known name");

    row("map without a box", sourceWithMap("tensor=x"), "expected box=… for this tensor map");
    row("map without a tensor", sourceWithMap("box=(1,1,8)"), "expected tensor=… for this tensor map");
    row("map of nothing known", sourceWithMap("tensor=z box=(1,1,8)"),
        "line 1, column 24: expected the name of an input, an output or a workspace, found 'z'; there are");
    row("unknown setting", sourceWithMap("tensor=x box=(1,1,8) colour=red"), "found 'colour'");
    row("unknown swizzle", sourceWithMap("tensor=x box=(1,1,8) swizzle=48"),
        "line 1, column 46: expected one of none, 32, 64, 128 for swizzle=, found '48'");
    row("box of other dimensions", sourceWithMap("tensor=x box=(8,8)"), "expected a box with 3 sizes");
    row("six dimensions", sourceWithMap("tensor=x box=(1,1,1,1,1,8)"),
        "expected one to five expressions for box=");
    row("box too large", sourceWithMap("tensor=x box=(1,257,8)"),
        "line 1, column 33: expected a size of the box");
    row("box of a fraction", sourceWithMap("tensor=x box=(1,1,7.5)"), "expected a whole number for a size of the box");
    row("box of odd bytes", sourceWithMap("tensor=x box=(1,1,4)"), "a multiple of 16 bytes, but it is 8");
    row("box wider than the swizzle", sourceWithMap("tensor=x box=(1,1,64) swizzle=64"),
        "at most the 64 bytes of swizzle=, but it is 128");
    row("interleave without swizzle", sourceWithMap("tensor=x box=(1,1,8) interleave=32"),
        "expected swizzle=32");
    row("interleave of a matrix", sourceWithMap("tensor=x size=(2,64) box=(1,8) interleave=16"),
        "expected at least 3 dimensions with interleave=");
    row("NaN among integers", sourceWithMap("tensor=table box=8 oob=nan"), "expected oob=zero");
    row("beyond the tensor", sourceWithMap("tensor=x size=(13,64) stride=(96,1) box=(1,8)"),
        "line 1, column 32: expected the tensor map to stay within 'x', which has 1120 elements");
    row("far beyond the tensor",
        sourceWithMap(
            "tensor=x size=(4294967296,4294967296,64) stride=(8000000000,8000000000,1) box=(1,1,8)"),
        "expected the tensor map to stay within 'x'");
    row("stride of odd bytes", sourceWithMap("tensor=x size=(2,8) stride=(4,1) box=(1,8)"),
        "multiples of 16 bytes");
    row("innermost stride", sourceWithMap("tensor=x size=(2,8) stride=(96,2) box=(1,8)"),
        "expected the innermost stride to be 1, but it is 2");
    row("stride without size", sourceWithMap("tensor=x stride=(96,1) box=(1,8)"),
        "expected size= beside stride=");
    row("element strides too large", sourceWithMap("tensor=x box=(1,1,8) elementstrides=(9,1,1)"),
        "expected an element stride");
    row("type of another width", sourceWithMap("tensor=x type=float32 box=(1,1,8)"), "as wide as float16");
    row("workspace without type",
        sourceWith("//@ workspace w bytes=64\n//@ tensormap m tensor=w size=8 box=8\n" + kernelLine),
        "line 2, column 24: expected type= for a workspace");
    row("map passed as a pointer",
        sourceWith("//@ tensormap m tensor=x box=(1,1,8)\n" + kernelLine, "const int *m, __half *y"),
        "expected 'const __grid_constant__ CUtensorMap m'");
    row("map passed as an ordinary value",
        sourceWith("//@ tensormap m tensor=x box=(1,1,8)\n" + kernelLine, "const CUtensorMap m, __half *y"),
        "expected 'const __grid_constant__ CUtensorMap m'");
    row("map named like a tensor", sourceWith("//@ tensormap x tensor=x box=(1,1,8)\n" + kernelLine),
        "line 1, column 15: expected a new name");
}

void TestLaunchFeatures::refuses()
{
    QFETCH(QString, source);
    QFETCH(QString, message);
    const auto resolved = resolve(source.toStdString());
    QVERIFY2(messageOf(resolved).find(message.toStdString()) != std::string::npos,
             messageOf(resolved).c_str());
}

void TestLaunchFeatures::whatTheDeviceLacksIsNotSupported_data()
{
    QTest::addColumn<QString>("source");
    QTest::newRow("clusters") << QString::fromStdString(
        sourceWith("//@ kernel k grid=8 block=32 cluster=2\n"));
    QTest::newRow("cooperative grids")
        << QString::fromStdString(sourceWith("//@ kernel k grid=8 block=32 cooperative\n"));
    QTest::newRow("tensor maps") << QString::fromStdString(sourceWithMap("tensor=x box=(1,1,8)"));
}

void TestLaunchFeatures::whatTheDeviceLacksIsNotSupported()
{
    QFETCH(QString, source);
    const auto resolved = resolve(source.toStdString(), LaunchLimits());
    QVERIFY(!resolved);
    QCOMPARE(resolved.error().code, ErrorCode::NotSupported);
    QVERIFY(resolved.error().message.starts_with("line 1, column"));
}

QTEST_APPLESS_MAIN(TestLaunchFeatures)
#include "test_launch_features.moc"
