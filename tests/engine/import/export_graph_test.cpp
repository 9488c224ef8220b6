// SPDX-License-Identifier: GPL-3.0-or-later
// model.json of a .pt2 file → operator graph.
#include "engine/import/export_graph.h"
#include "engine/import/export_schema.h"
#include "engine/import/node_origin.h"
#include "exported_program.h"

#include <QTest>

using namespace kernelwright;

namespace
{

Json &graphOf(Json &program)
{
    return program["graph_module"]["graph"];
}

/// The linear program with one more input of its node, to see how that is read.
Result<Argument> readAs(const Json &argument)
{
    Json program = linearProgram();
    graphOf(program)["nodes"][0]["inputs"].push_back({{"name", "extra"}, {"arg", argument}, {"kind", 1}});
    const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
    if (!exported) return forward(exported.error());
    return *findArgument(exported->graph.nodes[0], "extra");
}

Argument named(Argument::Kind kind, const std::string &text)
{
    Argument argument = Argument::ofString(text);
    argument.kind = kind;
    return argument;
}

bool mentions(const Error &error, const char *text)
{
    return error.message.find(text) != std::string::npos;
}

/// Calls `visit` with every value inside, containers before what they hold.
template <class Visit>
void walk(Json &json, const Visit &visit)
{
    visit(json);
    if (json.is_structured())
        for (Json &item : json)
            walk(item, visit);
}

} // namespace

