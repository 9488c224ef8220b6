// SPDX-License-Identifier: GPL-3.0-or-later
#include "resolve_tensor_map.h"

#include "base/text.h"
#include "plan_expression.h"
#include "plan_text.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::int64_t mostSize = std::int64_t{1} << 32;
constexpr std::int64_t mostStrideBytes = std::int64_t{1} << 40; // excluded
constexpr std::int64_t mostBox = 256;
constexpr std::int64_t mostElementStride = 8;

/// The memory that a map may describe.
struct MappedMemory
{
    PlanNames::Buffer buffer;
    DType type = DType::Unknown;
    std::vector<std::int64_t> sizes, strides; ///< empty for a workspace
    std::int64_t bytes = 0;
};

bool canBeMapped(DType type)
{
    switch (type) {
    case DType::Float64:
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Int64:
    case DType::Int32:
    case DType::Int16:
    case DType::Int8:
    case DType::UInt8:
    case DType::Bool:
    case DType::Float8E4M3:
    case DType::Float8E5M2:
        return true;
    default:
        return false;
    }
}

class MapResolver
{
public:
    MapResolver(const PlannedTensorMap &map, const PlanNames &names)
        : map_(map)
        , names_(names)
    {}

    Result<ResolvedTensorMap> run(const MappedMemory &memory)
    {
        bytes_ = static_cast<std::int64_t>(dtypeSize(memory.type));
        if (auto done = takeSizes(memory); !done) return tl::unexpected<Error>(done.error());
        if (auto done = checkStrides(memory); !done) return tl::unexpected<Error>(done.error());
        if (auto done = takeBox(); !done) return tl::unexpected<Error>(done.error());
        if (auto done = checkModes(memory.type); !done) return tl::unexpected<Error>(done.error());
        return finished(memory);
    }

private:
    Result<std::vector<std::int64_t>> wholeNumbers(const std::vector<PlanExpression> &expressions,
                                                   std::int64_t most, const std::string &what) const
    {
        std::vector<std::int64_t> numbers;
        for (const PlanExpression &expression : expressions) {
            const Result<double> value = names_.evaluate(expression);
            if (!value) return tl::unexpected<Error>(value.error());
            const auto number = wholeNumber(*value, 1, most, expression, what);
            if (!number) return tl::unexpected<Error>(number.error());
            numbers.push_back(*number);
        }
        return numbers;
    }

    Result<void> takeSizes(const MappedMemory &memory)
    {
        if (map_.size.empty()) {
            if (memory.sizes.empty())
                return failAt(map_.position, "expected size= for a workspace or a tensor without dimensions");
            if (memory.sizes.size() > 5)
                return failAt(map_.position, "expected size= with at most 5 dimensions, since " +
                                                 quoteText(map_.tensor) + " has " +
                                                 std::to_string(memory.sizes.size()));
            sizes_ = memory.sizes;
            strides_ = memory.strides;
            if (std::any_of(sizes_.begin(), sizes_.end(),
                            [](std::int64_t n) { return n < 1 || n > mostSize; }))
                return failAt(map_.tensorPosition, "expected a tensor whose sizes are within 1 and 2^32");
            return {};
        }
        auto sizes = wholeNumbers(map_.size, mostSize, "a size of the tensor map");
        if (!sizes) return tl::unexpected<Error>(sizes.error());
        sizes_ = std::move(*sizes);
        strides_ = contiguousStrides(sizes_);
        if (map_.stride.empty()) return {};
        if (map_.stride.size() != sizes_.size())
            return failAt(map_.stride.front().position,
                          "expected as many strides as sizes, that is " + std::to_string(sizes_.size()));
        auto strides = wholeNumbers(map_.stride, mostStrideBytes, "a stride of the tensor map");
        if (!strides) return tl::unexpected<Error>(strides.error());
        strides_ = std::move(*strides);
        return {};
    }

    Result<void> checkStrides(const MappedMemory &memory) const
    {
        const PlanPosition at = map_.stride.empty() ? map_.tensorPosition : map_.stride.front().position;
        if (strides_.back() != 1)
            return failAt(at, "expected the innermost stride to be 1, but it is " +
                                  std::to_string(strides_.back()));
        const std::int64_t unit = map_.modes.interleaveBytes == 32 ? 32 : 16;
        std::int64_t last = 0; // stays far below 2^63: sizes up to 2^32, strides checked first
        for (std::size_t d = 0; d < sizes_.size(); ++d) {
            const bool isInnermost = d + 1 == sizes_.size();
            if (!isInnermost && (strides_[d] < 1 || strides_[d] >= mostStrideBytes / bytes_ ||
                                 strides_[d] * bytes_ % unit != 0))
                return failAt(at, "expected strides that are multiples of " + std::to_string(unit) +
                                      " bytes and below 2^40, but dimension " + std::to_string(d) + " has " +
                                      std::to_string(strides_[d]) + " elements of " + std::to_string(bytes_) +
                                      " bytes");
            std::int64_t span = 0;
            if (__builtin_mul_overflow(sizes_[d] - 1, strides_[d], &span) ||
                __builtin_add_overflow(last, span, &last))
                last = memory.bytes;
        }
        if (last >= memory.bytes / bytes_)
            return failAt(map_.size.empty() ? map_.tensorPosition : map_.size.front().position,
                          "expected the tensor map to stay within " + quoteText(map_.tensor) +
                              ", which has " + std::to_string(memory.bytes / bytes_) + " elements");
        return {};
    }

