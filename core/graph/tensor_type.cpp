// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_type.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <limits>

namespace kernelwright
{

namespace
{
struct DTypeEntry
{
    DType dtype;
    const char *name;
    const char *otherName; // PyTorch's other spelling, "" where there is none
    std::size_t size;
};
constexpr std::array<DTypeEntry, 14> dtypes{{{DType::Float64, "float64", "double", 8},
                                             {DType::Float32, "float32", "float", 4},
                                             {DType::Float16, "float16", "half", 2},
                                             {DType::BFloat16, "bfloat16", "", 2},
                                             {DType::Int64, "int64", "long", 8},
                                             {DType::Int32, "int32", "int", 4},
                                             {DType::Int16, "int16", "short", 2},
                                             {DType::Int8, "int8", "char", 1},
                                             {DType::UInt8, "uint8", "byte", 1},
                                             {DType::Bool, "bool", "", 1},
                                             {DType::Float8E4M3, "float8_e4m3fn", "", 1},
                                             {DType::Float8E5M2, "float8_e5m2", "", 1},
                                             {DType::Complex64, "complex64", "cfloat", 8},
                                             {DType::Complex128, "complex128", "cdouble", 16}}};

const DTypeEntry *findEntry(DType dtype)
{
    const auto *it =
        std::find_if(dtypes.begin(), dtypes.end(), [&](const auto &e) { return e.dtype == dtype; });
    return it == dtypes.end() ? nullptr : it;
}

std::string listText(const std::vector<std::int64_t> &numbers)
{
    std::vector<std::string> parts;
    for (const std::int64_t number : numbers)
        parts.push_back(std::to_string(number));
    return "[" + joinText(parts, ", ") + "]";
}
} // namespace

const char *dtypeName(DType dtype)
{
    const DTypeEntry *entry = findEntry(dtype);
    return entry != nullptr ? entry->name : "unknown";
}

DType dtypeFromName(const std::string &name)
{
    constexpr std::string_view prefix = "torch.";
    const std::string bare = name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name;
    if (bare.empty()) return DType::Unknown;
    for (const DTypeEntry &entry : dtypes)
        if (bare == entry.name || bare == entry.otherName) return entry.dtype;
    return DType::Unknown;
}

std::size_t dtypeSize(DType dtype)
{
    const DTypeEntry *entry = findEntry(dtype);
    return entry != nullptr ? entry->size : 0;
}

bool isFloating(DType dtype)
{
    switch (dtype) {
    case DType::Float64:
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float8E4M3:
    case DType::Float8E5M2:
        return true;
    default:
        return false;
    }
}

std::int64_t TensorType::elementCount() const
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16; // 16: the widest element
    std::int64_t count = 1;
    bool tooMany = false;
    for (const std::int64_t size : sizes) {
        if (size <= 0) return 0;
        if (__builtin_mul_overflow(count, size, &count) || count > most) {
            tooMany = true; // a later size may still be zero
            count = 1;
        }
    }
    return tooMany ? most : count;
}

bool TensorType::isContiguous() const
{
    if (strides.size() != sizes.size()) return false;
    if (elementCount() == 0) return true;
    std::int64_t expected = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] == 1) continue; // the stride of such a dimension is never used
        if (strides[i] != expected) return false;
        expected *= sizes[i];
    }
    return true;
}

std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t> &sizes)
{
    std::vector<std::int64_t> strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;)
        if (__builtin_mul_overflow(strides[i], std::max<std::int64_t>(sizes[i], 1), &strides[i - 1]))
            strides[i - 1] = std::numeric_limits<std::int64_t>::max();
    return strides;
}

TensorType contiguousType(DType dtype, std::vector<std::int64_t> sizes)
{
    TensorType type;
    type.dtype = dtype;
    type.strides = contiguousStrides(sizes);
    type.sizes = std::move(sizes);
    return type;
}

std::string describe(const TensorType &type)
{
    std::string text = dtypeName(type.dtype) + listText(type.sizes);
    if (!type.isContiguous()) text += " strides " + listText(type.strides);
    return text;
}

void to_json(Json &json, const TensorType &type)
{
    json = Json{{"dtype", dtypeName(type.dtype)}, {"shape", type.sizes}, {"strides", type.strides}};
    if (!type.symbols.empty()) json["symbols"] = type.symbols;
}

void from_json(const Json &json, TensorType &type)
{
    type = TensorType();
    type.dtype = dtypeFromName(json.at("dtype").get<std::string>());
    json.at("shape").get_to(type.sizes);
    json.at("strides").get_to(type.strides);
    readOptional(json, "symbols", type.symbols);
    const auto isNegative = [](std::int64_t number) { return number < 0; };
    if (type.strides.size() != type.sizes.size())
        rejectJson("a tensor has " + std::to_string(type.sizes.size()) + " sizes but " +
                   std::to_string(type.strides.size()) + " strides");
    if (std::any_of(type.sizes.begin(), type.sizes.end(), isNegative) ||
        std::any_of(type.strides.begin(), type.strides.end(), isNegative))
        rejectJson("a tensor has a negative size or stride: " + describe(type));
    if (!type.symbols.empty() && type.symbols.size() != type.sizes.size())
        rejectJson("a tensor has " + std::to_string(type.sizes.size()) + " sizes but " +
                   std::to_string(type.symbols.size()) + " symbols");
}

} // namespace kernelwright
