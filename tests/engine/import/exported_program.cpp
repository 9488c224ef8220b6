// SPDX-License-Identifier: GPL-3.0-or-later
#include "exported_program.h"

namespace kernelwright
{

Json fixedSize(std::int64_t size)
{
    return {{"as_int", size}};
}

Json symbolicSize(const std::string &expression, std::int64_t hint)
{
    return {{"as_expr", {{"expr_str", expression}, {"hint", {{"as_int", hint}}}}}};
}

Json tensorMeta(const std::vector<Json> &sizes, int dtype)
{
    Json strides = Json::array();
    std::int64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strides.insert(strides.begin(), fixedSize(stride));
        stride *= sizes[i].contains("as_int") ? sizes[i]["as_int"].get<std::int64_t>()
                                              : sizes[i]["as_expr"]["hint"]["as_int"].get<std::int64_t>();
    }
    return {{"dtype", dtype},
            {"sizes", sizes},
            {"strides", strides},
            {"requires_grad", false},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"storage_offset", fixedSize(0)},
            {"layout", 7}};
}

Json tensorArgument(const std::string &name)
{
    return {{"as_tensor", {{"name", name}}}};
}

Json tensorNode(const std::string &target, const std::vector<std::pair<std::string, Json>> &inputs,
                const std::string &output)
{
    Json list = Json::array();
    for (const auto &[name, argument] : inputs)
        list.push_back({{"name", name}, {"arg", argument}, {"kind", 1}});
    return {{"target", target},
            {"name", output},
            {"inputs", list},
            {"outputs", Json::array({tensorArgument(output)})},
            {"metadata",
             {{"stack_trace",
               "  File \"/home/me/net.py\", line 7, in forward\n    return self.layer(x)\n  File "
               "\"/usr/lib/python3/site-packages/torch/nn/linear.py\", line 134, in forward\n    return "
               "F.linear(input)"},
              {"nn_module_stack",
               "L__self__,,__main__.Net;L__self___layer,layer,torch.nn.modules.linear.Linear"}}}};
}

Json linearProgram()
{
    const Json graph = {
        {"inputs", Json::array({tensorArgument("p_weight"), tensorArgument("x")})},
        {"outputs", Json::array({tensorArgument("linear")})},
        {"nodes", Json::array({tensorNode(
                      "torch.ops.aten.linear.default",
                      {{"input", tensorArgument("x")}, {"weight", tensorArgument("p_weight")}}, "linear")})},
        {"tensor_values",
         {{"x", tensorMeta({fixedSize(2), fixedSize(3)})},
          {"p_weight", tensorMeta({fixedSize(4), fixedSize(3)})},
          {"linear", tensorMeta({fixedSize(2), fixedSize(4)})}}},
        {"sym_int_values", Json::object()}};
    const Json parameter = {
        {"parameter", {{"arg", {{"name", "p_weight"}}}, {"parameter_name", "layer.weight"}}}};
    const Json input = {{"user_input", {{"arg", tensorArgument("x")}}}};
    const Json output = {{"user_output", {{"arg", tensorArgument("linear")}}}};
    const Json signature = {{"input_specs", Json::array({parameter, input})},
                            {"output_specs", Json::array({output})}};
    return {{"graph_module", {{"graph", graph}, {"signature", signature}}},
            {"range_constraints", Json::object()},
            {"schema_version", {{"major", 8}, {"minor", 17}}},
            {"torch_version", "2.11.0"}};
}

Records exportRecords(const Json &program, const std::vector<std::pair<std::string, QByteArray>> &weights)
{
    Json config = Json::object();
    Records records{{"net/archive_format", "pt2"}};
    int index = 0;
    for (const auto &[name, bytes] : weights) {
        const std::string file = "weight_" + std::to_string(index++);
        config[name] = {{"path_name", file},
                        {"is_param", true},
                        {"use_pickle", false},
                        {"tensor_meta", tensorMeta({fixedSize(4), fixedSize(3)})}};
        records.emplace_back(QString::fromStdString("net/data/weights/" + file), bytes);
    }
    const Json whole = {{"config", config}};
    records.emplace_back("net/data/weights/model_weights_config.json",
                         QByteArray::fromStdString(writeJson(whole)));
    records.emplace_back("net/models/model.json", QByteArray::fromStdString(writeJson(program)));
    return records;
}

} // namespace kernelwright
