// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels swapped into a small model on the simulator: y = relu((x · scale + bias) · scale2 + bias2) summed
// over rows.
#include "engine/integrate/integrator.h"
#include "engine/integrate/logits.h"
#include "engine/measure/profiler.h"
#include "engine/verify/input_generator.h"
#include "graph_text.h"

#include <QTest>

#include <cmath>

using namespace kernelwright;

namespace
{

class ModelBuilder
{
public:
    explicit ModelBuilder(std::int64_t rows, std::int64_t columns)
        : type_(contiguousType(DType::Float32, {rows, columns}))
    {
        model_.path = "scales.pt2";
        model_.graph.name = "scales";
        const ValueId x = add("x", type_, ValueRole::Input);
        model_.graph.inputs = {x};
        model_.sampleInputs = {values(type_, 2.0)};
        ValueId y = x;
        for (const std::string layer : {"1", "2"}) {
            const TensorType vector = contiguousType(DType::Float32, {columns});
            const ValueId scale = add("scale" + layer, vector, ValueRole::Parameter);
            const ValueId bias = add("bias" + layer, vector, ValueRole::Parameter);
            y = node("mul" + layer, "aten::mul", "Tensor",
                     {{"self", Argument::ofValue(y)}, {"other", Argument::ofValue(scale)}});
            y = node("add" + layer, "aten::add", "Tensor",
                     {{"self", Argument::ofValue(y)},
                      {"other", Argument::ofValue(bias)},
                      {"alpha", Argument::ofInt(1)}});
            y = node("relu" + layer, "aten::relu", "", {{"self", Argument::ofValue(y)}});
        }
        model_.graph.outputs = {y};
    }
    ImportedModel take() { return std::move(model_); }

private:
    static HostTensor values(const TensorType &type, double amplitude)
    {
        HostTensor tensor = makeStridedTensor(type);
        for (std::int64_t i = 0; i < type.elementCount(); ++i)
            storeElement(tensor.data() + i * 4, DType::Float32, amplitude * std::sin(0.7 * double(i)) + 0.3);
        return tensor;
    }
    ValueId add(const std::string &name, const TensorType &type, ValueRole role)
    {
        Value value;
        value.name = name;
        value.type = type;
        value.role = role;
        if (role == ValueRole::Parameter) {
            value.target = name;
            model_.weights[name] = values(type, 1.0);
        }
        return model_.graph.addValue(value);
    }
    ValueId node(const std::string &name, const std::string &op, const std::string &overload,
                 std::vector<NamedArgument> arguments)
    {
        Node made;
        made.name = name;
        made.op = op;
        made.overload = overload;
        made.arguments = std::move(arguments);
        const ValueId output = add(name + "_out", type_, ValueRole::Intermediate);
        made.outputs = {output};
        model_.graph.addNode(std::move(made));
        return output;
    }

    TensorType type_;
    ImportedModel model_;
};

/// The kernel for mul, add, relu at the first layer, with its tensors' names as cutTask gives them.
AcceptedKernel fused(const ImportedModel &model, const std::string &value)
{
    const OperatorGraph &graph = model.graph;
    const auto task =
        cutTask(graph, {graph.findNode("mul1"), graph.findNode("add1"), graph.findNode("relu1")}, "", "");
    if (!task) qFatal("%s", task.error().message.c_str());
    const std::string x = task->inputs[0].name, scale = task->inputs[1].name, bias = task->inputs[2].name;
    const std::string y = task->outputs[0].name;
    AcceptedKernel kernel;
    kernel.taskId = task->id;
    kernel.taskTitle = "scale, bias, ReLU";
    kernel.places = {{"mul1", "add1", "relu1"}, {"mul2", "add2", "relu2"}};
    kernel.savedUs = 0.5;
    kernel.source = "//@ kernel fused grid=ceildiv(" + x +
                    "_numel,128) block=128\n"
                    "extern \"C\" __global__ void fused(const float *" +
                    x + ", const float *" + scale + ", const float *" + bias + ", float *" + y + ", int " +
                    x + "_numel, int " + x +
                    "_size1) {\n"
                    "    const int i = blockIdx.x * 128 + threadIdx.x;\n    if (i >= " +
                    x +
                    "_numel) return;\n"
                    "    const int c = i % " +
                    x + "_size1;\n    const float element = " + x + "[i], factor = " + scale +
                    "[c], offset = " + bias +
                    "[c];\n"
                    "    const float value = " +
                    value + ";\n    " + y + "[i] = value < 0 ? 0.0f : value;\n}\n";
    return kernel;
}

} // namespace

class TestIntegrator : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void aRightKernelIsSwappedInAtAllItsPlaces();
    void aWrongKernelIsTakenOut();
    void aSlowKernelIsTakenOut();
    void kernelsThatOverlapAreNotBothReplaced();
    void kernelsThatDoNotFitAreReported_data();
    void kernelsThatDoNotFitAreReported();
    void withoutKernelsNothingChanges();
    void eachInputAndEachKernelIsReported();
    void logitsAreFoundByDataFlow_data();
    void logitsAreFoundByDataFlow();
    void theLargestOfARowIsPyTorchs();
    void cancellingIsReported();
    void theProfileGathersTwinsAndRanksThem();