    Result<void> takeBox()
    {
        const std::string dimensions = std::to_string(sizes_.size());
        if (map_.box.size() != sizes_.size())
            return failAt(map_.box.front().position,
                          "expected a box with " + dimensions + " sizes, as the tensor map has dimensions");
        auto box = wholeNumbers(map_.box, mostBox, "a size of the box");
        if (!box) return tl::unexpected<Error>(box.error());
        box_ = std::move(*box);
        steps_.assign(sizes_.size(), 1);
        if (map_.elementStrides.empty()) return {};
        if (map_.elementStrides.size() != sizes_.size())
            return failAt(map_.elementStrides.front().position,
                          "expected " + dimensions + " element strides");
        auto steps = wholeNumbers(map_.elementStrides, mostElementStride, "an element stride");
        if (!steps) return tl::unexpected<Error>(steps.error());
        steps_ = std::move(*steps);
        return {};
    }

    Result<void> checkModes(DType type) const
    {
        const TensorMapModes &modes = map_.modes;
        const PlanPosition at = map_.box.back().position;
        const std::int64_t inner = box_.back() * bytes_;
        if (modes.interleaveBytes == 0 && inner % 16 != 0)
            return failAt(at,
                          "expected the innermost size of the box to be a multiple of 16 bytes, but it is " +
                              std::to_string(inner));
        if (modes.interleaveBytes != 0 && sizes_.size() < 3)
            return failAt(map_.position, "expected at least 3 dimensions with interleave=");
        if (modes.interleaveBytes == 32 && modes.swizzleBytes != 32)
            return failAt(map_.position, "expected swizzle=32 with interleave=32");
        if (modes.interleaveBytes == 0 && modes.swizzleBytes != 0 && inner > modes.swizzleBytes)
            return failAt(at, "expected the innermost size of the box to be at most the " +
                                  std::to_string(modes.swizzleBytes) + " bytes of swizzle=, but it is " +
                                  std::to_string(inner));
        if (modes.fillsNan && !isFloating(type))
            return failAt(map_.position,
                          "expected oob=zero, since NaN exists in floating-point tensors only");
        return {};
    }

    ResolvedTensorMap finished(const MappedMemory &memory) const
    {
        ResolvedTensorMap resolved;
        resolved.kind = memory.buffer.kind;
        resolved.index = memory.buffer.index;
        TensorMapLayout &layout = resolved.layout;
        layout.name = map_.name;
        layout.type = memory.type;
        layout.modes = map_.modes;
        for (std::size_t d = sizes_.size(); d-- > 0;) {
            layout.sizes.push_back(static_cast<std::uint64_t>(sizes_[d]));
            layout.box.push_back(static_cast<std::uint32_t>(box_[d]));
            layout.elementStrides.push_back(static_cast<std::uint32_t>(steps_[d]));
            if (d + 1 < sizes_.size())
                layout.strideBytes.push_back(static_cast<std::uint64_t>(strides_[d] * bytes_));
        }
        return resolved;
    }

    const PlannedTensorMap &map_;
    const PlanNames &names_;
    std::int64_t bytes_ = 1;
    std::vector<std::int64_t> sizes_, strides_, box_, steps_;
};

Result<MappedMemory> memoryOf(const PlannedTensorMap &map, const PlanNames &names, const ShapeCase &shapes,
                              const ResolvedPlan &plan)
{
    const auto buffer = names.buffer(map.tensor);
    if (!buffer || buffer->kind == BoundParameter::Kind::TensorMap)
        return failAt(map.tensorPosition, "expected the name of an input, an output or a workspace, found " +
                                              quoteText(map.tensor) + "; there are " +
                                              names.buffersThereAre());
    MappedMemory memory{*buffer, map.type, {}, {}, 0};
    if (buffer->kind == BoundParameter::Kind::Workspace) {
        if (map.type == DType::Unknown) return failAt(map.tensorPosition, "expected type= for a workspace");
        memory.bytes = plan.workspaces[buffer->index].second;
    } else {
        const bool isInput = buffer->kind == BoundParameter::Kind::Input;
        const TensorType &type = isInput ? shapes.inputs[buffer->index] : shapes.outputs[buffer->index];
        if (map.type != DType::Unknown && dtypeSize(map.type) != dtypeSize(type.dtype))
            return failAt(map.tensorPosition, std::string("expected a type= as wide as ") +
                                                  dtypeName(type.dtype) + ", found " + dtypeName(map.type));
        if (map.type == DType::Unknown) memory.type = type.dtype;
        memory.sizes = type.sizes;
        memory.strides = type.strides;
        std::int64_t elements = type.elementCount() > 0 ? 1 : 0;
        for (std::size_t d = 0; elements > 0 && d < type.sizes.size(); ++d)
            elements += (type.sizes[d] - 1) * type.strides[d];
        memory.bytes = elements * static_cast<std::int64_t>(dtypeSize(type.dtype));
    }
    if (!canBeMapped(memory.type))
        return failAt(map.tensorPosition,
                      std::string("expected a tensor of a type that tensor maps know, found ") +
                          dtypeName(memory.type));
    return memory;
}
} // namespace

Result<ResolvedTensorMap> resolveTensorMap(const PlannedTensorMap &map, const PlanNames &names,
                                           const ShapeCase &shapes, const ResolvedPlan &plan)
{
    const Result<MappedMemory> memory = memoryOf(map, names, shapes, plan);
    if (!memory) return tl::unexpected<Error>(memory.error());
    return MapResolver(map, names).run(*memory);
}

} // namespace kernelwright
