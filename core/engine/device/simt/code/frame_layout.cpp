// SPDX-License-Identifier: GPL-3.0-or-later
// Where a function's registers, variables and parameters lie.
#include "function_decoder.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

std::uint32_t alignUp(std::uint32_t value, std::uint32_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

} // namespace

std::uint32_t FunctionDecoder::reserveFrame(std::uint32_t bytes)
{
    const std::uint32_t offset = alignUp(decoded_.frameBytes, bytes >= 8 ? 32 : 4);
    if (offset + bytes > maximumBankBytes) malformed("needs too much register space");
    decoded_.frameBytes = offset + bytes;
    return offset;
}

LaneVariable FunctionDecoder::addLaneVariable(const Variable &variable)
{
    LaneVariable result;
    result.stride = alignUp(static_cast<std::uint32_t>(std::max<std::int64_t>(variable.byteCount, 1)), 16);
    result.offset = reserveFrame(result.stride * warpSize);
    Symbol symbol;
    symbol.space = Space::Parameter;
    symbol.laneVariable = static_cast<int>(laneVariables_.size());
    symbols_[variable.name] = symbol;
    laneVariables_.push_back(result);
    return result;
}

void FunctionDecoder::declare()
{
    decoded_.name = function_.name;
    decoded_.isEntry = function_.isEntry;
    decoded_.isDefined = function_.isDefined;
    decoded_.maxThreads = function_.maxThreads;
    std::copy(function_.requiredThreads, function_.requiredThreads + 3, decoded_.requiredThreads);
    declareParameters();
    if (!function_.isDefined) return;
    layOutRegisters();
    layOutVariables();
}

void FunctionDecoder::declareParameters()
{
    for (const Variable &result : function_.results)
        decoded_.results.push_back(addLaneVariable(result));
    if (!function_.isEntry) {
        for (const Variable &parameter : function_.parameters)
            decoded_.parameters.push_back(addLaneVariable(parameter));
        return;
    }
    std::uint32_t offset = 0;
    for (const Variable &parameter : function_.parameters) {
        offset = alignUp(offset, static_cast<std::uint32_t>(std::max(parameter.alignment, 1)));
        const auto bytes = static_cast<std::uint32_t>(parameter.byteCount);
        decoded_.kernelParameters.push_back({parameter.name, offset, bytes});
        Symbol symbol;
        symbol.space = Space::Parameter;
        symbol.isKernelParameter = true;
        symbol.kernelParameter = offset;
        symbols_[parameter.name] = symbol;
        offset += bytes;
    }
    decoded_.kernelParameterBytes = offset;
}

void FunctionDecoder::layOutRegisters()
{
    carry_ = makeReference(Bank::Frame, reserveFrame(4));
    registers_.resize(function_.registers.size());
    for (std::size_t i = 0; i < registers_.size(); ++i) {
        const Type type = function_.registers[i];
        if (type == Type::Predicate) {
            registers_[i] = {makeReference(Bank::Frame, reserveFrame(4)), false};
        } else if (type == Type::B128) {
            malformed("128-bit registers are not supported by the simulator");
        } else {
            registers_[i] = temporary(typeBytes(type) == 8);
        }
        decoded_.namedRegisters.push_back({function_.registerNames[i], type, registers_[i].reference});
    }
}

void FunctionDecoder::layOutVariables()
{
    for (const Variable &variable : function_.variables) {
        if (variable.space == Space::Parameter) {
            addLaneVariable(variable);
            continue;
        }
        Symbol symbol;
        symbol.space = variable.space;
        const bool isLocal = variable.space == Space::Local;
        if (!isLocal && variable.space != Space::Shared) {
            const auto found = context_.addresses.find(variable.name);
            if (found == context_.addresses.end())
                malformed("a variable of this space cannot be declared in a function");
            symbol.address = found->second;
            symbols_[variable.name] = symbol;
            continue;
        }
        std::uint32_t &used = isLocal ? decoded_.localBytes : decoded_.sharedBytes;
        used = alignUp(used, static_cast<std::uint32_t>(variable.alignment));
        symbol.address = used;
        if (used + static_cast<std::uint64_t>(variable.byteCount) > windowBytes)
            malformed("'" + variable.name + "' is larger than the memory of a block");
        used += static_cast<std::uint32_t>(variable.byteCount);
        symbols_[variable.name] = symbol;
    }
}

} // namespace kernelwright::simt
