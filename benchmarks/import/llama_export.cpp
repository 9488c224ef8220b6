// SPDX-License-Identifier: GPL-3.0-or-later
#include "llama_export.h"

#include "stored_zip.h"

#include <utility>
#include <vector>

namespace kernelwright
{

namespace
{

using Sizes = std::vector<std::int64_t>;

Json sizeList(const Sizes &sizes)
{
    Json list = Json::array();
    for (const std::int64_t size : sizes)
        list.push_back({{"as_int", size}});
    return list;
}

Json tensorMeta(const Sizes &sizes, int dtype = 7)
{
    Sizes strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;)
        strides[i - 1] = strides[i] * sizes[i];
    return {{"dtype", dtype},
            {"sizes", sizeList(sizes)},
            {"requires_grad", false},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"strides", sizeList(strides)},
            {"storage_offset", {{"as_int", 0}}},
            {"layout", 7}};
}

Json tensorArgument(const std::string &name)
{
    return {{"as_tensor", {{"name", name}}}};
}

/// Builds the program node by node, each in the module that was entered last.
class ProgramWriter
{
public:
    std::string input(const std::string &name, const Sizes &sizes, int dtype)
    {
        values_[name] = tensorMeta(sizes, dtype);
        inputSpecs_.push_back({{"user_input", {{"arg", tensorArgument(name)}}}});
        return name;
    }

    std::string parameter(const std::string &target, const Sizes &sizes)
    {
        std::string name = "p_" + target;
        for (char &c : name)
            if (c == '.') c = '_';
        values_[name] = tensorMeta(sizes);
        inputSpecs_.push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", target}}}});
        return name;
    }

    void enter(std::string module, std::string type)
    {
        module_ = std::move(module);
        type_ = std::move(type);
    }

    std::string node(const std::string &op, const std::vector<std::pair<std::string, Json>> &arguments,
                     const Sizes &sizes)
    {
        const std::string name = "node_" + std::to_string(nodes_.size());
        Json inputs = Json::array();
        for (const auto &[parameter, argument] : arguments)
            inputs.push_back({{"name", parameter}, {"arg", argument}, {"kind", 1}});
        nodes_.push_back({{"target", "torch.ops.aten." + op},
                          {"inputs", std::move(inputs)},
                          {"outputs", Json::array({tensorArgument(name)})},
                          {"metadata", metadata()},
                          {"is_hop_single_tensor_return", nullptr},
                          {"name", name}});
        values_[name] = tensorMeta(sizes);
        return name;
    }

    Json returning(const std::string &output)
    {
        Json graph{{"inputs", Json::array()},
                   {"outputs", Json::array({tensorArgument(output)})},
                   {"nodes", std::move(nodes_)},
                   {"tensor_values", std::move(values_)},
                   {"sym_int_values", Json::object()}};
        Json signature{
            {"input_specs", std::move(inputSpecs_)},
            {"output_specs", Json::array({Json{{"user_output", {{"arg", tensorArgument(output)}}}}})}};
        return {{"graph_module", {{"graph", std::move(graph)}, {"signature", std::move(signature)}}},
                {"range_constraints", Json::object()},
                {"schema_version", {{"major", 8}, {"minor", 17}}},
                {"torch_version", "2.11.0"}};
    }

private:
    Json metadata() const
    {
        std::string trace;
        for (const char *frame : {"459, in forward\n    outputs = self.model(",
                                  "394, in forward\n    hidden_states = "
                                  "decoder_layer(",
                                  "297, in forward\n    hidden_states = self.input_layernorm("
                                  "hidden_states)",
                                  "65, in forward\n    variance = hidden_states.pow(2).mean(-1, "
                                  "keepdim=True)"})
            trace += std::string("  File \"/home/user/project/lib/models/llama/modeling_llama.py\", line ") +
                     frame + "\n";
        const std::string package = "models.llama.modeling_llama.";
        return {{"stack_trace", trace},
                {"nn_module_stack", "L__self__,," + package + "LlamaForCausalLM;L__self___model,model," +
                                        package + "LlamaModel;L__self___" + module_ + "," + module_ + "," +
                                        package + type_},
                {"torch_fn", "function_1;builtin_function.function"}};
    }

    Json nodes_ = Json::array();
    Json values_ = Json::object();
    Json inputSpecs_ = Json::array();
    std::string module_, type_;
};