private:
    WholeModelReport apply(const std::vector<AcceptedKernel> &kernels)
    {
        auto report = applyKernels(model_, kernels, *device_, {});
        if (!report) qFatal("%s", report.error().message.c_str());
        return std::move(*report);
    }
    ImportedModel model_;
    std::unique_ptr<Device> device_;
};

void TestIntegrator::initTestCase()
{
    model_ = ModelBuilder(16, 256).take();
    auto device = openDevice("simt");
    QVERIFY2(device.has_value(), device ? "" : device.error().message.c_str());
    device_ = std::move(*device);
}

void TestIntegrator::aRightKernelIsSwappedInAtAllItsPlaces()
{
    const WholeModelReport report = apply({fused(model_, "element * factor + offset")});
    QCOMPARE(report.replaced.size(), std::size_t{1});
    QCOMPARE(report.replaced[0].status, std::string("replaced"));
    QCOMPARE(report.replaced[0].places, 2);
    QVERIFY(report.withinTolerance);
    QVERIFY(report.maxAbsError < 1e-5);
    QVERIFY(report.maxAbsError <= report.allowedAbsError);
    QCOMPARE(report.inputSets, 3);
    QCOMPARE(report.timeSource, std::string("model"));
    QVERIFY(report.optimizedUs < report.baselineUs);
    QVERIFY(std::fabs(report.speedupMeasured - report.baselineUs / report.optimizedUs) < 1e-9);
    QVERIFY(std::fabs(report.speedupPredicted - report.baselineUs / (report.baselineUs - 1)) < 1e-9);
}

void TestIntegrator::aWrongKernelIsTakenOut()
{
    const WholeModelReport report = apply({fused(model_, "element * factor")});
    QVERIFY2(report.replaced[0].status.find("taken out: the model's output 0[") == 0,
             report.replaced[0].status.c_str());
    QVERIFY(report.withinTolerance);
    QCOMPARE(report.optimizedUs, report.baselineUs);
}

void TestIntegrator::aSlowKernelIsTakenOut()
{
    AcceptedKernel slow = fused(model_, "element * factor + offset");
    slow.source.insert(
        slow.source.find("    const float value"),
        "    float wait = element;\n    for (int n = 0; n < 20000; ++n) wait = __fsqrt_rn(wait + 1.0f);\n");
    slow.source.insert(slow.source.rfind("}"), "    if (wait == 12345.0f) __trap();\n");
    const WholeModelReport report = apply({slow});
    QVERIFY2(report.replaced[0].status.find("taken out: the model is slower with it") == 0,
             report.replaced[0].status.c_str());
    QCOMPARE(report.speedupMeasured, 1.0);
}

void TestIntegrator::kernelsThatOverlapAreNotBothReplaced()
{
    const AcceptedKernel kernel = fused(model_, "element * factor + offset");
    const WholeModelReport report = apply({kernel, kernel});
    QCOMPARE(report.replaced[0].status, std::string("replaced"));
    QVERIFY(report.replaced[1].status.find("already computes") != std::string::npos);
}

void TestIntegrator::kernelsThatDoNotFitAreReported_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("a node that is not there") << 0;
    QTest::newRow("a source that does not compile") << 1;
    QTest::newRow("no place") << 2;
    QTest::newRow("a twin of another kind") << 3;
    QTest::newRow("a plan that is none") << 4;
}

void TestIntegrator::kernelsThatDoNotFitAreReported()
{
    QFETCH(int, kind);
    AcceptedKernel kernel = fused(model_, "element * factor + offset");
    if (kind == 0) kernel.places[0][0] = "nowhere";
    if (kind == 1) kernel.source = fused(model_, "what").source;
    if (kind == 2) kernel.places.clear();
    if (kind == 3) kernel.places[1] = {"mul2", "add2"};
    if (kind == 4) kernel.source = "nothing";
    const WholeModelReport report = apply({kernel});
    QVERIFY2(report.replaced[0].status.find("not replaced: ") == 0, report.replaced[0].status.c_str());
}

void TestIntegrator::withoutKernelsNothingChanges()
{
    const WholeModelReport report = apply({});
    QVERIFY(report.withinTolerance);
    QCOMPARE(report.maxAbsError, report.eagerMaxAbsError);
    QCOMPARE(report.speedupMeasured, 1.0);
    QCOMPARE(report.speedupPredicted, 1.0);
}

