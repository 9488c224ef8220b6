// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluator.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelwright
{

namespace
{

constexpr std::array kernelTypes{DType::Float64, DType::Float32, DType::Float16, DType::BFloat16,
                                 DType::Int64,   DType::Int32,   DType::Int16,   DType::Int8,
                                 DType::UInt8,   DType::Bool};
constexpr std::int64_t mostStorageBytes = std::int64_t{1} << 38;
constexpr std::size_t mostCases = 256;

tl::unexpected<Error> badTask(const std::string &what)
{
    return fail(ErrorCode::BadInput, "the task is not usable: " + what);
}

/// Multiplications and sums that a hostile file could make overflow are caught here, so that nothing behind
/// has to.
bool spansTooMuch(const TensorType &type)
{
    std::int64_t elements = 1, last = 0;
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(elements, std::max<std::int64_t>(type.sizes[d], 1), &elements) ||
            __builtin_mul_overflow(std::max<std::int64_t>(type.sizes[d] - 1, 0), type.strides[d], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return true;
    }
    const std::int64_t most = mostStorageBytes / static_cast<std::int64_t>(dtypeSize(type.dtype));
    return elements > most || last >= most;
}

Result<void> checkType(const TensorType &type, const std::string &where)
{
    if (std::find(kernelTypes.begin(), kernelTypes.end(), type.dtype) == kernelTypes.end())
        return fail(ErrorCode::NotSupported, where + " has the type " + dtypeName(type.dtype) +
                                                 ", for which kernels cannot be verified yet");
    if (type.strides.size() != type.sizes.size())
        return badTask(where + " has " + std::to_string(type.sizes.size()) + " sizes and " +
                       std::to_string(type.strides.size()) + " strides");
    const auto isNegative = [](std::int64_t number) { return number < 0; };
    if (std::any_of(type.sizes.begin(), type.sizes.end(), isNegative) ||
        std::any_of(type.strides.begin(), type.strides.end(), isNegative))
        return badTask(where + " has a negative size or stride");
    if (spansTooMuch(type)) return badTask(where + " is larger than any device's memory");
    return {};
}

Result<void> checkTensors(const std::vector<TaskTensor> &tensors, const std::vector<TensorType> &types,
                          const std::string &where)
{
    if (tensors.size() != types.size())
        return badTask(where + " has " + std::to_string(types.size()) + " tensors instead of " +
                       std::to_string(tensors.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string name = where + ", tensor " + tensors[i].name;
        if (const auto checked = checkType(types[i], name); !checked) return checked;
        if (types[i].dtype != tensors[i].type.dtype || types[i].sizes.size() != tensors[i].type.sizes.size())
            return badTask(name + " has another type or rank than the task says");
    }
    return {};
}

bool isSaneFactor(double factor)
{
    return std::isfinite(factor) && factor >= 0 && factor <= 100;
}

} // namespace

Result<void> validateTask(const Task &task)
{
    if (task.outputs.empty()) return badTask("it has no outputs");
    if (task.cases.empty()) return badTask("it has no captured shape case");
    if (task.cases.size() > mostCases)
        return badTask("it has " + std::to_string(task.cases.size()) + " shape cases; at most " +
                       std::to_string(mostCases) + " are allowed");
    if (!isSaneFactor(task.tolerance.eagerMultiple) || !isSaneFactor(task.tolerance.outputRoundings))
        return badTask("its tolerance factors must lie between 0 and 100");
    if (const auto valid = validateGraph(task.subgraph); !valid)
        return forward(valid.error(), "the task's subgraph");
    for (const auto *tensors : {&task.inputs, &task.outputs})
        for (const TaskTensor &tensor : *tensors)
            if (const auto checked = checkType(tensor.type, "tensor " + tensor.name); !checked)
                return checked;
    for (const ShapeCase &shapes : task.cases) {
        const std::string where = "case '" + shapes.name + "'";
        if (const auto valid = validateGraph(shapes.subgraph); !valid) return forward(valid.error(), where);
        if (shapes.subgraph.inputs.size() != task.inputs.size() ||
            shapes.subgraph.outputs.size() != task.outputs.size())
            return badTask(where + " has a subgraph with other inputs or outputs than the task");
        if (const auto checked = checkTensors(task.inputs, shapes.inputs, where); !checked) return checked;
        if (const auto checked = checkTensors(task.outputs, shapes.outputs, where); !checked) return checked;
    }
    return {};
}

} // namespace kernelwright
