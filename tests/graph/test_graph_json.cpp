// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs and profiles as JSON: what is written is read back the same, what is not sound is refused.
#include "graph/cost_model.h"
#include "graph/graph_summary.h"
#include "graph/model_profile.h"
#include "graph_text.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace kernelwright;

namespace
{
OperatorGraph sample()
{
    OperatorGraph graph =
        graphFromText("input x float32[2, 3]\n"
                      "parameter m.w float16[3]\n"
                      "parameter m.tied float16[3]\n"
                      "buffer m.b int64[2]\n"
                      "a = aten::add.Tensor(self=%x, other=1.5, alpha=2) -> float32[2, 3]\n"
                      "b = aten::to.dtype(self=%a, dtype=dtype:float16, copy=false, none_here=none) -> "
                      "float16[2, 3] strides [1, 2]\n"
                      "! aten::_assert_tensor_metadata(a=%b)\n"
                      "n = aten::sym_size.int(self=%x, dim=0) -> int\n"
                      "parts = aten::split.Tensor(self=%b, split_size=1, dim=-1) -> list\n"
                      "c = aten::cat(tensors=[%b, %b], dim=1, note=\"text\") -> float16[2, 6]\n"
                      "output c, n\n");
    graph.symbols["s0"] = {2, 512, 64};
    graph.nodes[0].modulePath = "m.layers.0";
    graph.nodes[0].moduleType = "Layer";
    graph.nodes[0].source = {"model.py", 12, "y = x + 1.5"};
    graph.nodes[1].subgraphs.push_back(graphFromText("input z float32[1]\noutput z\n"));
    Argument branch = Argument::ofInt(0), layout = Argument::ofString("strided"),
             device = Argument::ofString("cuda:0"), format = Argument::ofString("contiguous_format");
    branch.kind = Argument::Kind::Graph;
    layout.kind = Argument::Kind::Layout;
    device.kind = Argument::Kind::Device;
    format.kind = Argument::Kind::MemoryFormat;
    for (const Argument &argument : {branch, layout, device, format})
        graph.nodes[1].arguments.push_back({"", argument});
    return graph;
}

QString refusal(Json json)
{
    const auto graph = readJson<OperatorGraph>(json, "graph");
    return graph ? "accepted" : QString::fromStdString(graph.error().message);
}
} // namespace

class TestGraphJson : public QObject
{
    Q_OBJECT

private slots:
    void argumentsRoundTrip_data();
    void argumentsRoundTrip();
    void refusesArgumentsThatAreNone_data();
    void refusesArgumentsThatAreNone();
    void graphsRoundTrip();
    void refusesUnsoundGraphs();
    void survivesEveryTruncation();
    void describesGraphs();
    void profilesRoundTrip();
    void costsRoundTrip();
};

Q_DECLARE_METATYPE(kernelwright::Argument)

void TestGraphJson::argumentsRoundTrip_data()
{
    QTest::addColumn<Argument>("argument");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << Argument::none() << "null";
    QTest::newRow("value") << Argument::ofValue(3) << R"({"value":3})";
    QTest::newRow("true") << Argument::ofBool(true) << "true";
    QTest::newRow("int") << Argument::ofInt(-5) << "-5";
    QTest::newRow("largest int") << Argument::ofInt(std::numeric_limits<std::int64_t>::max())
                                 << "9223372036854775807";
    QTest::newRow("smallest int") << Argument::ofInt(std::numeric_limits<std::int64_t>::min())
                                  << "-9223372036854775808";
    QTest::newRow("float") << Argument::ofFloat(0.1) << "0.1";
    QTest::newRow("whole float stays a float") << Argument::ofFloat(2) << "2.0";
    QTest::newRow("smallest float") << Argument::ofFloat(5e-324) << "5e-324";
    QTest::newRow("infinity") << Argument::ofFloat(HUGE_VAL) << R"({"float":"inf"})";
    QTest::newRow("minus infinity") << Argument::ofFloat(-HUGE_VAL) << R"({"float":"-inf"})";
    QTest::newRow("string") << Argument::ofString("nan") << R"("nan")";
    QTest::newRow("dtype") << Argument::ofDType(DType::BFloat16) << R"({"dtype":"bfloat16"})";
    QTest::newRow("ints") << Argument::ofInts({1, -1}) << "[1,-1]";
    QTest::newRow("empty list") << Argument::ofList({}) << "[]";
    QTest::newRow("nested list") << Argument::ofList(
                                        {Argument::ofValue(0), Argument::none(), Argument::ofInts({2})})
                                 << R"([{"value":0},null,[2]])";
}

