// SPDX-License-Identifier: GPL-3.0-or-later
#include "source_scan.h"

#include "kernel/source_tokens.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

namespace kernelwright
{

namespace
{

using Kind = SourceToken::Kind;

constexpr std::array<std::string_view, 9> hostNames{"__has_include", "__has_include_next", "__has_embed",
                                                    "__FILE__",      "__FILE_NAME__",      "__BASE_FILE__",
                                                    "__DATE__",      "__TIME__",           "__TIMESTAMP__"};

constexpr std::string_view plainHeaderCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";

class Scanner
{
public:
    explicit Scanner(const std::vector<std::filesystem::path> &includeDirectories)
        : includeDirectories_(includeDirectories)
    {}

    std::vector<Diagnostic> scan(const std::string &source)
    {
        const std::vector<SourceLineTokens> lines = tokenizeSource(source);
        for (const SourceLineTokens &line : lines)
            if (isDirective(line, "define")) collectMacro(line);
        for (const SourceLineTokens &line : lines) {
            checkNames(line);
            if (line.isDirective) checkDirective(line);
        }
        return std::move(found_);
    }

private:
    static bool isDirective(const SourceLineTokens &line, std::string_view word)
    {
        return line.isDirective && line.tokens.size() > 1 && line.tokens[1].text == word;
    }

    void refuse(const SourceToken &at, std::string message)
    {
        found_.push_back({at.line, at.column, "error", std::move(message)});
    }

    /// Remembers which macros have a call or a paste in their text: conditions may not use those.
    void collectMacro(const SourceLineTokens &line)
    {
        const auto &tokens = line.tokens;
        if (tokens.size() < 3) return;
        const bool takesArguments = tokens.size() > 3 && tokens[3].text == "(" && !tokens[3].afterSpace;
        Macro &macro = macros_[tokens[2].text];
        macro.calls |= takesArguments;
        for (std::size_t i = 3; i < tokens.size(); ++i) {
            if (tokens[i].kind == Kind::Identifier) macro.uses.insert(tokens[i].text);
            macro.calls |= tokens[i].text == "##" || callsAt(tokens, i);
        }
    }

    static bool callsAt(const std::vector<SourceToken> &tokens, std::size_t i)
    {
        return tokens[i].kind == Kind::Identifier && tokens[i].text != "defined" && i + 1 < tokens.size() &&
               tokens[i + 1].text == "(";
    }

    bool macroCalls(const std::string &name, std::set<std::string> &seen) const
    {
        const auto macro = macros_.find(name);
        if (macro == macros_.end() || !seen.insert(name).second) return false;
        if (macro->second.calls) return true;
        return std::any_of(macro->second.uses.begin(), macro->second.uses.end(),
                           [&](const std::string &used) { return macroCalls(used, seen); });
    }

    void checkNames(const SourceLineTokens &line)
    {
        for (const SourceToken &token : line.tokens)
            if (token.kind == Kind::Identifier &&
                std::find(hostNames.begin(), hostNames.end(), token.text) != hostNames.end())
                refuse(token, token.text +
                                  " depends on the machine that compiles; a candidate may depend only on "
                                  "itself, its tunables and the toolkit's headers");
    }

    void checkDirective(const SourceLineTokens &line)
    {
        if (line.tokens.size() < 2) return;
        const SourceToken &word = line.tokens[1];
        if (word.text == "include")
            checkInclude(line);
        else if (word.text == "include_next" || word.text == "import" || word.text == "embed")
            refuse(word, "#" + word.text +
                             " is not allowed in a candidate; use #include <header> for a header of the "
                             "CUDA toolkit");
        else if (word.text == "line" || word.kind == Kind::Number)
            refuse(word, "a candidate may not renumber its lines: messages must point at this file");
        else if (word.text == "if" || word.text == "elif")
            checkCondition(line);
    }

    void checkCondition(const SourceLineTokens &line)
    {
        for (std::size_t i = 2; i < line.tokens.size(); ++i) {
            const SourceToken &token = line.tokens[i];
            std::set<std::string> seen;
            const bool calls =
                callsAt(line.tokens, i) || (token.kind == Kind::Identifier && macroCalls(token.text, seen));
            if (!calls && token.kind != Kind::Literal) continue;
            refuse(token,
                   "a preprocessor condition may use numbers, operators, defined() and macros for numbers "
                   "only, not '" +
                       token.text + "'");
            return;
        }
    }

    void checkInclude(const SourceLineTokens &line)
    {
        if (line.tokens.size() < 3 || line.tokens[2].kind != Kind::HeaderName) {
            refuse(line.tokens[1], "#include must be followed by a literal <header> of the CUDA toolkit");
            return;
        }
        const SourceToken &token = line.tokens[2];
        const char closing = token.text.front() == '<' ? '>' : '"';
        if (token.text.size() < 3 || token.text.back() != closing) {
            refuse(token, "#include has no closing " + std::string(1, closing));
            return;
        }
        const std::string name = token.text.substr(1, token.text.size() - 2);
        if (const std::string reason = whyRefused(name, closing == '"'); !reason.empty())
            refuse(token, "cannot include '" + name + "': " + reason);
    }

    std::string whyRefused(const std::string &name, bool quoted) const
    {
        namespace fs = std::filesystem;
        static const std::string remedy = "only headers of the CUDA toolkit may be included (<cuda_fp16.h>, "
                                          "<cuda_bf16.h>, <mma.h>, <cooperative_groups.h>, <cuda/std/…>)";
        if (name.find_first_not_of(plainHeaderCharacters) != std::string::npos || name.front() == '/' ||
            name.find("..") != std::string::npos || name.find("/./") != std::string::npos)
            return "it names a host file by path; " + remedy;
        std::error_code error;
        if (quoted && fs::exists(name, error))
            return "the current directory has a file of that name; write <" + name + ">";
        for (const fs::path &directory : includeDirectories_)
            if (fs::is_regular_file(directory / name, error)) return {};
        return "there is no such header; " + remedy;
    }

    struct Macro
    {
        bool calls = false; ///< its text calls a macro or pastes tokens, or it takes arguments itself
        std::set<std::string> uses;
    };

    const std::vector<std::filesystem::path> &includeDirectories_;
    std::map<std::string, Macro> macros_;
    std::vector<Diagnostic> found_;
};

Diagnostic positionOfNul(const std::string &source, std::size_t at)
{
    const auto begin = source.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(at);
    const auto line = 1 + std::count(begin, end, '\n');
    const std::size_t lineStart = source.rfind('\n', at);
    const std::size_t column = lineStart == std::string::npos ? at + 1 : at - lineStart;
    return {static_cast<int>(line), static_cast<int>(column), "error",
            "the source contains a NUL character; the compiler would see nothing behind it"};
}

} // namespace

std::vector<Diagnostic> findForbiddenConstructs(const std::string &source,
                                                const std::vector<std::filesystem::path> &includeDirectories)
{
    if (source.size() > maximumSourceBytes)
        return {{0, 0, "error",
                 "the source has " + std::to_string(source.size()) + " bytes; a candidate may have at most " +
                     std::to_string(maximumSourceBytes)}};
    if (const std::size_t nul = source.find('\0'); nul != std::string::npos)
        return {positionOfNul(source, nul)};
    return Scanner(includeDirectories).scan(source);
}

} // namespace kernelwright
