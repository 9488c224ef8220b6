// SPDX-License-Identifier: GPL-3.0-or-later
#include "compile_log.h"

#include "base/text.h"

#include <regex>

namespace kernelwright
{

namespace
{

int toInt(const std::string &digits)
{
    return digits.size() > 9 ? 0 : std::stoi(digits);
}

bool isCaretLine(const std::string &line)
{
    return line.find('^') != std::string::npos && line.find_first_not_of(" \t^~") == std::string::npos;
}

/// NVRTC indents the line that it quotes, and the caret below it, by two blanks.
constexpr std::size_t quoteIndent = 2;

/// What stands below the head of a message up to the next blank line: the quoted source, the caret, and,
/// between the head and these, the message's own further lines.
void readBody(const std::vector<std::string> &lines, std::size_t head, Diagnostic &diagnostic)
{
    std::vector<std::string> body;
    for (std::size_t i = head + 1; i < lines.size() && !trimText(lines[i]).empty(); ++i)
        body.push_back(lines[i]);
    std::size_t quoted = body.size();
    for (std::size_t i = 1; i < body.size(); ++i) {
        if (!isCaretLine(body[i])) continue;
        quoted = i - 1;
        const std::size_t caret = body[i].find('^');
        diagnostic.column = caret < quoteIndent ? 1 : static_cast<int>(caret - quoteIndent + 1);
        break;
    }
    constexpr std::size_t mostLines = 8;
    for (std::size_t i = 0; i < quoted && i < mostLines; ++i)
        if (quoted < body.size()) diagnostic.message += " " + trimText(body[i]);
}

std::string plainSeverity(const std::string &word)
{
    if (word.find("error") != std::string::npos || word == "fatal") return "error";
    return word == "warning" ? "warning" : "remark";
}

} // namespace

std::vector<Diagnostic> parseDiagnostics(std::string_view log)
{
    static const std::regex front(
        R"(^(.+)\((\d+)\): (catastrophic error|internal error|error|warning|remark|note)( #[\w-]+)?: (.*)$)");
    static const std::regex assembler(R"(^ptxas (?:(?:\S+), line \d+; )?\s*(error|fatal|warning)\s*: (.*)$)");
    static const std::regex other(R"(^(?:nvrtc|nvJitLink|libnvvm|nvvm)[^:]*: ?(error|warning)\s*:? (.*)$)");
    const std::vector<std::string> lines = splitText(log, '\n');
    std::vector<Diagnostic> found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        constexpr std::size_t longestHead = 4096; // std::regex recurses over its subject
        if (lines[i].size() > longestHead) continue;
        std::smatch match;
        Diagnostic diagnostic;
        if (std::regex_match(lines[i], match, front)) {
            diagnostic.severity = plainSeverity(match[3]);
            diagnostic.message = match[5];
            readBody(lines, i, diagnostic);
            if (match[1].str() == candidateFileName) {
                diagnostic.line = toInt(match[2]);
            } else {
                diagnostic.column = 0;
                diagnostic.message =
                    "in " + match[1].str() + ", line " + match[2].str() + ": " + diagnostic.message;
            }
        } else if (std::regex_match(lines[i], match, assembler) || std::regex_match(lines[i], match, other)) {
            diagnostic.severity = plainSeverity(match[1]);
            diagnostic.message = match[2];
        } else {
            continue;
        }
        found.push_back(std::move(diagnostic));
    }
    return found;
}

std::vector<KernelResources> parseResources(std::string_view log)
{
    static const std::regex entry(R"(Compiling entry function '([^']+)')");
    static const std::regex spills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
    static const std::regex registers(R"(Used (\d+) registers)");
    static const std::regex shared(R"((\d+) bytes smem)");
    std::vector<KernelResources> kernels;
    // Functions that are called, not inlined, are reported under their own names behind "Function properties
    // for"; their spills belong to the kernel before which they stand.
    for (const std::string &line : splitText(log, '\n')) {
        std::smatch match;
        if (line.size() > 4096) continue;
        if (std::regex_search(line, match, entry)) kernels.push_back({match[1], 0, 0, 0});
        if (kernels.empty()) continue;
        KernelResources &kernel = kernels.back();
        if (std::regex_search(line, match, spills)) kernel.spillBytes += toInt(match[1]) + toInt(match[2]);
        if (std::regex_search(line, match, registers)) kernel.registers = toInt(match[1]);
        if (std::regex_search(line, match, shared)) kernel.sharedBytes = toInt(match[1]);
    }
    return kernels;
}

} // namespace kernelwright