void TestGraphJson::argumentsRoundTrip()
{
    QFETCH(Argument, argument);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(writeJson(Json(argument))), text);
    const auto back = readJson<Argument>(Json::parse(text.toStdString()), "argument");
    QVERIFY(back.has_value());
    QVERIFY(*back == argument);
}

void TestGraphJson::refusesArgumentsThatAreNone_data()
{
    QTest::addColumn<QString>("text");
    for (const char *text : {"{}", R"({"value":1,"dtype":"bool"})", R"({"other":1})", R"({"value":"x"})",
                             R"({"float":"big"})", R"({"dtype":7})", R"([{"graph":"a"}])"})
        QTest::newRow(text) << text;
}

void TestGraphJson::refusesArgumentsThatAreNone()
{
    QFETCH(QString, text);
    QVERIFY(!readJson<Argument>(Json::parse(text.toStdString()), "argument"));
}

void TestGraphJson::graphsRoundTrip()
{
    const OperatorGraph graph = sample();
    const std::string text = writeJson(Json(graph));
    const auto back = readJson<OperatorGraph>(Json::parse(text), "graph");
    QVERIFY2(back, back ? "" : back.error().message.c_str());
    QCOMPARE(writeJson(Json(*back)), text);
    QCOMPARE(back->values.size(), graph.values.size());
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        QCOMPARE(back->values[i].name, graph.values[i].name);
        QCOMPARE(back->values[i].kind, graph.values[i].kind);
        QCOMPARE(back->values[i].role, graph.values[i].role);
        QCOMPARE(back->values[i].producer, graph.values[i].producer);
        QCOMPARE(back->values[i].target, graph.values[i].target);
        QVERIFY(back->values[i].type == graph.values[i].type);
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node &a = back->nodes[i], &b = graph.nodes[i];
        QCOMPARE(a.name + a.op + a.overload + a.modulePath + a.moduleType + a.source.file + a.source.text,
                 b.name + b.op + b.overload + b.modulePath + b.moduleType + b.source.file + b.source.text);
        QCOMPARE(a.source.line, b.source.line);
        QCOMPARE(a.arguments.size(), b.arguments.size());
        for (std::size_t j = 0; j < a.arguments.size(); ++j) {
            QCOMPARE(a.arguments[j].name, b.arguments[j].name);
            QVERIFY(a.arguments[j].value == b.arguments[j].value);
        }
        QCOMPARE(a.subgraphs.size(), b.subgraphs.size());
    }
    QCOMPARE(back->symbols.at("s0").maximum, std::int64_t{512});
    QCOMPARE(back->outputs, graph.outputs);
}

void TestGraphJson::refusesUnsoundGraphs()
{
    const Json good = sample();
    QCOMPARE(refusal(good), QString("accepted"));
    for (const char *key : {"name", "values", "nodes", "inputs", "outputs", "symbols"}) {
        Json json = good;
        json.erase(key);
        QVERIFY2(refusal(json).contains(key), key);
    }
    Json json = good;
    json["nodes"][0]["outputs"] = {99};
    QVERIFY(refusal(json).contains("makes value 99"));
    json = good;
    json["nodes"][0]["arguments"][0]["value"]["value"] = 1000;
    QVERIFY(refusal(json).contains("uses value 1000"));
    json = good;
    json["outputs"] = {-3};
    QVERIFY(refusal(json).contains("names value -3"));
    json = good;
    json["values"][0]["kind"] = "matrix";
    QVERIFY(refusal(json).contains("'matrix' is not the name of a kind of value"));
    json = good;
    json["values"][0]["role"] = "star";
    QVERIFY(refusal(json).contains("'star' is not the name of a role"));
    json = good;
    json["nodes"][0]["name"] = json["nodes"][1]["name"];
    QVERIFY(refusal(json).contains("two nodes"));
    json = good;
    json["values"] = "none";
    QVERIFY(refusal(json) != "accepted");
    QVERIFY(refusal(Json()) != "accepted");
    QVERIFY(refusal(Json::array({1})) != "accepted");
}

void TestGraphJson::survivesEveryTruncation()
{
    const std::string text = writeJson(Json(sample()));
    for (std::size_t length = 0; length < text.size(); ++length) {
        const auto json = parseJson(std::string_view(text).substr(0, length), "graph");
        QVERIFY(!json);
        QCOMPARE(json.error().code, ErrorCode::BadInput);
    }
}

