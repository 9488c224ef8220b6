// SPDX-License-Identifier: GPL-3.0-or-later
// Guessed shape cases: which sizes change, that layouts and shape constants follow, and that they stay
// bounded.
#include "graph_text.h"
#include "kernel/shape_substitution.h"
#include "kernel/task.h"

#include <QtTest>

#include <set>

using namespace kernelwright;

namespace
{
constexpr std::int64_t plenty = std::int64_t{1} << 22;

Task taskOf(const std::string &text)
{
    const OperatorGraph graph = graphFromText(text);
    std::vector<NodeId> all;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        all.push_back(static_cast<NodeId>(i));
    const auto task = cutTask(graph, all, "title", "kind");
    if (!task) qFatal("%s", task.error().message.c_str());
    return *task;
}

QStringList namesOf(const std::vector<ShapeCase> &cases)
{
    QStringList names;
    for (const ShapeCase &shapes : cases)
        names << QString::fromStdString(shapes.name);
    return names;
}

const ShapeCase &named(const std::vector<ShapeCase> &cases, const std::string &name)
{
    for (const ShapeCase &shapes : cases)
        if (shapes.name == name) return shapes;
    qFatal("no case '%s' among: %s", name.c_str(), qPrintable(namesOf(cases).join(", ")));
}

std::vector<std::int64_t> integersOf(const OperatorGraph &graph, const std::string &node,
                                     const std::string &argument)
{
    const Argument *found = findArgument(graph.node(graph.findNode(node)), argument);
    if (found == nullptr) qFatal("no argument %s of %s", argument.c_str(), node.c_str());
    if (found->kind == Argument::Kind::Int) return {found->integer};
    std::vector<std::int64_t> integers;
    for (const Argument &item : found->items)
        integers.push_back(item.integer);
    return integers;
}

using Sizes = std::vector<std::int64_t>;
} // namespace

class TestShapeCases : public QObject
{
    Q_OBJECT

private slots:
    void variesOneSizeAtATime();
    void weightsFollowTheirSize();
    void leavesOnesAlone();
    void keepsLayouts_data();
    void keepsLayouts();
    void viewsFollow_data();
    void viewsFollow();
    void slicesFollowInProportion();
    void splitsAndNormalizedShapesFollow();
    void typesInBetweenFollow();
    void staysWithinItsBounds();
    void shrinksAnotherSizeWhereOneIsTooMuch();
    void givesNoCaseTwice();
    void tasksWithoutInputsHaveNone();
};

void TestShapeCases::variesOneSizeAtATime()
{
    const auto cases = guessShapeCases(taskOf("input x float32[64, 512]\ny = aten::softmax.int(self=%x, "
                                              "dim=-1) -> float32[64, 512]\noutput y\n"),
                                       plenty);
    QCOMPARE(cases.size(), std::size_t{8});
    QCOMPARE(namesOf(cases).first(), QString("cols 127"));
    for (const char *name :
         {"cols 127", "cols 1", "cols 1023", "cols 3", "rows 1", "rows 127", "rows 3", "rows 1023"})
        QVERIFY2(namesOf(cases).contains(name), name);
    QCOMPARE(named(cases, "cols 127").inputs[0].sizes, (Sizes{64, 127}));
    QCOMPARE(named(cases, "rows 3").inputs[0].sizes, (Sizes{3, 512}));
    for (const ShapeCase &shapes : cases) {
        QVERIFY(shapes.outputs.empty()); // only the reference knows them
        const auto &sizes = shapes.inputs[0].sizes;
        QCOMPARE(int{sizes[0] != 64} + int{sizes[1] != 512}, 1);
    }
}

void TestShapeCases::weightsFollowTheirSize()
{
    const auto cases =
        guessShapeCases(taskOf("input x float32[64, 512]\nparameter w float32[512]\n"
                               "y = aten::mul.Tensor(self=%x, other=%w) -> float32[64, 512]\noutput y\n"),
                        plenty);
    QCOMPARE(named(cases, "cols 1023").inputs[1].sizes, (Sizes{1023}));
    QCOMPARE(named(cases, "rows 1").inputs[1].sizes, (Sizes{512}));
}

