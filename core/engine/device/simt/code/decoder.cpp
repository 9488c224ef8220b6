// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoder.h"

#include "control_flow.h"
#include "function_decoder.h"

namespace kernelwright::simt
{

namespace
{

/// Shared variables of module scope lie in every kernel's shared memory; extern arrays begin behind all
/// others.
struct SharedLayout
{
    std::map<std::string, std::uint64_t> addresses;
    std::uint32_t bytes = 0;
};

Program decode(const Module &module, const SymbolAddresses &moduleAddresses, const SharedLayout &shared)
{
    Program program;
    SymbolAddresses addresses = moduleAddresses;
    addresses.insert(shared.addresses.begin(), shared.addresses.end());
    DecodingContext context{module, addresses, program, {}, {}};
    // Of a declaration and its definition only the definition is decoded.
    std::vector<const Function *> functions;
    for (const Function &function : module.functions)
        if (module.findFunction(function.name) == &function) functions.push_back(&function);
    program.functions.resize(functions.size());
    std::vector<FunctionDecoder> decoders;
    decoders.reserve(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
        context.functionIndex[functions[i]->name] = static_cast<std::uint32_t>(i);
        program.functions[i].sharedBytes = shared.bytes;
        decoders.emplace_back(context, *functions[i], program.functions[i]);
        decoders.back().declare();
    }
    for (std::size_t i = 0; i < functions.size(); ++i)
        if (functions[i]->isDefined) decoders[i].decode();
    for (const DecodedFunction &function : program.functions)
        if (function.isDefined) markReconvergence(program, function);
    return program;
}

SharedLayout layOutShared(const Module &module)
{
    SharedLayout layout;
    const auto alignTo = [&](int alignment) {
        const auto step = static_cast<std::uint32_t>(std::max(alignment, 1));
        layout.bytes = (layout.bytes + step - 1) / step * step;
    };
    for (const Variable &variable : module.variables) {
        if (variable.space != Space::Shared || variable.isExternArray) continue;
        alignTo(variable.alignment);
        layout.addresses[variable.name] = layout.bytes;
        if (layout.bytes + static_cast<std::uint64_t>(variable.byteCount) > windowBytes)
            throw DecodeError{false, "PTX line " + std::to_string(variable.ptxLine) + ": '" + variable.name +
                                         "' is larger than a block's shared memory"};
        layout.bytes += static_cast<std::uint32_t>(variable.byteCount);
    }
    return layout;
}

/// Extern arrays start where a kernel's static memory ends. Kernels of one module share that place: the
/// largest end.
void placeExternArrays(const Module &module, const Program &first, SharedLayout &layout)
{
    std::uint32_t end = 0;
    for (const DecodedFunction &function : first.functions)
        end = std::max(end, function.sharedBytes);
    for (const Variable &variable : module.variables) {
        if (variable.space != Space::Shared || !variable.isExternArray) continue;
        const std::uint32_t step = static_cast<std::uint32_t>(std::max(variable.alignment, 16));
        layout.addresses[variable.name] = (end + step - 1) / step * step;
    }
}

bool hasExternArrays(const Module &module)
{
    for (const Variable &variable : module.variables)
        if (variable.isExternArray) return true;
    return false;
}

} // namespace

const DecodedFunction *Program::findEntry(const std::string &name) const
{
    for (const DecodedFunction &function : functions)
        if (function.isEntry && function.isDefined && function.name == name) return &function;
    return nullptr;
}

Result<Program> decodeProgram(const Module &module, const SymbolAddresses &addresses)
{
    try {
        SharedLayout shared = layOutShared(module);
        if (!hasExternArrays(module)) return decode(module, addresses, shared);
        // Where static shared memory ends is known only after a first pass over the functions.
        for (const Variable &variable : module.variables)
            if (variable.isExternArray) shared.addresses[variable.name] = 0;
        const Program first = decode(module, addresses, shared);
        placeExternArrays(module, first, shared);
        Program program = decode(module, addresses, shared);
        for (DecodedFunction &function : program.functions)
            if (function.isEntry)
                for (const Variable &variable : module.variables)
                    if (variable.isExternArray)
                        function.sharedBytes = static_cast<std::uint32_t>(shared.addresses[variable.name]);
        return program;
    } catch (const DecodeError &error) {
        return fail(error.isUnsupported ? ErrorCode::NotSupported : ErrorCode::BadInput, error.message);
    }
}

} // namespace kernelwright::simt
