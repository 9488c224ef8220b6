// SPDX-License-Identifier: GPL-3.0-or-later
#include "node_origin.h"

#include "base/text.h"

#include <charconv>
#include <optional>

namespace kernelwright
{

namespace
{

bool isTracingFrame(const std::string &file)
{
    return file.starts_with("<") || file.find("site-packages/torch/") != std::string::npos ||
           file.find("dist-packages/torch/") != std::string::npos ||
           file.find("/functorch/") != std::string::npos;
}

std::optional<SourceLine> readFrame(const std::string &line)
{
    constexpr std::string_view start = "File \"";
    constexpr std::string_view middle = "\", line ";
    const std::size_t from = line.find(start);
    const std::size_t to = line.find(middle);
    if (from == std::string::npos || to == std::string::npos || to < from + start.size()) return std::nullopt;
    SourceLine frame;
    frame.file = line.substr(from + start.size(), to - from - start.size());
    const char *number = line.data() + to + middle.size();
    std::from_chars(number, line.data() + line.size(), frame.line);
    return frame;
}

} // namespace

void readModuleStack(const std::string &stack, NodeOrigin &origin)
{
    const std::size_t lastEntry = stack.rfind(';');
    const std::string entry = lastEntry == std::string::npos ? stack : stack.substr(lastEntry + 1);
    const std::size_t pathStart = entry.find(',');
    const std::size_t typeStart = entry.rfind(',');
    if (pathStart == std::string::npos || typeStart == pathStart) return;
    origin.modulePath = entry.substr(pathStart + 1, typeStart - pathStart - 1);
    origin.moduleType = entry.substr(typeStart + 1);
    // A module called several times carries "@1" … behind its path.
    if (const std::size_t call = origin.modulePath.find('@'); call != std::string::npos)
        origin.modulePath.resize(call);
    if (const std::size_t dot = origin.moduleType.rfind('.'); dot != std::string::npos)
        origin.moduleType.erase(0, dot + 1);
}

SourceLine sourceLineOf(const std::string &stackTrace)
{
    const std::vector<std::string> lines = splitText(stackTrace, '\n');
    SourceLine innermost;
    SourceLine chosen;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::optional<SourceLine> frame = readFrame(lines[i]);
        if (!frame) continue;
        if (i + 1 < lines.size() && !readFrame(lines[i + 1])) frame->text = trimText(lines[i + 1]);
        innermost = *frame;
        if (!isTracingFrame(frame->file)) chosen = *frame;
    }
    return chosen.line > 0 ? chosen : innermost;
}

} // namespace kernelwright