class ExportGraphTest : public QObject
{
    Q_OBJECT

private slots:
    void aProgramBecomesAGraph()
    {
        const Result<ExportedGraph> exported = graphFromExport(linearProgram(), "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        const OperatorGraph &graph = exported->graph;
        QCOMPARE(graph.nodes.size(), std::size_t(1));
        const Node &node = graph.nodes[0];
        QCOMPARE(node.op, std::string("aten::linear"));
        QCOMPARE(node.overload, std::string());
        QCOMPARE(node.modulePath, std::string("layer"));
        QCOMPARE(node.moduleType, std::string("Linear"));
        QCOMPARE(node.source.file, std::string("/home/me/net.py"));
        QCOMPARE(node.source.line, 7);
        QCOMPARE(node.source.text, std::string("return self.layer(x)"));
        QCOMPARE(graph.inputs.size(), std::size_t(1));
        QCOMPARE(graph.value(graph.inputs[0]).name, std::string("x"));
        const Value &weight = graph.value(findArgument(node, "weight")->value);
        QCOMPARE(weight.role, ValueRole::Parameter);
        QCOMPARE(weight.target, std::string("layer.weight"));
        QCOMPARE(graph.value(graph.outputs.at(0)).type, contiguousType(DType::Float32, {2, 4}));
    }

    void argumentsKeepKindAndValue_data()
    {
        QTest::addColumn<Json>("argument");
        QTest::addColumn<Argument>("expected");
        const auto row = [](const char *json, const Argument &expected) {
            QTest::newRow(json) << Json::parse(json) << expected;
        };
        row(R"({"as_none": true})", Argument::none());
        row(R"({"as_int": -3})", Argument::ofInt(-3));
        row(R"({"as_float": 0.5})", Argument::ofFloat(0.5));
        row(R"({"as_float": 2})", Argument::ofFloat(2));
        row(R"({"as_float": "-Infinity"})", Argument::ofFloat(-std::numeric_limits<double>::infinity()));
        row(R"({"as_bool": true})", Argument::ofBool(true));
        row(R"({"as_string": "tanh"})", Argument::ofString("tanh"));
        row(R"({"as_ints": [1, 2]})", Argument::ofInts({1, 2}));
        row(R"({"as_sym_ints": [{"as_int": 4}]})", Argument::ofInts({4}));
        row(R"({"as_sym_int": {"as_int": 4}})", Argument::ofInt(4));
        row(R"({"as_sym_bool": {"as_bool": false}})", Argument::ofBool(false));
        row(R"({"as_floats": [1.5]})", Argument::ofList({Argument::ofFloat(1.5)}));
        row(R"({"as_bools": [true]})", Argument::ofList({Argument::ofBool(true)}));
        row(R"({"as_int_lists": [[1], [2, 3]]})",
            Argument::ofList({Argument::ofInts({1}), Argument::ofInts({2, 3})}));
        row(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})",
            Argument::ofList({Argument::none(), Argument::ofValue(1)}));
        row(R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})", Argument::ofValue(1));
        row(R"({"as_scalar_type": 7})", Argument::ofDType(DType::Float32));
        row(R"({"as_scalar_type": 6})", Argument::ofDType(DType::Float16));
        row(R"({"as_scalar_type": 13})", Argument::ofDType(DType::BFloat16));
        row(R"({"as_scalar_type": 5})", Argument::ofDType(DType::Int64));
        row(R"({"as_scalar_type": 12})", Argument::ofDType(DType::Bool));
        row(R"({"as_scalar_type": 29})", Argument::ofDType(DType::Float8E4M3));
        row(R"({"as_layout": 7})", named(Argument::Kind::Layout, "strided"));
        row(R"({"as_memory_format": 1})", named(Argument::Kind::MemoryFormat, "contiguous_format"));
        row(R"({"as_memory_format": 4})", named(Argument::Kind::MemoryFormat, "preserve_format"));
        row(R"({"as_device": {"type": "cuda", "index": 1}})", named(Argument::Kind::Device, "cuda:1"));
        row(R"({"as_device": {"type": "cpu", "index": null}})", named(Argument::Kind::Device, "cpu"));
    }

    void argumentsKeepKindAndValue()
    {
        QFETCH(Json, argument);
        QFETCH(Argument, expected);
        const Result<Argument> read = readAs(argument);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QVERIFY(*read == expected);
    }

    void unknownArgumentsNameTheNode_data()
    {
        QTest::addColumn<Json>("argument");
        QTest::addColumn<ErrorCode>("code");
        const auto row = [](const char *json, ErrorCode code) {
            QTest::newRow(json) << Json::parse(json) << code;
        };
        row(R"({"as_custom_obj": {"name": "obj", "class_fqn": "a.B"}})", ErrorCode::NotSupported);
        row(R"({"as_wonder": 1})", ErrorCode::NotSupported);
        row(R"({"as_scalar_type": 99})", ErrorCode::NotSupported);
        row(R"({"as_layout": 3000})", ErrorCode::NotSupported);
        row(R"({"as_tensor": {"name": "nowhere"}})", ErrorCode::BadInput);
    }

    void unknownArgumentsNameTheNode()
    {
        QFETCH(Json, argument);
        QFETCH(ErrorCode, code);
        const Result<Argument> read = readAs(argument);
        QVERIFY(!read);
        QCOMPARE(read.error().code, code);
        QVERIFY2(mentions(read.error(), "node 'linear'"), read.error().message.c_str());
    }

    void symbolsCarryTheirRange()
    {
        Json program = linearProgram();
        Json &values = graphOf(program)["tensor_values"];
        values["x"] =
            tensorMeta({symbolicSize("Symbol('s77', positive=True, integer=True)", 2), fixedSize(3)});
        values["linear"] =
            tensorMeta({symbolicSize("Mul(Integer(2), Symbol('s77', integer=True))", 2), fixedSize(4)});
        program["range_constraints"]["s77"] = {{"min_val", 1}, {"max_val", 64}};
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        const OperatorGraph &graph = exported->graph;
        QCOMPARE(graph.value(graph.inputs[0]).type.symbols, (std::vector<std::string>{"s77", ""}));
        QCOMPARE(graph.value(graph.outputs[0]).type.symbols, (std::vector<std::string>{"2*s77", ""}));
        QCOMPARE(graph.symbols.at("s77").minimum, std::int64_t(1));
        QCOMPARE(graph.symbols.at("s77").maximum, std::int64_t(64));
        QCOMPARE(graph.symbols.at("s77").hint, std::int64_t(2));
    }

    void expressionsBecomeReadable_data()
    {
        QTest::addColumn<QString>("written");
        QTest::addColumn<QString>("readable");
        QTest::newRow("symbol") << "Symbol('s0', positive=True, integer=True)"
                                << "s0";
        QTest::newRow("plain") << "2*s0 + 1"
                               << "2*s0 + 1";
        QTest::newRow("sum in product")
            << "Mul(Add(Symbol('s0', integer=True), Integer(-1)), Symbol('s1', integer=True))"
            << "(s0 + -1)*s1";
        QTest::newRow("quotient") << "FloorDiv(Symbol('s0', integer=True), Integer(8))"
                                  << "s0//8";
        QTest::newRow("maximum") << "Max(Integer(1), Symbol('u0', integer=True))"
                                 << "max(1, u0)";
        QTest::newRow("unknown") << "Piecewise(Symbol('s0'), Integer(3))"
                                 << "Piecewise(s0, 3)";
        QTest::newRow("unfinished") << "Mul(Integer(2), Symbol('s0'"
                                    << "Mul(Integer(2), Symbol('s0'";
        QTest::newRow("absurdly deep") << QString("Add(").repeated(5000) << QString("Add(").repeated(5000);
    }

    void expressionsBecomeReadable()
    {
        QFETCH(QString, written);
        QFETCH(QString, readable);
        QCOMPARE(QString::fromStdString(readableExpression(written.toStdString())), readable);
    }

    void aListOfTensorsHasOneNodePerItem()
    {
        Json program = linearProgram();
        Json &graph = graphOf(program);
        Json split =
            tensorNode("torch.ops.aten.split.Tensor",
                       {{"self", tensorArgument("linear")}, {"split_size", {{"as_int", 1}}}}, "split");
        split["outputs"] =
            Json::array({{{"as_tensors", Json::array({{{"name", "getitem"}}, {{"name", "getitem_1"}}})}}});
        graph["nodes"].push_back(split);
        graph["tensor_values"]["getitem"] = tensorMeta({fixedSize(1), fixedSize(4)});
        graph["tensor_values"]["getitem_1"] = tensorMeta({fixedSize(1), fixedSize(4)});
        program["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"] =
            tensorArgument("getitem_1");
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        const std::vector<Node> &nodes = exported->graph.nodes;
        QCOMPARE(nodes.size(), std::size_t(4));
        QCOMPARE(nodes[3].op, std::string("prim::getitem"));
        QCOMPARE(findArgument(nodes[3], "index")->integer, std::int64_t(1));
        QCOMPARE(exported->graph.value(nodes[1].outputs[0]).kind, ValueKind::TensorList);
    }

    void gradModeIsTakenAway()
    {
        Json program = linearProgram();
        Json &graph = graphOf(program);
        const Json inner = {
            {"inputs", Json::array({tensorArgument("inner_in")})},
            {"outputs", Json::array({tensorArgument("inner_out")})},
            {"nodes", Json::array({tensorNode("torch.ops.aten.relu.default",
                                              {{"self", tensorArgument("inner_in")}}, "inner_out")})},
            {"tensor_values",
             {{"inner_in", tensorMeta({fixedSize(2), fixedSize(4)})},
              {"inner_out", tensorMeta({fixedSize(2), fixedSize(4)})}}}};
        Json wrapper = tensorNode("torch.ops.higher_order.wrap_with_set_grad_enabled",
                                  {{"", {{"as_bool", false}}},
                                   {"", {{"as_graph", {{"name", "submod_1"}, {"graph", inner}}}}},
                                   {"", tensorArgument("linear")}},
                                  "wrapped");
        wrapper["outputs"] = Json::array({{{"as_tensors", Json::array({{{"name", "wrapped"}}})}}});
        graph["nodes"].push_back(wrapper);
        program["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"] =
            tensorArgument("wrapped");
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        QCOMPARE(exported->graph.nodes.size(), std::size_t(2));
        QCOMPARE(exported->graph.nodes[1].op, std::string("aten::relu"));
        QCOMPARE(exported->graph.outputs[0], exported->graph.nodes[1].outputs[0]);
    }

    void anAutocastRegionIsOneNodeWhereItIsOn_data()
    {
        QTest::addColumn<bool>("outer");
        QTest::addColumn<bool>("inner");
        QTest::addColumn<QString>("form");
        QTest::newRow("off inside off is nothing") << false << false << "linear relu";
        QTest::newRow("on inside off") << false << true << "linear region(relu)";
        QTest::newRow("off inside on switches it off") << true << false << "linear region(region(relu))";
        QTest::newRow("on inside on") << true << true << "linear region(region(relu))";
    }

    void anAutocastRegionIsOneNodeWhereItIsOn()
    {
        QFETCH(bool, outer);
        QFETCH(bool, inner);
        QFETCH(QString, form);
        const auto graphOver = [](const Json &node) {
            return Json{{"inputs", Json::array({tensorArgument("linear")})},
                        {"outputs", Json::array({tensorArgument("result")})},
                        {"nodes", Json::array({node})},
                        {"tensor_values",
                         {{"linear", tensorMeta({fixedSize(2), fixedSize(4)})},
                          {"result", tensorMeta({fixedSize(2), fixedSize(4)})}}}};
        };
        const auto region = [](bool enabled, const Json &body) {
            return tensorNode("torch.ops.higher_order.wrap_with_autocast",
                              {{"", {{"as_string", "cpu"}}},
                               {"", {{"as_scalar_type", 13}}},
                               {"", {{"as_bool", enabled}}},
                               {"", {{"as_bool", true}}},
                               {"", {{"as_graph", {{"name", "submod"}, {"graph", body}}}}},
                               {"", tensorArgument("linear")}},
                              "result");
        };
        const Json relu =
            tensorNode("torch.ops.aten.relu.default", {{"self", tensorArgument("linear")}}, "result");
        Json program = linearProgram();
        Json &graph = graphOf(program);
        graph["nodes"].push_back(region(outer, graphOver(region(inner, graphOver(relu)))));
        graph["tensor_values"]["result"] = tensorMeta({fixedSize(2), fixedSize(4)});
        program["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"] =
            tensorArgument("result");
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        const std::function<QString(const OperatorGraph &)> formOf = [&](const OperatorGraph &of) {
            QStringList parts;
            for (const Node &node : of.nodes)
                parts << (node.subgraphs.empty()
                              ? QString::fromStdString(node.op.substr(node.op.rfind(':') + 1))
                              : "region(" + formOf(node.subgraphs[0]) + ")");
            return parts.join(' ');
        };
        QCOMPARE(formOf(exported->graph), form);
    }

    void sizeArithmeticBecomesNodes()
    {
        Json program = linearProgram();
        Json &graph = graphOf(program);
        const auto symInt = [](const char *name) { return Json{{"as_sym_int", {{"as_name", name}}}}; };
        Json size = tensorNode("torch.ops.aten.sym_size.int",
                               {{"self", tensorArgument("x")}, {"dim", {{"as_int", 0}}}}, "size");
        size["outputs"] = Json::array({symInt("size")});
        Json twice = tensorNode("_operator.mul", {{"a", symInt("size")}, {"b", {{"as_int", 2}}}}, "mul");
        twice["outputs"] = Json::array({symInt("mul")});
        graph["nodes"].push_back(size);
        graph["nodes"].push_back(twice);
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY2(exported, exported ? "" : exported.error().message.c_str());
        QCOMPARE(exported->graph.nodes[1].op, std::string("aten::sym_size"));
        QCOMPARE(exported->graph.nodes[1].overload, std::string("int"));
        QCOMPARE(exported->graph.nodes[2].op, std::string("_operator::mul"));
        QCOMPARE(exported->graph.value(exported->graph.nodes[2].outputs[0]).kind, ValueKind::Int);
    }

    void anotherFormatVersionIsRefused()
    {
        Json program = linearProgram();
        program["schema_version"]["major"] = 9;
        const Result<ExportedGraph> exported = graphFromExport(program, "model.json");
        QVERIFY(!exported);
        QCOMPARE(exported.error().code, ErrorCode::NotSupported);
    }

    void theInnermostLineOutsideTorchIsShown()
    {
        const std::string library =
            "  File \"/venv/site-packages/transformers/llama.py\", line 64, in forward\n    x.pow(2)\n";
        const std::string torch = "  File \"/venv/site-packages/torch/nn/linear.py\", line 9, in f\n    y\n";
        const std::string generated = "  File \"<eval_with_key>.1\", line 2, in forward\n    z\n";
        QCOMPARE(sourceLineOf(library + torch + generated).line, 64);
        QCOMPARE(sourceLineOf(torch).line, 9);
        QCOMPARE(sourceLineOf("nonsense").line, 0);
    }

    /// Whatever a value of the file is exchanged for, the reader answers with a graph or with an error.
    void noValueOfTheFileCanCrashTheReader()
    {
        const std::vector<Json> others{nullptr,
                                       -1,
                                       1e300,
                                       true,
                                       "",
                                       "x",
                                       Json::array(),
                                       Json::object(),
                                       Json::array({nullptr}),
                                       Json{{"as_int", 1}},
                                       std::numeric_limits<std::int64_t>::max()};
        Json program = linearProgram();
        program["range_constraints"]["s0"] = {{"min_val", 1}, {"max_val", 64}};
        int places = 0;
        int refused = 0;
        walk(program, [&](Json &place) {
            const Json original = place;
            for (const Json &other : others) {
                place = other;
                if (!graphFromExport(program, "model.json")) ++refused;
            }
            place = original;
            ++places;
        });
        QVERIFY(places > 100);
        QVERIFY(refused > places);
        QVERIFY(graphFromExport(program, "model.json"));
    }

    void noMissingKeyCanCrashTheReader()
    {
        Json program = linearProgram();
        int removed = 0;
        walk(program, [&](Json &place) {
            if (!place.is_object()) return;
            const Json original = place;
            for (const auto &[key, value] : original.items()) {
                place.erase(key);
                (void)graphFromExport(program, "model.json");
                place = original;
                ++removed;
            }
        });
        QVERIFY(removed > 50);
        QVERIFY(graphFromExport(program, "model.json"));
    }
};

QTEST_GUILESS_MAIN(ExportGraphTest)
#include "export_graph_test.moc"
