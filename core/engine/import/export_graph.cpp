// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_graph.h"

#include "export_scope.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace kernelwright
{

namespace
{

constexpr std::int64_t supportedSchemaMajor = 8;

struct RoleOfSpec
{
    const char *spec;
    ValueRole role;
    const char *targetKey;
};
constexpr std::array<RoleOfSpec, 3> weightSpecs{
    {{"parameter", ValueRole::Parameter, "parameter_name"},
     {"buffer", ValueRole::Buffer, "buffer_name"},
     {"tensor_constant", ValueRole::Constant, "tensor_constant_name"}}};

bool isPlainSymbol(const std::string &expression)
{
    return !expression.empty() && std::isalpha(static_cast<unsigned char>(expression.front())) &&
           std::all_of(expression.begin(), expression.end(),
                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

void readSymbols(const Json &program, OperatorGraph &graph)
{
    if (const auto ranges = program.find("range_constraints"); ranges != program.end()) {
        for (const auto &[symbol, range] : ranges->items()) {
            SymbolRange &bounds = graph.symbols[symbol];
            if (range.at("min_val").is_number_integer()) range.at("min_val").get_to(bounds.minimum);
            if (range.at("max_val").is_number_integer()) range.at("max_val").get_to(bounds.maximum);
        }
    }
    for (const Value &value : graph.values) {
        for (std::size_t i = 0; i < value.type.symbols.size(); ++i) {
            const std::string &symbol = value.type.symbols[i];
            if (isPlainSymbol(symbol)) graph.symbols[symbol].hint = value.type.sizes[i];
        }
    }
}

class ProgramReader
{
public:
    ProgramReader(const Json &program, std::string what)
        : program_(program)
        , module_(program.at("graph_module"))
        , what_(std::move(what))
        , scope_(result_.graph, names_, module_.at("graph"), what_)
    {}

    ExportedGraph run()
    {
        checkVersion();
        for (const Json &spec : module_.at("signature").at("input_specs"))
            readInputSpec(spec);
        scope_.readNodes();
        for (const Json &spec : module_.at("signature").at("output_specs"))
            readOutputSpec(spec);
        if (mutatedBuffers_ > 0)
            result_.notes.push_back("the model updates " + std::to_string(mutatedBuffers_) +
                                    " of its buffers; each run starts from the stored ones");
        if (result_.graph.outputs.empty())
            throw ImportFailure(ErrorCode::BadInput, what_ + ": the model returns no tensor");
        readSymbols(program_, result_.graph);
        return std::move(result_);
    }

private:
    void checkVersion() const
    {
        const auto version = program_.find("schema_version");
        if (version == program_.end()) return;
        const auto major = version->at("major").get<std::int64_t>();
        if (major != supportedSchemaMajor)
            throw ImportFailure(ErrorCode::NotSupported,
                                what_ + " is written in version " + std::to_string(major) +
                                    " of torch.export's format; version 8 (PyTorch 2.6 and "
                                    "later) is read: export the model again");
    }

    void readInputSpec(const Json &spec)
    {
        const auto &[kind, content] = unionOf(spec);
        for (const RoleOfSpec &weight : weightSpecs) {
            if (kind != weight.spec) continue;
            const ValueId id = scope_.addTensor(content.at("arg").at("name").get<std::string>());
            Value &value = valueOf(id);
            value.role = weight.role;
            value.target = content.at(weight.targetKey).get<std::string>();
            return;
        }
        if (kind == "user_input") return readUserInput(content.at("arg"));
        if (kind == "constant_input") {
            const Json &value = content.at("value");
            scope_.bind(content.at("name").get<std::string>(), scope_.read(value));
            result_.callLeaves.push_back(noValue);
            return;
        }
        // A token only orders operators with side effects; the order of the nodes does that here.
        if (kind == "token")
            return scope_.bind(content.at("arg").at("name").get<std::string>(), Argument::none());
        throw ImportFailure(ErrorCode::NotSupported,
                            what_ + ": an input of the kind '" + kind + "' is not supported");
    }

    void readUserInput(const Json &argument)
    {
        const auto &[kind, content] = unionOf(argument);
        ValueId id = noValue;
        if (kind == "as_tensor")
            id = scope_.addTensor(content.at("name").get<std::string>());
        else if (content.is_object() && content.contains("as_name"))
            id = scope_.addScalar(content.at("as_name").get<std::string>(),
                                  kind == "as_sym_int"     ? ValueKind::Int
                                  : kind == "as_sym_float" ? ValueKind::Float
                                                           : ValueKind::Bool);
        result_.callLeaves.push_back(id);
        if (id == noValue) return; // a constant of the call, already burnt into the graph
        valueOf(id).role = ValueRole::Input;
        result_.graph.inputs.push_back(id);
    }

    void readOutputSpec(const Json &spec)
    {
        const auto &[kind, content] = unionOf(spec);
        if (kind == "buffer_mutation") ++mutatedBuffers_;
        if (kind != "user_output" && kind != "loss_output") return;
        const Json &argument = content.at("arg");
        const Argument output = scope_.read(argument);
        const std::vector<Argument> items =
            output.kind == Argument::Kind::List ? output.items : std::vector<Argument>{output};
        for (const Argument &item : items) {
            if (item.kind == Argument::Kind::Value)
                result_.graph.outputs.push_back(item.value);
            else if (item.kind != Argument::Kind::None)
                result_.notes.push_back("an output that is always " + argument.dump() + " is left out");
        }
    }

    Value &valueOf(ValueId id) { return result_.graph.values[static_cast<std::size_t>(id)]; }

    const Json &program_;
    const Json &module_;
    std::string what_;
    ExportedGraph result_;
    GraphNames names_;
    ExportScope scope_;
    int mutatedBuffers_ = 0;
};

} // namespace

Result<ExportedGraph> graphFromExport(const Json &program, const std::string &what)
{
    Result<ExportedGraph> read = catchImportFailure(what, [&] { return ProgramReader(program, what).run(); });
    if (!read) return read;
    if (const Result<void> valid = validateGraph(read->graph); !valid) return forward(valid.error(), what);
    return read;
}

} // namespace kernelwright
