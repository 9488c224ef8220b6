// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_inputs.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace kernelwright
{

namespace
{

constexpr std::int64_t largestInput = std::int64_t{64} << 30;
// A file may claim any size; a person who asks for one knows what it costs.
constexpr std::int64_t largestUnasked = std::int64_t{1} << 30;
constexpr std::uint64_t seed = 20240229; // any fixed number: the same model gets the same inputs everywhere

tl::unexpected<Error> badSpec(const std::string &text, const std::string &why)
{
    return fail(ErrorCode::BadInput, "the input spec '" + text + "' " + why +
                                         "; it is written like 1x512:int64 or name=8x3x224x224:float16");
}

void storeElement(std::byte *target, DType dtype, double value)
{
    const auto put = [target](auto number) { std::memcpy(target, &number, sizeof number); };
    switch (dtype) {
    case DType::Float64:
        return put(value);
    case DType::Float32:
        return put(static_cast<float>(value));
    case DType::Float16:
        return put(floatToHalf(static_cast<float>(value)));
    case DType::BFloat16:
        return put(floatToBfloat16(static_cast<float>(value)));
    case DType::Int64:
        return put(static_cast<std::int64_t>(value));
    case DType::Int32:
        return put(static_cast<std::int32_t>(value));
    case DType::Int16:
        return put(static_cast<std::int16_t>(value));
    case DType::Int8:
        return put(static_cast<std::int8_t>(value));
    default:
        return put(static_cast<std::uint8_t>(value));
    }
}

bool isInteger(DType dtype)
{
    return dtype == DType::Int64 || dtype == DType::Int32 || dtype == DType::Int16 || dtype == DType::Int8 ||
           dtype == DType::UInt8;
}

const InputSpec *specFor(const std::vector<InputSpec> &specs, const Value &input, std::size_t unnamedIndex)
{
    const InputSpec *named = nullptr;
    std::size_t unnamed = 0;
    for (const InputSpec &spec : specs) {
        if (spec.name == input.name) named = &spec;
        if (spec.name.empty() && unnamed++ == unnamedIndex && !named) return &spec;
    }
    return named;
}

std::string namesOf(const OperatorGraph &graph)
{
    std::vector<std::string> names;
    for (const ValueId id : graph.inputs)
        names.push_back(graph.value(id).name);
    return joinText(names, ", ");
}

Result<void> checkSpecs(const OperatorGraph &graph, const std::vector<InputSpec> &specs)
{
    if (specs.size() > graph.inputs.size())
        return fail(ErrorCode::BadInput,
                    std::to_string(specs.size()) + " input specs were given, but the model takes " +
                        std::to_string(graph.inputs.size()) + " inputs: " + namesOf(graph));
    for (const InputSpec &spec : specs) {
        const bool known =
            spec.name.empty() || std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                             [&](ValueId id) { return graph.value(id).name == spec.name; });
        if (!known)
            return fail(ErrorCode::BadInput,
                        "the model has no input '" + spec.name + "'; its inputs are " + namesOf(graph));
    }
    return {};
}

} // namespace

Result<InputSpec> parseInputSpec(const std::string &text)
{
    InputSpec spec;
    std::string rest = text;
    if (const std::size_t equals = rest.find('='); equals != std::string::npos) {
        spec.name = trimText(rest.substr(0, equals));
        if (spec.name.empty()) return badSpec(text, "has no name before '='");
        rest.erase(0, equals + 1);
    }
    spec.dtype = DType::Unknown;
    if (const std::size_t colon = rest.find(':'); colon != std::string::npos) {
        const std::string dtype = trimText(rest.substr(colon + 1));
        spec.dtype = dtypeFromName(dtype);
        if (spec.dtype == DType::Unknown)
            return badSpec(text, "names the element type '" + dtype + "', which is none");
        rest.resize(colon);
    }
    rest = trimText(rest);
    if (rest.empty()) return spec; // a single number
    std::int64_t count = 1;
    for (const std::string &part : splitText(rest, 'x')) {
        std::int64_t size = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
        if (error != std::errc() || end != part.data() + part.size() || size < 0)
            return badSpec(text, "has '" + part + "' where a size belongs");
        if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count) || count > largestInput)
            return badSpec(text, "asks for an absurdly large tensor");
        spec.sizes.push_back(size);
    }
    return spec;
}