void TestShapeCases::leavesOnesAlone()
{
    const auto cases =
        guessShapeCases(taskOf("input x float32[1, 64, 512]\ninput b float32[1, 64, 1]\n"
                               "y = aten::add.Tensor(self=%x, other=%b) -> float32[1, 64, 512]\noutput y\n"),
                        plenty);
    QVERIFY(!cases.empty());
    for (const ShapeCase &shapes : cases) {
        QCOMPARE(shapes.inputs[0].sizes[0], std::int64_t{1});
        QCOMPARE(shapes.inputs[1].sizes[2], std::int64_t{1});
        QCOMPARE(shapes.inputs[0].sizes[1], shapes.inputs[1].sizes[1]);
    }
}

void TestShapeCases::keepsLayouts_data()
{
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<QList<qint64>>("strides");
    QTest::addColumn<QList<qint64>>("newSizes");
    QTest::addColumn<QList<qint64>>("newStrides");
    const auto row = [](const char *name, QList<qint64> sizes, QList<qint64> strides, QList<qint64> newSizes,
                        QList<qint64> newStrides) {
        QTest::newRow(name) << sizes << strides << newSizes << newStrides;
    };
    row("contiguous", {4, 6}, {6, 1}, {4, 7}, {7, 1});
    row("transposed", {4, 6}, {1, 4}, {5, 6}, {1, 5});
    row("heads in front", {2, 4, 8, 16}, {512, 16, 64, 1}, {2, 4, 9, 16}, {576, 16, 64, 1});
    row("heads in front, wider", {2, 4, 8, 16}, {512, 16, 64, 1}, {2, 4, 8, 3}, {96, 3, 12, 1});
    row("half of something wider", {4, 50, 192}, {19200, 384, 1}, {4, 50, 127}, {12700, 254, 1});
    row("half of something wider, more rows", {4, 50, 192}, {19200, 384, 1}, {4, 3, 192}, {1152, 384, 1});
    row("expanded", {4, 6}, {0, 1}, {9, 6}, {0, 1});
    row("expanded, wider", {4, 6}, {0, 1}, {4, 7}, {0, 1});
    row("every third", {10}, {3}, {7}, {3});
}

void TestShapeCases::keepsLayouts()
{
    QFETCH(QList<qint64>, sizes);
    QFETCH(QList<qint64>, strides);
    QFETCH(QList<qint64>, newSizes);
    QFETCH(QList<qint64>, newStrides);
    TensorType type;
    type.dtype = DType::Float32;
    type.sizes.assign(sizes.begin(), sizes.end());
    type.strides.assign(strides.begin(), strides.end());
    const TensorType result = withSizes(type, Sizes(newSizes.begin(), newSizes.end()));
    QCOMPARE(result.sizes, Sizes(newSizes.begin(), newSizes.end()));
    QCOMPARE(result.strides, Sizes(newStrides.begin(), newStrides.end()));
    QCOMPARE(result.dtype, DType::Float32);
}

void TestShapeCases::viewsFollow_data()
{
    QTest::addColumn<QString>("view");
    QTest::addColumn<qint64>("from");
    QTest::addColumn<qint64>("to");
    QTest::addColumn<QList<qint64>>("expected");
    const auto row = [](const char *name, const char *view, qint64 from, qint64 to, QList<qint64> expected) {
        QTest::newRow(name) << view << from << to << expected;
    };
    row("a size itself", "v = aten::view(self=%x, size=[2, 64, 4, 32]) -> float32[2, 64, 4, 32]", 64, 9,
        {2, 9, 4, 32});
    row("a minus one stays", "v = aten::view(self=%x, size=[2, 64, -1, 32]) -> float32[2, 64, 4, 32]", 64, 9,
        {2, 9, -1, 32});
    row("a product follows", "v = aten::view(self=%x, size=[128, 128]) -> float32[128, 128]", 64, 9,
        {18, 128});
    row("a product of the other two", "v = aten::reshape(self=%x, shape=[2, 8192]) -> float32[2, 8192]", 64,
        9, {2, 1152});
    row("the hidden size", "v = aten::view(self=%x, size=[2, 64, 4, 32]) -> float32[2, 64, 4, 32]", 128, 96,
        {2, 64, 3, 32});
    row("expand", "v = aten::expand(self=%x, size=[2, 64, 128]) -> float32[2, 64, 128]", 64, 9, {2, 9, 128});
    row("expand with minus one", "v = aten::expand(self=%x, size=[-1, 64, -1]) -> float32[2, 64, 128]", 64, 9,
        {-1, 9, -1});
}

