// SPDX-License-Identifier: GPL-3.0-or-later
#include "reply.h"

#include "base/text.h"
#include "edits.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::size_t longestSummary = 300;

std::string lowerCase(std::string text)
{
    for (char &letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

/// '\n' line ends, and nothing of thoughts that stand in front of the answer.
std::string normalised(const std::string &text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r')
            result += text[i];
        else if (i + 1 == text.size() || text[i + 1] != '\n')
            result += '\n';
    }
    constexpr std::string_view endOfThought = "</think>";
    if (const std::size_t thought = result.rfind(endOfThought); thought != std::string::npos)
        result.erase(0, thought + endOfThought.size());
    return result;
}

struct Fence
{
    char letter = 0;
    std::size_t length = 0;
    std::string info;
};

Fence fenceOf(std::string_view line)
{
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) return {};
    const char letter = line[indent];
    const std::size_t end = std::min(line.find_first_not_of(letter, indent), line.size());
    if (end - indent < 3) return {};
    const std::string info = trimText(line.substr(end));
    if (letter == '`' && info.find('`') != std::string::npos) return {};
    return {letter, end - indent, info};
}

std::string withoutMarkdown(std::string text)
{
    std::erase_if(text, [](char letter) { return letter == '*' || letter == '`'; });
    return trimText(text);
}

std::string shortSentence(const std::string &text)
{
    const std::string line = withoutMarkdown(text);
    if (line.size() <= longestSummary) return line;
    std::size_t end = longestSummary;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
        --end;
    return line.substr(0, end) + "…";
}

/// Behind "HYPOTHESIS:", with whatever emphasis; else the first line of prose.
std::string summaryOf(const std::string &text, std::size_t proseEnd)
{
    std::string first;
    const std::vector<std::string> lines = linesOf(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string line = withoutMarkdown(lines[i]);
        while (line.starts_with('#') || line.starts_with('>') || line.starts_with('-'))
            line = trimText(line.substr(1));
        if (!lowerCase(line).starts_with("hypothesis")) continue;
        std::string rest = trimText(line.substr(std::string_view("hypothesis").size()));
        while (rest.starts_with(':') || rest.starts_with('-'))
            rest = trimText(rest.substr(1));
        for (std::size_t next = i + 1; rest.empty() && next < lines.size(); ++next)
            rest = withoutMarkdown(lines[next]);
        if (!rest.empty() && !fenceOf(rest).length) return shortSentence(rest);
    }
    for (const std::string &line : linesOf(std::string_view(text).substr(0, proseEnd)))
        if (const std::string words = withoutMarkdown(line); !words.empty() && !words.starts_with('#')) {
            first = words;
            break;
        }
    return first.empty() ? "No hypothesis was given." : shortSentence(first);
}

/// Code without fences: from the first line that begins a file to the last that can end one.
std::string bareFile(const std::string &text)
{
    const std::vector<std::string> lines = linesOf(text);
    const auto begins = [](const std::string &line) {
        return line.starts_with("//@") || line.starts_with("#include") || line.starts_with("// SPDX");
    };
    const auto ends = [](const std::string &line) {
        return line.starts_with('}') || line.starts_with("#endif");
    };
    const auto begin = std::find_if(lines.begin(), lines.end(), begins);
    const auto end = std::find_if(lines.rbegin(), lines.rend(), ends).base();
    if (begin >= end) return {};
    return joinText(std::vector<std::string>(begin, end), "\n") + "\n";
}

Result<ParsedReply> fromEdits(ParsedReply reply, const std::vector<Edit> &edits, const std::string &parent)
{
    if (parent.empty())
        return fail(ErrorCode::BadInput,
                    "the reply holds edits, but there is no file yet that they could change: "
                    "write the whole file");
    auto source = applyEdits(parent, edits);
    if (!source) return forward(source.error());
    if (*source == parent || *source == parent + "\n")
        return fail(ErrorCode::BadInput, "the edits change nothing in the file");
    reply.source = std::move(*source);
    reply.isEdit = true;
    return reply;
}

std::string withLineEnd(std::string code)
{
    if (!code.ends_with('\n')) code += '\n';
    return code;
}

tl::unexpected<Error> noCode(const std::vector<CodeBlock> &blocks)
{
    if (!blocks.empty() && !blocks.back().isClosed)
        return fail(ErrorCode::BadInput, "the last code block is not closed: the reply was cut off");
    for (const CodeBlock &block : blocks) {
        if (block.code.find("__global__") != std::string::npos)
            return fail(ErrorCode::BadInput,
                        "the code block with the kernel has no '//@ kernel' line, so nothing "
                        "says how to launch it: put the launch plan into the file");
        if (block.code.find("//@ kernel") != std::string::npos)
            return fail(ErrorCode::BadInput,
                        "the code block with the launch plan defines no __global__ function: "
                        "put plan and kernels into one block");
    }
    return fail(ErrorCode::BadInput, blocks.empty()
                                         ? "the reply holds no code block and no edit"
                                         : "none of the reply's code blocks is a CUDA file or an edit");
}
} // namespace

bool isWholeFile(std::string_view code)
{
    return code.find("//@ kernel") != std::string_view::npos &&
           code.find("__global__") != std::string_view::npos;
}

std::vector<CodeBlock> codeBlocks(const std::string &text)
{
    std::vector<CodeBlock> blocks;
    Fence open;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        const Fence fence = fenceOf(line);
        const std::size_t next = std::min(end + 1, text.size());
        if (open.length == 0 && fence.length > 0) {
            open = fence;
            const std::string info = fence.info.substr(0, fence.info.find_first_of(" \t{"));
            blocks.push_back({lowerCase(info), {}, at, text.size(), false});
        } else if (open.length > 0 && fence.letter == open.letter && fence.length >= open.length &&
                   fence.info.empty()) {
            blocks.back().isClosed = true;
            blocks.back().end = next;
            open = {};
        } else if (open.length > 0) {
            blocks.back().code += line + "\n";
        }
        at = end + 1;
    }
    return blocks;
}

Result<ParsedReply> parseReply(const std::string &original, const std::string &parent)
{
    const std::string text = normalised(original);
    if (trimText(text).empty()) return fail(ErrorCode::BadInput, "the reply is empty");
    const auto found = findSearchReplace(text);
    if (!found) return forward(found.error());
    const std::vector<CodeBlock> blocks = codeBlocks(found->rest);

    ParsedReply reply;
    reply.summary = summaryOf(found->rest, blocks.empty() ? std::string::npos : blocks.front().begin);
    // Of several whole files the last one is meant: models show a first thought, then the result.
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
        if (block->isClosed && block->language != "diff" && isWholeFile(block->code)) {
            reply.source = block->code;
            return reply;
        }
    if (!found->edits.empty()) return fromEdits(reply, found->edits, parent);
    for (const CodeBlock &block : blocks) {
        const bool isDiff = block.language == "diff" || block.language == "patch" ||
                            block.code.starts_with("@@") || block.code.starts_with("--- ");
        if (!isDiff || !block.isClosed) continue;
        const auto edits = readDiff(block.code);
        if (!edits) return forward(edits.error());
        if (edits->empty()) continue;
        return fromEdits(reply, *edits, parent);
    }
    if (blocks.empty()) {
        if (const std::string bare = bareFile(text); isWholeFile(bare)) {
            reply.source = withLineEnd(bare);
            return reply;
        }
        if (const auto edits = readDiff(text); edits && !edits->empty() && !parent.empty())
            return fromEdits(reply, *edits, parent);
    }
    return noCode(blocks);
}

} // namespace kernelwright