Json number(double value)
{
    return {{"as_float", value}};
}
Json integer(std::int64_t value)
{
    return {{"as_int", value}};
}
Json integers(const Sizes &values)
{
    return {{"as_ints", values}};
}

class LlamaWriter
{
public:
    explicit LlamaWriter(const LlamaSizes &sizes)
        : sizes_(sizes)
        , states_{1, sizes.length, sizes.width}
        , heads_{1, sizes.heads, sizes.length, sizes.width / sizes.heads}
    {}

    Json write()
    {
        const std::string table =
            out_.parameter("model.embed_tokens.weight", {sizes_.vocabulary, sizes_.width});
        const std::string ids = out_.input("input_ids", {1, sizes_.length}, 5);
        const std::string cosine = out_.input("cosine", {1, 1, sizes_.length, heads_[3]}, 7);
        out_.enter("model.embed_tokens", "Embedding");
        std::string x =
            out_.node("embedding.default",
                      {{"weight", tensorArgument(table)}, {"indices", tensorArgument(ids)}}, states_);
        for (int layer = 0; layer < sizes_.layers; ++layer)
            x = writeLayer(x, cosine, "model.layers." + std::to_string(layer));
        x = norm(x, "model.norm");
        return out_.returning(linear(x, "lm_head", sizes_.width, sizes_.vocabulary));
    }

private:
    std::string unary(const std::string &op, const std::string &x, const Sizes &sizes)
    {
        return out_.node(op, {{"self", tensorArgument(x)}}, sizes);
    }

    std::string binary(const std::string &op, const std::string &x, const std::string &y, const Sizes &sizes)
    {
        return out_.node(op, {{"self", tensorArgument(x)}, {"other", tensorArgument(y)}}, sizes);
    }

    std::string linear(const std::string &x, const std::string &module, std::int64_t from, std::int64_t to)
    {
        const std::string weight = out_.parameter(module + ".weight", {to, from});
        out_.enter(module, "Linear");
        return out_.node("linear.default", {{"input", tensorArgument(x)}, {"weight", tensorArgument(weight)}},
                         {1, sizes_.length, to});
    }

    std::string norm(const std::string &x, const std::string &module)
    {
        const std::string weight = out_.parameter(module + ".weight", {sizes_.width});
        out_.enter(module, "LlamaRMSNorm");
        const Sizes row{1, sizes_.length, 1};
        const std::string wide =
            out_.node("to.dtype", {{"self", tensorArgument(x)}, {"dtype", {{"as_scalar_type", 7}}}}, states_);
        const std::string square = out_.node(
            "pow.Tensor_Scalar", {{"self", tensorArgument(wide)}, {"exponent", integer(2)}}, states_);
        const std::string mean = out_.node(
            "mean.dim",
            {{"self", tensorArgument(square)}, {"dim", integers({-1})}, {"keepdim", {{"as_bool", true}}}},
            row);
        const std::string sum =
            out_.node("add.Tensor", {{"self", tensorArgument(mean)}, {"other", number(1e-6)}}, row);
        const std::string scaled = binary("mul.Tensor", wide, unary("rsqrt.default", sum, row), states_);
        return binary("mul.Tensor", weight, scaled, states_);
    }

    std::string split(const std::string &x)
    {
        const std::string viewed = out_.node(
            "view.default",
            {{"self", tensorArgument(x)}, {"size", integers({1, sizes_.length, sizes_.heads, heads_[3]})}},
            {1, sizes_.length, sizes_.heads, heads_[3]});
        return out_.node("transpose.int",
                         {{"self", tensorArgument(viewed)}, {"dim0", integer(1)}, {"dim1", integer(2)}},
                         heads_);
    }

    std::string rotate(const std::string &x, const std::string &cosine)
    {
        Sizes half = heads_;
        half[3] /= 2;
        const auto slice = [&](std::int64_t from, std::int64_t to) {
            return out_.node("slice.Tensor",
                             {{"self", tensorArgument(x)},
                              {"dim", integer(3)},
                              {"start", integer(from)},
                              {"end", integer(to)}},
                             half);
        };
        const std::string first = slice(0, half[3]);
        const std::string second = unary("neg.default", slice(half[3], heads_[3]), half);
        const Json pair{{"as_tensors", Json::array({Json{{"name", second}}, Json{{"name", first}}})}};
        const std::string turned =
            out_.node("cat.default", {{"tensors", pair}, {"dim", integer(-1)}}, heads_);
        return binary("add.Tensor", binary("mul.Tensor", x, cosine, heads_),
                      binary("mul.Tensor", turned, cosine, heads_), heads_);
    }