void TestShapeCases::viewsFollow()
{
    QFETCH(QString, view);
    QFETCH(qint64, from);
    QFETCH(qint64, to);
    QFETCH(QList<qint64>, expected);
    const OperatorGraph graph =
        graphFromText("input x float32[2, 64, 128]\n" + view.toStdString() + "\noutput v\n");
    const auto mapped = withMappedSizes(graph, {{from, to}});
    QVERIFY(mapped.has_value());
    QCOMPARE(integersOf(*mapped, "v", view.contains("reshape") ? "shape" : "size"),
             Sizes(expected.begin(), expected.end()));
    std::int64_t known = 1;
    for (const qint64 size : expected)
        known *= size == -1 ? 1 : size;
    if (!view.contains("expand") && !expected.contains(-1))
        QCOMPARE(mapped->value(mapped->inputs[0]).type.elementCount(), known);
}

void TestShapeCases::slicesFollowInProportion()
{
    const OperatorGraph graph =
        graphFromText("input x float32[2, 64, 32]\n"
                      "a = aten::slice.Tensor(self=%x, dim=2, start=0, end=16) -> float32[2, 64, 16] strides "
                      "[2048, 32, 1]\n"
                      "b = aten::slice.Tensor(self=%x, dim=-1, start=16, end=9223372036854775807) -> "
                      "float32[2, 64, 16] strides [2048, 32, 1]\n"
                      "n = aten::neg(self=%b) -> float32[2, 64, 16]\n"
                      "y = aten::cat(tensors=[%n, %a], dim=-1) -> float32[2, 64, 32]\noutput y\n");
    const auto mapped = withMappedSizes(graph, {{32, 48}});
    QVERIFY(mapped.has_value());
    QCOMPARE(integersOf(*mapped, "a", "end"), Sizes{24});
    QCOMPARE(integersOf(*mapped, "b", "start"), Sizes{24});
    QCOMPARE(integersOf(*mapped, "b", "end"), Sizes{std::numeric_limits<std::int64_t>::max()});
    QCOMPARE(mapped->value(mapped->findValue("n")).type.sizes, (Sizes{2, 64, 24}));
    QVERIFY(!withMappedSizes(graph, {{32, 33}})); // half of an odd size
    QVERIFY(withMappedSizes(graph, {{64, 33}}));
    // So the guesses take the next even size.
    const auto cases = guessShapeCases(taskOf("input x float32[2, 64, 32]\n"
                                              "a = aten::slice.Tensor(self=%x, dim=2, start=0, end=16) -> "
                                              "float32[2, 64, 16] strides [2048, 32, 1]\n"
                                              "y = aten::neg(self=%a) -> float32[2, 64, 16]\noutput y\n"),
                                       plenty);
    QVERIFY(namesOf(cases).contains("cols 128"));
    QVERIFY(namesOf(cases).contains("cols 2"));
    QVERIFY(!namesOf(cases).contains("cols 127"));
}

void TestShapeCases::splitsAndNormalizedShapesFollow()
{
    const OperatorGraph graph =
        graphFromText("input x float32[4, 384]\n"
                      "a, b, c = aten::split.Tensor(self=%x, split_size=128, dim=1) -> float32[4, 128], "
                      "float32[4, 128], float32[4, 128]\n"
                      "n = aten::layer_norm(input=%a, normalized_shape=[128]) -> float32[4, 128]\n"
                      "f = aten::full(size=[4, 128], fill_value=1) -> float32[4, 128]\n"
                      "y = aten::add.Tensor(self=%n, other=%f) -> float32[4, 128]\noutput y, b, c\n");
    const auto mapped = withMappedSizes(graph, {{384, 96}, {128, 32}});
    QVERIFY(mapped.has_value());
    QCOMPARE(integersOf(*mapped, "a", "split_size"), Sizes{32});
    QCOMPARE(integersOf(*mapped, "n", "normalized_shape"), Sizes{32});
    QCOMPARE(integersOf(*mapped, "f", "size"), (Sizes{4, 32}));
}