void TestGraphJson::describesGraphs()
{
    OperatorGraph graph = sample();
    graph.values[static_cast<std::size_t>(graph.findValue("m_tied"))].target =
        "m.w"; // the same weight by another name
    graph.symbols = {{"batch", {.minimum = 2, .maximum = 64, .hint = 4}},
                     {"length", {.minimum = 1, .hint = 9}}};
    const Json json = describeGraph(graph);
    QCOMPARE(json.at("symbols").at("batch").dump(), std::string(R"({"hint":4,"maximum":64,"minimum":2})"));
    QVERIFY(json.at("symbols").at("length").at("maximum").is_null());
    QCOMPARE(json.at("nodes").size(), graph.nodes.size());
    const Json &first = json.at("nodes")[0];
    QCOMPARE(first.at("name").get<std::string>(), std::string("a"));
    QCOMPARE(first.at("op").get<std::string>(), std::string("aten::add"));
    QCOMPARE(first.at("module").get<std::string>(), std::string("m.layers.0"));
    QCOMPARE(first.at("source").get<std::string>(), std::string("model.py:12"));
    QCOMPARE(first.at("inputs").get<std::vector<std::string>>(), std::vector<std::string>{"x"});
    QCOMPARE(first.at("outputs")[0].at("shape").get<std::vector<int>>(), (std::vector<int>{2, 3}));
    QCOMPARE(first.at("outputs")[0].at("dtype").get<std::string>(), std::string("float32"));
    QCOMPARE(json.at("nodes")[1].at("outputs")[0].at("strides").get<std::vector<int>>(),
             (std::vector<int>{1, 2}));
    QCOMPARE(json.at("nodes")[1].at("source").get<std::string>(), std::string());
    QCOMPARE(json.at("inputs")[0].at("name").get<std::string>(), std::string("x"));
    QCOMPARE(json.at("outputs").size(), std::size_t{2});
    QCOMPARE(json.at("outputs")[1].at("kind").get<std::string>(), std::string("int"));
    QCOMPARE(json.at("parameters").at("count").get<int>(), 3);
    QCOMPARE(json.at("parameters").at("bytes").get<int>(), 6);
    QCOMPARE(json.at("parameters").at("tensors").get<int>(), 1);
}

void TestGraphJson::profilesRoundTrip()
{
    ModelProfile profile;
    profile.device = "simt:h200";
    profile.timeSource = "model";
    profile.totalUs = 12.5;
    profile.operators.push_back({"mul", "aten::mul", 2, 3.5, 0.25, 1024, 256, 0.5});
    profile.operators.push_back({"odd", "aten::odd", 1, 1, 0.1});
    SuggestedTask task;
    task.title = "RMSNorm in layers.0";
    task.kind = "normalization";
    task.nodes = {"pow", "mean"};
    task.ops = {"aten::pow", "aten::mean"};
    task.others = {{"pow_1", "mean_1"}};
    task.timeUs = 8;
    task.floorUs = 2;
    task.amdahlGain = 1.9;
    task.playbookCanWrite = true;
    profile.tasks.push_back(task);
    const Json json = profile;
    for (const char *key : {"name", "op", "calls", "time_us", "share", "bytes", "flops", "floor_us"})
        QVERIFY2(json.at("operators")[0].contains(key), key);
    for (const char *key : {"name", "title", "nodes", "ops", "time_us", "floor_us", "amdahl_gain"})
        QVERIFY2(json.at("tasks")[0].contains(key), key);
    QVERIFY(json.at("operators")[1].at("bytes").is_null()); // unknown, not zero
    const auto back = readJson<ModelProfile>(json, "profile");
    QVERIFY(back.has_value());
    QCOMPARE(back->operators[1].bytes, -1.0);
    QCOMPARE(back->operators[1].floorUs, -1.0);
    QCOMPARE(back->tasks[0].others, task.others);
    QCOMPARE(writeJson(Json(*back)), writeJson(json));
}

void TestGraphJson::costsRoundTrip()
{
    const Cost cost{100, 200, 3e12, DType::Float16, true};
    const auto back = readJson<Cost>(Json(cost), "cost");
    QVERIFY(back.has_value());
    QCOMPARE(back->bytes(), 300.0);
    QCOMPARE(back->flops, 3e12);
    QCOMPARE(back->mathType, DType::Float16);
    QVERIFY(back->isMatrixProduct);
    DeviceCeilings ceilings;
    ceilings.dramBytesPerSecond = 4.8e12;
    ceilings.flopsPerSecond["float32"] = 6.7e13;
    ceilings.matrixFlopsPerSecond["float16"] = 9.9e14;
    ceilings.launchOverheadUs = 2.5;
    ceilings.source = "data sheet";
    QCOMPARE(writeJson(Json(readJson<DeviceCeilings>(Json(ceilings), "ceilings").value())),
             writeJson(Json(ceilings)));
}

QTEST_APPLESS_MAIN(TestGraphJson)
#include "test_graph_json.moc"
