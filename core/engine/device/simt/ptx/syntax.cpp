// SPDX-License-Identifier: GPL-3.0-or-later
#include "syntax.h"

namespace kernelwright::simt
{

const char *spaceName(Space space)
{
    switch (space) {
    case Space::Generic:
        return "generic";
    case Space::Register:
        return "register";
    case Space::Global:
        return "global";
    case Space::Shared:
        return "shared";
    case Space::Local:
        return "local";
    case Space::Constant:
        return "constant";
    case Space::Parameter:
        return "parameter";
    }
    return "unknown";
}

std::string Statement::opcode() const
{
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : ".") + word;
    return text;
}

std::optional<int> Function::findLabel(const std::string &name, int scope) const
{
    for (; scope >= 0; scope = scopeParents[static_cast<std::size_t>(scope)])
        for (const Label &label : labels)
            if (label.scope == scope && label.name == name) return label.statement;
    return std::nullopt;
}

const Function *Module::findFunction(const std::string &name) const
{
    const Function *declared = nullptr;
    for (const Function &function : functions) {
        if (function.name != name) continue;
        if (function.isDefined) return &function;
        declared = &function;
    }
    return declared;
}

const Variable *Module::findVariable(const std::string &name) const
{
    for (const Variable &variable : variables)
        if (variable.name == name) return &variable;
    return nullptr;
}

} // namespace kernelwright::simt