void TestIntegrator::eachInputAndEachKernelIsReported()
{
    const WholeModelReport report = apply({fused(model_, "element * factor + offset")});
    QCOMPARE(report.inputs.size(), std::size_t{3});
    double worst = 0;
    for (const InputSetReport &set : report.inputs) {
        QVERIFY(!set.name.empty());
        QCOMPARE(set.topOneAgreement, -1.0); // its output is no logits
        worst = std::max(worst, set.maxAbsError);
    }
    QCOMPARE(worst, report.maxAbsError);
    QCOMPARE(report.topOneAgreement, -1.0);
    QCOMPARE(report.replaced[0].savedPredictedUs, 1.0);
    QVERIFY(std::fabs(report.replaced[0].savedMeasuredUs - (report.baselineUs - report.optimizedUs)) < 1e-9);
    const auto read = readJson<WholeModelReport>(Json(report), "report");
    QVERIFY(read && read->inputs.size() == 3 && read->inputs[1].maxAbsError == report.inputs[1].maxAbsError);
    QCOMPARE(read->replaced[0].savedMeasuredUs, report.replaced[0].savedMeasuredUs);
}

void TestIntegrator::logitsAreFoundByDataFlow_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<bool>("isLogits");
    const QString head = "input x float32[4, 8]\nparameter w float32[50, 8]\nparameter b float32[50]\n"
                         "l = aten::linear(input=%x, weight=%w) -> float32[4, 50]\n";
    QTest::newRow("a linear layer") << head + "output l\n" << true;
    QTest::newRow("in another type, with bias, as probabilities")
        << head + "a = aten::add.Tensor(self=%l, other=%b) -> float32[4, 50]\n"
                  "s = aten::softmax.int(self=%a, dim=-1) -> float32[4, 50]\n"
                  "y = aten::to.dtype(self=%s, dtype=dtype:float16) -> float16[4, 50]\noutput y\n"
        << true;
    QTest::newRow("a product with transposed weights")
        << "input x float32[4, 8]\nparameter w float32[50, 8]\n"
           "t = aten::t(self=%w) -> float32[8, 50] strides [1, 8]\n"
           "y = aten::matmul(self=%x, other=%t) -> float32[4, 50]\noutput y\n"
        << true;
    QTest::newRow("hidden states behind a norm")
        << head + "y = aten::layer_norm(input=%l, normalized_shape=[50]) -> float32[4, 50]\noutput y\n"
        << false;
    QTest::newRow("a residual sum")
        << head + "input r float32[4, 50]\n"
                  "y = aten::add.Tensor(self=%l, other=%r) -> float32[4, 50]\noutput y\n"
        << false;
    QTest::newRow("scores of two computed tensors")
        << "input x float32[4, 8]\ninput k float32[8, 6]\n"
           "y = aten::matmul(self=%x, other=%k) -> float32[4, 6]\noutput y\n"
        << false;
    QTest::newRow("one number") << "input x float32[4, 8]\nparameter w float32[1, 8]\n"
                                   "y = aten::linear(input=%x, weight=%w) -> float32[4, 1]\noutput y\n"
                                << false;
    QTest::newRow("the input itself") << "input x float32[4, 8]\noutput x\n" << false;
}

void TestIntegrator::logitsAreFoundByDataFlow()
{
    QFETCH(QString, graph);
    QFETCH(bool, isLogits);
    QCOMPARE(findLogits(graphFromText(graph.toStdString())), std::vector<bool>{isLogits});
}

void TestIntegrator::theLargestOfARowIsPyTorchs()
{
    const double nan = std::nan("");
    QCOMPARE(largestOfRows({1, 3, 2, 5, 5, 0, 1, nan, 9}, 3), (std::vector<std::int64_t>{1, 0, 1}));
    QVERIFY(largestOfRows({1, 2}, 0).empty());
}

void TestIntegrator::cancellingIsReported()
{
    CancelToken cancel;
    cancel.cancel();
    const auto report = applyKernels(model_, {fused(model_, "element * factor + offset")}, *device_, cancel);
    QVERIFY(!report.has_value());
    QVERIFY(report.error().code == ErrorCode::Cancelled);
}

void TestIntegrator::theProfileGathersTwinsAndRanksThem()
{
    const auto profile = profileModel(model_, *device_, {});
    QVERIFY(profile.has_value());
    QCOMPARE(profile->timeSource, std::string("model"));
    QCOMPARE(profile->operators.size(), std::size_t{6});
    double sum = 0, shares = 0;
    for (const OperatorProfile &op : profile->operators) {
        QVERIFY(op.timeUs > 0 && op.floorUs > 0 && op.floorUs < op.timeUs);
        sum += op.timeUs;
        shares += op.share;
    }
    QVERIFY(std::fabs(sum - profile->totalUs) < 1e-9);
    QVERIFY(std::fabs(shares - 1) < 1e-9);
    QVERIFY(!profile->tasks.empty());
    for (std::size_t i = 1; i < profile->tasks.size(); ++i)
        QVERIFY(profile->tasks[i - 1].amdahlGain >= profile->tasks[i].amdahlGain);
    for (const SuggestedTask &task : profile->tasks)
        QVERIFY(task.amdahlGain >= 1 && task.floorUs <= task.timeUs);
}

QTEST_APPLESS_MAIN(TestIntegrator)
#include "test_integrator.moc"
