// SPDX-License-Identifier: GPL-3.0-or-later
#include "script_origin.h"

#include "base/text.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/ir/scope.h>

#include <charconv>

namespace kernelwright
{

namespace
{

/// A trace stores the Python stack as its source, innermost frame first, one "file(line): function" a line.
std::string stackTraceOf(const std::string &text)
{
    std::string frames;
    for (const std::string &line : splitText(text, '\n')) {
        const std::size_t open = line.rfind('(');
        const std::size_t close = line.rfind("): ");
        if (open == std::string::npos || close == std::string::npos || open > close) continue;
        const std::string number = line.substr(open + 1, close - open - 1);
        if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
        frames = "File \"" + line.substr(0, open) + "\", line " + number + "\n" +
                 frames; // outermost first, as Python
    }
    return frames;
}

/// The frame of a range as lines of a Python stack trace; empty where the range belongs to generated code.
std::string frameOf(torch::jit::SourceRange range)
{
    if (const auto original = range.findSourceRangeThatGenerated()) range = *original;
    if (!range.source()) return {};
    const std::string text = range.source()->text_str().str();
    if (const std::string stack = stackTraceOf(text); !stack.empty()) return stack;
    const auto place = range.file_line_col();
    if (!place || std::get<0>(*place).find("__torch__") != std::string::npos) return {};
    const std::size_t line = range.source()->lineno_for_offset(range.start());
    return "File \"" + std::get<0>(*place) + "\", line " + std::to_string(std::get<1>(*place)) + "\n    " +
           range.source()->get_line(line).str() + "\n";
}

/// True when the parts of `instances` occur in `path` in this order, the last one at its end. An inlined call
/// names only the attribute through which it was made: a list of modules is left out.
bool leadsTo(const std::string &instances, const std::string &path)
{
    const std::vector<std::string> wanted = splitText(instances, '.');
    const std::vector<std::string> parts = splitText(path, '.');
    std::size_t found = 0;
    for (const std::string &part : parts)
        if (found < wanted.size() && part == wanted[found]) ++found;
    return found == wanted.size() && parts.back() == wanted.back();
}

} // namespace

ScriptOrigins::ScriptOrigins(const torch::jit::Module &module)
{
    for (const auto &named : module.named_modules())
        if (const auto name = named.value.type()->name()) paths_.emplace(name->qualifiedName(), named.name);
}

std::string ScriptOrigins::pathOf(const std::string &type, const std::string &instances) const
{
    const auto [from, to] = paths_.equal_range(type);
    for (auto candidate = from; candidate != to; ++candidate)
        if (leadsTo(instances, candidate->second)) return candidate->second;
    return instances;
}

NodeOrigin ScriptOrigins::of(torch::jit::Node &node) const
{
    NodeOrigin origin;
    std::string trace;
    std::string type;
    if (const auto callStack = node.callstack()) {
        for (const auto &entry : (*callStack)->vec()) {
            trace += frameOf(std::get<1>(entry));
            const auto &module = std::get<2>(entry);
            if (!module) continue;
            const std::string name = module->instance_name();
            if (name == "SELF" || name == "TOP" || name.empty()) continue;
            origin.modulePath += (origin.modulePath.empty() ? "" : ".") + name;
            if (!module->class_type() || !module->class_type()->name()) continue;
            origin.moduleType = module->class_type()->name()->name();
            type = module->class_type()->name()->qualifiedName();
        }
    }
    if (!type.empty()) origin.modulePath = pathOf(type, origin.modulePath);
    trace += frameOf(node.sourceRange());
    origin.source = sourceLineOf(trace);
    return origin;
}

} // namespace kernelwright