    std::string writeLayer(const std::string &x, const std::string &cosine, const std::string &layer)
    {
        const std::string attention = layer + ".self_attn";
        const std::string normed = norm(x, layer + ".input_layernorm");
        const auto project = [&](const char *name) {
            return split(linear(normed, attention + name, sizes_.width, sizes_.width));
        };
        const std::string query = project(".q_proj"), key = project(".k_proj"), value = project(".v_proj");
        out_.enter(attention, "LlamaAttention");
        const std::string turnedQuery = rotate(query, cosine), turnedKey = rotate(key, cosine);
        const std::string mixed = out_.node("scaled_dot_product_attention.default",
                                            {{"query", tensorArgument(turnedQuery)},
                                             {"key", tensorArgument(turnedKey)},
                                             {"value", tensorArgument(value)},
                                             {"is_causal", {{"as_bool", true}}}},
                                            heads_);
        const std::string back = out_.node(
            "transpose.int", {{"self", tensorArgument(mixed)}, {"dim0", integer(1)}, {"dim1", integer(2)}},
            {1, sizes_.length, sizes_.heads, heads_[3]});
        const std::string joined = out_.node(
            "reshape.default", {{"self", tensorArgument(back)}, {"shape", integers(states_)}}, states_);
        const std::string attended = binary(
            "add.Tensor", x, linear(joined, attention + ".o_proj", sizes_.width, sizes_.width), states_);
        const std::string inner = norm(attended, layer + ".post_attention_layernorm");
        const Sizes hidden{1, sizes_.length, sizes_.hidden};
        const std::string gate = linear(inner, layer + ".mlp.gate_proj", sizes_.width, sizes_.hidden);
        const std::string up = linear(inner, layer + ".mlp.up_proj", sizes_.width, sizes_.hidden);
        const std::string gated = binary("mul.Tensor", unary("silu.default", gate, hidden), up, hidden);
        return binary("add.Tensor", attended,
                      linear(gated, layer + ".mlp.down_proj", sizes_.hidden, sizes_.width), states_);
    }

    LlamaSizes sizes_;
    Sizes states_, heads_;
    ProgramWriter out_;
};

} // namespace

Json llamaProgram(const LlamaSizes &sizes)
{
    return LlamaWriter(sizes).write();
}

Json chainProgram(int nodes)
{
    ProgramWriter out;
    std::string x = out.input("x", {64, 64}, 7);
    const std::string first = x;
    for (int i = 0; i < nodes; ++i) {
        out.enter("blocks." + std::to_string(i / 10), "Block");
        x = out.node("add.Tensor", {{"self", tensorArgument(x)}, {"other", tensorArgument(first)}}, {64, 64});
    }
    return out.returning(x);
}

void writeProgram(const std::string &path, const Json &program)
{
    StoredZip zip(path);
    zip.add("model/archive_format", "pt2");
    zip.add("model/models/model.json", writeJson(program));
    zip.finish();
}

void writeSparseWeights(const std::string &path, int records, std::int64_t recordBytes)
{
    ProgramWriter out;
    const Sizes sizes{recordBytes / 4};
    const std::string x = out.input("x", {1}, 7);
    std::string sum = x;
    Json config = Json::object();
    for (int i = 0; i < records; ++i) {
        const std::string target = "weight" + std::to_string(i);
        const std::string weight = out.parameter(target, sizes);
        sum =
            out.node("add.Tensor", {{"self", tensorArgument(sum)}, {"other", tensorArgument(weight)}}, sizes);
        config[target] = {{"path_name", "weight_" + std::to_string(i)},
                          {"is_param", true},
                          {"use_pickle", false},
                          {"tensor_meta", tensorMeta(sizes)}};
    }
    StoredZip zip(path);
    zip.add("model/models/model.json", writeJson(out.returning(sum)));
    zip.add("model/data/weights/model_weights_config.json", writeJson(Json{{"config", config}}));
    for (int i = 0; i < records; ++i)
        zip.addHole("model/data/weights/weight_" + std::to_string(i), recordBytes);
    zip.finish();
}

} // namespace kernelwright
