// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaded_module.h"

#include "code/decoder.h"
#include "ptx/parser.h"
#include "simulator.h"

#include <cstring>

namespace kernelwright::simt
{

namespace
{

bool hasMemory(const Variable &variable)
{
    return variable.space == Space::Global || variable.space == Space::Constant;
}

/// Writes addresses of symbols into the initial values that ask for them.
Result<void> relocate(const Variable &variable, const SymbolAddresses &addresses, std::byte *bytes)
{
    for (const Variable::SymbolReference &reference : variable.references) {
        const auto found = addresses.find(reference.symbol);
        if (found == addresses.end())
            return fail(ErrorCode::NotSupported, "PTX line " + std::to_string(variable.ptxLine) + ": '" +
                                                     variable.name + "' is initialised with '" +
                                                     reference.symbol +
                                                     "', which is no variable of the module");
        const std::uint64_t address = found->second + static_cast<std::uint64_t>(reference.addend);
        std::memcpy(bytes + reference.offset, &address, sizeof address);
    }
    return {};
}

} // namespace

LoadedModule::~LoadedModule()
{
    for (Buffer *variable : variables_)
        memory_->space.release(variable);
}

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(const CompiledProgram &compiled,
                                                         std::shared_ptr<SharedMemorySpace> memory)
{
    const auto module = parsePtx(compiled.ptx);
    if (!module) return forward(module.error(), "cannot load the program");
    std::unique_ptr<LoadedModule> loaded(new LoadedModule);
    loaded->memory_ = std::move(memory);
    loaded->registers_ = compiled.report.registers;
    loaded->ptx_ = compiled.ptx;

    std::vector<const Variable *> variables;
    for (const Variable &variable : module->variables)
        if (hasMemory(variable)) variables.push_back(&variable);
    for (const Function &function : module->functions)
        for (const Variable &variable : function.variables)
            if (hasMemory(variable)) variables.push_back(&variable);
    SymbolAddresses addresses;
    for (const Variable *variable : variables) {
        auto buffer = loaded->memory_->space.allocate(variable->byteCount, variable->name);
        if (!buffer) return forward(buffer.error(), "cannot load the program");
        loaded->variables_.push_back(*buffer);
        addresses[variable->name] = (*buffer)->base;
        (*buffer)->isReadOnly = variable->space == Space::Constant;
        // Variables without initial values are zero when a module is loaded.
        std::memset((*buffer)->bytes.get(), 0, static_cast<std::size_t>(variable->byteCount));
        std::memcpy((*buffer)->bytes.get(), variable->initial.data(), variable->initial.size());
        (*buffer)->initialised.setAll(true);
    }
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (auto done = relocate(*variables[i], addresses, loaded->variables_[i]->bytes.get()); !done)
            return forward(done.error());
    auto program = decodeProgram(*module, addresses);
    if (!program) return forward(program.error(), "cannot load the program");
    loaded->program_ = std::move(*program);
    return loaded;
}

} // namespace kernelwright::simt
