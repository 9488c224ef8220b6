// SPDX-License-Identifier: GPL-3.0-or-later
#include "bind_parameters.h"

#include "base/text.h"
#include "plan_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace kernelwright
{

namespace
{
enum class ScalarKind { Signed, Unsigned, Float, Bool };

struct ScalarType
{
    ScalarKind kind = ScalarKind::Signed;
    int bytes = 4;
};

/// "unsigned long long int" and "const std::size_t" alike: words in any order, as C++ allows them.
std::optional<ScalarType> scalarType(const std::string &text)
{
    static const std::unordered_map<std::string, ScalarType> named{
        {"float", {ScalarKind::Float, 4}},       {"double", {ScalarKind::Float, 8}},
        {"bool", {ScalarKind::Bool, 1}},         {"size_t", {ScalarKind::Unsigned, 8}},
        {"ptrdiff_t", {ScalarKind::Signed, 8}},  {"int8_t", {ScalarKind::Signed, 1}},
        {"uint8_t", {ScalarKind::Unsigned, 1}},  {"int16_t", {ScalarKind::Signed, 2}},
        {"uint16_t", {ScalarKind::Unsigned, 2}}, {"int32_t", {ScalarKind::Signed, 4}},
        {"uint32_t", {ScalarKind::Unsigned, 4}}, {"int64_t", {ScalarKind::Signed, 8}},
        {"uint64_t", {ScalarKind::Unsigned, 8}}, {"uint", {ScalarKind::Unsigned, 4}}};
    int longs = 0, shorts = 0, chars = 0, ints = 0, signs = 0;
    bool isUnsigned = false;
    std::vector<std::string> words;
    for (std::string word : splitText(text, ' ')) {
        if (word.empty() || word == "const") continue;
        if (word.starts_with("std::")) word.erase(0, 5);
        longs += word == "long";
        shorts += word == "short";
        chars += word == "char";
        ints += word == "int";
        signs += word == "signed" || word == "unsigned";
        isUnsigned = isUnsigned || word == "unsigned";
        words.push_back(std::move(word));
    }
    if (words.size() == 1)
        if (const auto it = named.find(words.front()); it != named.end()) return it->second;
    const int known = longs + shorts + chars + ints + signs;
    if (words.empty() || known != static_cast<int>(words.size()) || longs > 2 ||
        longs + shorts + chars > std::max(1, longs))
        return std::nullopt;
    const int bytes = longs > 0 ? 8 : shorts > 0 ? 2 : chars > 0 ? 1 : 4;
    return ScalarType{isUnsigned ? ScalarKind::Unsigned : ScalarKind::Signed, bytes};
}

template <class T>
std::vector<std::byte> bytesOf(T value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::vector<std::byte> integerBytes(double value, int count)
{
    std::vector<std::byte> bytes = bytesOf(static_cast<std::int64_t>(value));
    bytes.resize(static_cast<std::size_t>(count)); // little endian: the low bytes come first
    return bytes;
}

tl::unexpected<Error> unfit(const KernelParameter &parameter, const std::string &expected, double value)
{
    return failAt(parameter.position, "expected " + expected + " for the parameter '" + parameter.type + " " +
                                          parameter.name + "', but its value is " +
                                          formatFixed(value, value == std::floor(value) ? 0 : 6));
}

Result<BoundParameter> bindNumber(const KernelParameter &parameter, ScalarType type, double value)
{
    BoundParameter bound;
    if (type.kind == ScalarKind::Float) {
        bound.bytes = type.bytes == 4 ? bytesOf(static_cast<float>(value)) : bytesOf(value);
        if (type.bytes == 4 && !std::isfinite(static_cast<float>(value)))
            return unfit(parameter, "a number that float can hold", value);
        return bound;
    }
    if (value != std::floor(value)) return unfit(parameter, "a whole number", value);
    if (type.kind == ScalarKind::Bool) {
        if (value != 0 && value != 1) return unfit(parameter, "0 or 1", value);
        bound.bytes = integerBytes(value, 1);
        return bound;
    }
    constexpr double mostExact = 9007199254740992.0; // 2^53
    const int bits = type.bytes * 8;
    const double top =
        type.kind == ScalarKind::Unsigned ? std::ldexp(1.0, bits) - 1 : std::ldexp(1.0, bits - 1) - 1;
    const double most = std::min(top, mostExact);
    const double least =
        type.kind == ScalarKind::Unsigned ? 0 : std::max(-std::ldexp(1.0, bits - 1), -mostExact);
    if (!(value >= least && value <= most))
        return unfit(parameter,
                     "a whole number from " + formatFixed(least, 0) + " to " + formatFixed(most, 0), value);
    bound.bytes = integerBytes(value, type.bytes);
    return bound;
}

Result<BoundParameter> bindPointer(const KernelParameter &parameter, const PlanNames &names)
{
    const std::size_t stars =
        static_cast<std::size_t>(std::count(parameter.type.begin(), parameter.type.end(), '*'));
    const auto buffer = names.buffer(parameter.name);
    if (buffer && buffer->kind == BoundParameter::Kind::TensorMap)
        return failAt(parameter.position, "expected 'const __grid_constant__ CUtensorMap " + parameter.name +
                                              "' for a tensor map, found '" + parameter.type + "'");
    if (!buffer)
        return failAt(parameter.position,
                      "expected the pointer " + quoteText(parameter.name) +
                          " to have the name of an input, an output or a workspace; there are " +
                          names.buffersThereAre());
    if (stars > 1)
        return failAt(parameter.position, "expected a pointer to elements, found '" + parameter.type + "'");
    if (buffer->kind == BoundParameter::Kind::Input && !parameter.isConstPointer)
        return failAt(parameter.position, "expected const: the input " + parameter.name +
                                              " must be const, since a kernel may not write it");
    BoundParameter bound;
    bound.kind = buffer->kind;
    bound.index = buffer->index;
    return bound;
}

/// A tensor map is passed by value, where the instructions that use it find its address.
Result<BoundParameter> bindTensorMap(const KernelParameter &parameter, std::size_t index)
{
    const bool isMap = parameter.type.ends_with("CUtensorMap") || parameter.type.ends_with("CUtensorMap_st");
    if (!isMap || !parameter.isGridConstant)
        return failAt(parameter.position, "expected 'const __grid_constant__ CUtensorMap " + parameter.name +
                                              "' for a tensor map, found '" + parameter.type + " " +
                                              parameter.name + "'");
    BoundParameter bound;
    bound.kind = BoundParameter::Kind::TensorMap;
    bound.index = index;
    return bound;
}
} // namespace

Result<BoundParameter> bindParameter(const KernelParameter &parameter, const PlanNames &names)
{
    if (parameter.isPointer) return bindPointer(parameter, names);
    if (names.isTunable(parameter.name))
        return failAt(parameter.position, "expected no parameter called " + parameter.name +
                                              ", since this tunable is a macro in the source");
    if (const auto buffer = names.buffer(parameter.name);
        buffer && buffer->kind == BoundParameter::Kind::TensorMap)
        return bindTensorMap(parameter, buffer->index);
    const std::optional<double> value = names.number(parameter.name);
    if (!value && names.buffer(parameter.name))
        return failAt(parameter.position, "expected a pointer, since " + quoteText(parameter.name) +
                                              " is a tensor or a workspace, found '" + parameter.type + "'");
    if (!value)
        return failAt(parameter.position, "expected the parameter " + quoteText(parameter.name) +
                                              " to have a known name; there are " + names.numbersThereAre());
    const std::optional<ScalarType> type = scalarType(parameter.type);
    if (!type)
        return failAt(parameter.position,
                      "expected a parameter of type bool, int, unsigned, long long, size_t, float or "
                      "double, found " +
                          quoteText(parameter.type));
    return bindNumber(parameter, *type, *value);
}

Result<void> checkOutputsWritten(const LaunchPlan &plan, const PlanNames &names)
{
    for (const std::string &output : names.outputNames()) {
        const auto isMapOfIt = [&](const std::string &name) {
            return std::any_of(
                plan.tensorMaps.begin(), plan.tensorMaps.end(),
                [&](const PlannedTensorMap &map) { return map.name == name && map.tensor == output; });
        };
        const auto writes = [&](const KernelParameter &parameter) {
            return (parameter.isPointer && !parameter.isConstPointer && parameter.name == output) ||
                   (!parameter.isPointer && isMapOfIt(parameter.name));
        };
        const bool isWritten =
            std::any_of(plan.kernels.begin(), plan.kernels.end(), [&](const PlannedKernel &kernel) {
                return std::any_of(kernel.parameters.begin(), kernel.parameters.end(), writes);
            });
        if (!isWritten)
            return failAt(plan.kernels.front().position,
                          "expected a kernel that takes the output " + quoteText(output) +
                              " as a pointer that is not const, or as a tensor map");
    }
    return {};
}

} // namespace kernelwright