void TestShapeCases::typesInBetweenFollow()
{
    const OperatorGraph graph =
        graphFromText("input x float32[2, 64, 128]\n"
                      "m = aten::mean.dim(self=%x, dim=[-1], keepdim=true) -> float32[2, 64, 1]\n"
                      "s = aten::sub.Tensor(self=%x, other=%m) -> float32[2, 64, 128]\n"
                      "v = aten::view(self=%s, size=[-1, 128]) -> float32[128, 128]\n"
                      "y = aten::exp(self=%v) -> float32[128, 128]\noutput y\n");
    const auto mapped = withMappedSizes(graph, {{64, 5}});
    QVERIFY(mapped.has_value());
    QVERIFY(validateGraph(*mapped).has_value());
    QCOMPARE(mapped->value(mapped->findValue("m")).type.sizes, (Sizes{2, 5, 1}));
    QCOMPARE(mapped->value(mapped->findValue("s")).type.sizes, (Sizes{2, 5, 128}));
    QCOMPARE(mapped->value(mapped->findValue("v")).type.sizes, (Sizes{10, 128}));
    QCOMPARE(mapped->value(mapped->findValue("y")).type.sizes, (Sizes{10, 128}));
}

void TestShapeCases::staysWithinItsBounds()
{
    const Task task = taskOf(
        "input x float32[64, 512]\ny = aten::softmax.int(self=%x, dim=-1) -> float32[64, 512]\noutput y\n");
    for (const std::int64_t most :
         {std::int64_t{0}, std::int64_t{100}, std::int64_t{5000}, std::int64_t{100000}}) {
        for (const ShapeCase &shapes : guessShapeCases(task, most)) {
            std::int64_t elements = 0;
            for (const TensorType &type : shapes.inputs)
                elements += type.elementCount();
            for (const ValueId id : shapes.subgraph.outputs)
                elements += shapes.subgraph.value(id).type.elementCount();
            QVERIFY(elements <= most);
        }
    }
    QVERIFY(guessShapeCases(task, 0).empty());
    QVERIFY(guessShapeCases(task, plenty).size() <= 8);
}

void TestShapeCases::shrinksAnotherSizeWhereOneIsTooMuch()
{
    const Task task =
        taskOf("input x float16[65536, 4096]\ny = aten::softmax.int(self=%x, dim=-1) -> float16[65536, "
               "4096]\noutput y\n");
    const auto cases = guessShapeCases(task, plenty);
    QVERIFY(!cases.empty());
    QCOMPARE(named(cases, "cols 127, rows 5").inputs[0].sizes, (Sizes{5, 127}));
    QCOMPARE(named(cases, "rows 1").inputs[0].sizes, (Sizes{1, 4096}));
    const auto wide =
        guessShapeCases(taskOf("input x float16[64, 50257]\ny = aten::softmax.int(self=%x, dim=-1) -> "
                               "float16[64, 50257]\noutput y\n"),
                        std::int64_t{1} << 24);
    QVERIFY(!namesOf(wide).contains("cols 50257")); // that is the captured case
    const auto wider =
        guessShapeCases(taskOf("input x float16[64, 32768]\ny = aten::softmax.int(self=%x, dim=-1) -> "
                               "float16[64, 32768]\noutput y\n"),
                        std::int64_t{1} << 24);
    QVERIFY(namesOf(wider).contains("cols 50257"));
}

void TestShapeCases::givesNoCaseTwice()
{
    const auto cases = guessShapeCases(taskOf("input x float32[128, 128]\ninput z float32[3, 128]\n"
                                              "a = aten::softmax.int(self=%x, dim=-1) -> float32[128, 128]\n"
                                              "b = aten::exp(self=%z) -> float32[3, 128]\noutput a, b\n"),
                                       plenty);
    std::set<std::string> seen;
    for (const ShapeCase &shapes : cases) {
        std::string key;
        for (const TensorType &type : shapes.inputs)
            key += describe(type) + ";";
        QVERIFY2(seen.insert(key).second, key.c_str());
        QVERIFY(seen.size() <= 8);
    }
}

void TestShapeCases::tasksWithoutInputsHaveNone()
{
    QVERIFY(guessShapeCases(Task(), plenty).empty());
    QVERIFY(guessShapeCases(taskOf("y = aten::arange(end=5) -> int64[5]\noutput y\n"), plenty).empty());
}

QTEST_APPLESS_MAIN(TestShapeCases)
#include "test_shape_cases.moc"
