// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_schema.h"

#include <array>
#include <limits>

namespace kernelwright
{

ExportedUnion unionOf(const Json &json)
{
    if (!json.is_object() || json.size() != 1)
        throw ImportFailure(ErrorCode::BadInput,
                            "model.json holds " + writeJson(json).substr(0, 80) +
                                " where an object with one key belongs: the file is damaged");
    return {json.begin().key(), json.begin().value()};
}

DType dtypeFromExport(std::int64_t scalarType)
{
    switch (scalarType) {
    case 1:
        return DType::UInt8;
    case 2:
        return DType::Int8;
    case 3:
        return DType::Int16;
    case 4:
        return DType::Int32;
    case 5:
        return DType::Int64;
    case 6:
        return DType::Float16;
    case 7:
        return DType::Float32;
    case 8:
        return DType::Float64;
    case 10:
        return DType::Complex64;
    case 11:
        return DType::Complex128;
    case 12:
        return DType::Bool;
    case 13:
        return DType::BFloat16;
    case 29:
        return DType::Float8E4M3;
    case 30:
        return DType::Float8E5M2;
    default:
        return DType::Unknown;
    }
}

std::string layoutFromExport(std::int64_t layout)
{
    constexpr std::array<const char *, 8> names{"",           "sparse_coo", "sparse_csr", "sparse_csc",
                                                "sparse_bsr", "sparse_bsc", "_mkldnn",    "strided"};
    return layout >= 0 && layout < static_cast<std::int64_t>(names.size())
               ? names[static_cast<std::size_t>(layout)]
               : "";
}

std::string memoryFormatFromExport(std::int64_t format)
{
    constexpr std::array<const char *, 5> names{"", "contiguous_format", "channels_last", "channels_last_3d",
                                                "preserve_format"};
    return format >= 0 && format < static_cast<std::int64_t>(names.size())
               ? names[static_cast<std::size_t>(format)]
               : "";
}

std::string deviceFromExport(const Json &device)
{
    std::string name = device.at("type").get<std::string>();
    if (const auto index = device.find("index"); index != device.end() && index->is_number_integer())
        name += ":" + std::to_string(index->get<std::int64_t>());
    return name;
}

ExportedInteger integerFromExport(const Json &symInt)
{
    if (const auto fixed = symInt.find("as_int"); fixed != symInt.end())
        return {fixed->get<std::int64_t>(), ""};
    const Json &expression = symInt.at("as_expr");
    ExportedInteger result;
    result.expression = readableExpression(expression.at("expr_str").get<std::string>());
    const auto hint = expression.find("hint");
    if (hint != expression.end() && hint->is_object() && hint->contains("as_int"))
        result.value = hint->at("as_int").get<std::int64_t>();
    return result;
}

ExportedTensorMeta tensorMetaFromExport(const Json &meta)
{
    ExportedTensorMeta result;
    result.type.dtype = dtypeFromExport(meta.at("dtype").get<std::int64_t>());
    bool symbolic = false;
    for (const Json &size : meta.at("sizes")) {
        const ExportedInteger integer = integerFromExport(size);
        result.type.sizes.push_back(integer.value.value_or(1)); // data-dependent: known only when it runs
        result.type.symbols.push_back(integer.expression);
        symbolic = symbolic || !integer.expression.empty();
    }
    if (!symbolic) result.type.symbols.clear();
    for (const Json &stride : meta.at("strides"))
        result.type.strides.push_back(integerFromExport(stride).value.value_or(1));
    if (result.type.strides.size() != result.type.sizes.size())
        result.type.strides = contiguousStrides(result.type.sizes);
    result.storageOffset = integerFromExport(meta.at("storage_offset")).value.value_or(0);
    const auto layout = meta.find("layout");
    result.isSparse = layout != meta.end() && layoutFromExport(layout->get<std::int64_t>()) != "strided";
    return result;
}

double floatFromExport(const Json &number)
{
    if (!number.is_string()) return number.get<double>();
    const auto text = number.get<std::string>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    throw ImportFailure(ErrorCode::BadInput, "'" + text + "' is not a number");
}

} // namespace kernelwright