Result<HostTensor> randomTensor(DType dtype, const std::vector<std::int64_t> &sizes,
                                std::int64_t integerBound, std::mt19937_64 &generator)
{
    const TensorType type = contiguousType(dtype, sizes);
    if (dtypeSize(dtype) == 0)
        return fail(ErrorCode::BadInput, "an input of unknown element type cannot be made up");
    if (type.elementCount() > largestInput / static_cast<std::int64_t>(dtypeSize(dtype)))
        return fail(ErrorCode::BadInput, "an input " + describe(type) + " would need more than 64 GiB");
    HostTensor tensor = makeHostTensor(dtype, sizes);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<std::int64_t> uniform(0, std::max<std::int64_t>(integerBound, 1) - 1);
    const std::size_t width = dtypeSize(dtype);
    const bool isComplex = dtype == DType::Complex64 || dtype == DType::Complex128;
    const DType part = dtype == DType::Complex64    ? DType::Float32
                       : dtype == DType::Complex128 ? DType::Float64
                                                    : dtype;
    const std::size_t partWidth = isComplex ? width / 2 : width;
    const auto parts = static_cast<std::size_t>(type.elementCount()) * (isComplex ? 2 : 1);
    for (std::size_t i = 0; i < parts; ++i) {
        const double value = isInteger(part)       ? static_cast<double>(uniform(generator))
                             : part == DType::Bool ? static_cast<double>(generator() & 1U)
                                                   : normal(generator);
        storeElement(tensor.data() + i * partWidth, part, value);
    }
    return tensor;
}

std::int64_t integerBoundOf(const OperatorGraph &graph, ValueId input)
{
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t bound = none;
    std::vector<bool> reached(graph.values.size(), false);
    reached[static_cast<std::size_t>(input)] = true;
    for (const Node &node : graph.nodes) { // in execution order, so one pass follows all paths
        const Argument *indices = findArgument(node, "indices");
        const Argument *table = findArgument(node, "weight");
        const auto isReached = [&](ValueId id) { return reached[static_cast<std::size_t>(id)]; };
        if (node.op == "aten::embedding" && indices && table && indices->kind == Argument::Kind::Value &&
            table->kind == Argument::Kind::Value && isReached(indices->value)) {
            const TensorType &type = graph.value(table->value).type;
            if (!type.sizes.empty()) bound = std::min(bound, type.sizes[0]);
            continue;
        }
        const std::vector<ValueId> used = valuesUsed(node);
        if (!std::any_of(used.begin(), used.end(), isReached)) continue;
        for (const ValueId output : node.outputs) {
            const Value &value = graph.value(output);
            const bool carries = value.kind != ValueKind::Tensor || value.type.dtype == DType::Unknown ||
                                 isInteger(value.type.dtype);
            if (carries) reached[static_cast<std::size_t>(output)] = true;
        }
    }
    return bound == none ? 2 : bound;
}

Result<std::vector<HostTensor>> makeSampleInputs(const OperatorGraph &graph,
                                                 const std::vector<InputSpec> &specs,
                                                 const std::vector<std::optional<HostTensor>> &fromFile,
                                                 std::optional<std::int64_t> integerBound)
{
    if (const Result<void> fit = checkSpecs(graph, specs); !fit) return forward(fit.error());
    std::mt19937_64 generator(seed);
    std::vector<HostTensor> inputs;
    std::size_t unnamed = 0;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const Value &value = graph.value(graph.inputs[i]);
        const InputSpec *spec = specFor(specs, value, unnamed);
        if (!spec || spec->name.empty()) ++unnamed;
        if (!spec && i < fromFile.size() && fromFile[i]) {
            inputs.push_back(*fromFile[i]);
            continue;
        }
        DType dtype = value.type.dtype;
        if (value.kind != ValueKind::Tensor)
            dtype = value.kind == ValueKind::Int    ? DType::Int64
                    : value.kind == ValueKind::Bool ? DType::Bool
                                                    : DType::Float64;
        if (spec && spec->dtype != DType::Unknown) dtype = spec->dtype;
        if (!spec && dtype == DType::Unknown)
            return fail(ErrorCode::BadInput, "the file does not say what the input '" + value.name +
                                                 "' looks like: pass --input " + value.name +
                                                 "=SIZES:TYPE, for "
                                                 "instance --input " +
                                                 value.name + "=1x64:int64");
        if (dtype == DType::Unknown) dtype = DType::Float32;
        if (!spec && value.type.byteCount() > largestUnasked)
            return fail(ErrorCode::BadInput, "the model's input '" + value.name + "' is " +
                                                 describe(value.type) +
                                                 ", too large to be made up unasked: pass --input " +
                                                 value.name + "=SIZES:TYPE if it is meant so");
        const std::int64_t bound = integerBound.value_or(integerBoundOf(graph, graph.inputs[i]));
        Result<HostTensor> tensor =
            randomTensor(dtype, spec ? spec->sizes : value.type.sizes, bound, generator);
        if (!tensor) return forward(tensor.error(), "input '" + value.name + "'");
        inputs.push_back(std::move(*tensor));
    }
    return inputs;
}

} // namespace kernelwright
