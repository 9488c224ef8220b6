// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_signature.h"

#include "plan_text.h"
#include "source_tokens.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
using Tokens = std::vector<SourceToken>;

Tokens codeTokens(const std::string &source)
{
    Tokens tokens;
    for (SourceLineTokens &line : tokenizeSource(source)) {
        if (line.isDirective) continue;
        std::move(line.tokens.begin(), line.tokens.end(), std::back_inserter(tokens));
    }
    return tokens;
}

class Reader
{
public:
    explicit Reader(const std::string &source)
        : tokens_(codeTokens(source))
    {}

    Result<std::vector<KernelSignature>> run()
    {
        while (at_ < tokens_.size()) {
            const std::string &text = tokens_[at_].text;
            if (text == "extern" && textAt(at_ + 1) == "\"C\"") {
                at_ += 2;
                startLinkage();
            } else if (text == "__global__") {
                ++at_;
                if (auto read = readKernel(); !read) return tl::unexpected<Error>(read.error());
            } else {
                followNesting(text);
                ++at_;
            }
        }
        return std::move(kernels_);
    }

private:
    std::string_view textAt(std::size_t index) const
    {
        return index < tokens_.size() ? std::string_view(tokens_[index].text) : std::string_view();
    }

    PlanPosition positionAt(std::size_t index) const
    {
        if (tokens_.empty()) return {1, 1};
        const SourceToken &token = tokens_[std::min(index, tokens_.size() - 1)];
        return {token.line, token.column};
    }

    void startLinkage()
    {
        if (textAt(at_) == "{") {
            blocks_.push_back(true);
            ++at_;
        } else {
            declarationHasCLinkage_ = true;
        }
    }

    void followNesting(std::string_view text)
    {
        if (text == "{") blocks_.push_back(false);
        if (text == "}" && !blocks_.empty()) blocks_.pop_back();
        if (text == ";" || text == "{" || text == "}") declarationHasCLinkage_ = false;
    }

    /// Behind `__global__`: attributes, `void`, attributes, NAME ( parameters ).
    Result<void> readKernel()
    {
        KernelSignature kernel;
        kernel.hasCLinkage =
            declarationHasCLinkage_ || std::find(blocks_.begin(), blocks_.end(), true) != blocks_.end();
        std::size_t name = tokens_.size();
        while (at_ < tokens_.size() && textAt(at_) != ";" && textAt(at_) != "{") {
            if (textAt(at_) == "extern" && textAt(at_ + 1) == "\"C\"") kernel.hasCLinkage = true;
            const bool callsSomething =
                tokens_[at_].kind == SourceToken::Kind::Identifier && textAt(at_ + 1) == "(";
            if (callsSomething && isAttribute(textAt(at_))) {
                ++at_;
                skipParentheses();
            } else if (callsSomething) {
                name = at_;
                break;
            } else {
                ++at_;
            }
        }
        if (name >= tokens_.size())
            return failAt(positionAt(at_),
                          "expected the name of a kernel and its parameters behind __global__");
        kernel.name = tokens_[name].text;
        kernel.position = positionAt(name);
        at_ = name + 2;
        if (auto read = readParameters(kernel); !read) return read;
        declarationHasCLinkage_ = false;
        kernels_.push_back(std::move(kernel));
        return {};
    }

    static bool isAttribute(std::string_view name)
    {
        return name == "__launch_bounds__" || name == "__maxnreg__" || name == "__cluster_dims__" ||
               name == "__block_size__" || name == "__attribute__" || name == "__align__" ||
               name == "alignas" || name == "__declspec";
    }

    /// From an opening parenthesis to behind the one that closes it.
    void skipParentheses()
    {
        int depth = 0;
        for (; at_ < tokens_.size(); ++at_) {
            if (textAt(at_) == "(") ++depth;
            if (textAt(at_) == ")" && --depth == 0) {
                ++at_;
                return;
            }
        }
    }

    Result<void> readParameters(KernelSignature &kernel)
    {
        constexpr std::size_t most = 1024;
        int depth = 0;
        Tokens parameter;
        for (; at_ < tokens_.size(); ++at_) {
            const std::string_view text = textAt(at_);
            const bool closes = text == ")" && depth == 0;
            if (closes || (text == "," && depth == 0)) {
                const bool isEmptyList =
                    closes && kernel.parameters.empty() &&
                    (parameter.empty() || (parameter.size() == 1 && parameter[0].text == "void"));
                if (!isEmptyList) {
                    auto read = readParameter(parameter, positionAt(at_));
                    if (read)
                        kernel.parameters.push_back(std::move(*read));
                    else if (!kernel.problem)
                        kernel.problem = read.error();
                }
                if (kernel.parameters.size() > most)
                    return failAt(kernel.position, "expected at most 1024 kernel parameters");
                parameter.clear();
                if (!closes) continue;
                ++at_;
                return {};
            }
            if (text == "(" || text == "[" || text == "<") ++depth;
            if (text == ")" || text == "]" || text == ">") --depth;
            parameter.push_back(tokens_[at_]);
        }
        return failAt(kernel.position,
                      "expected a ')' at the end of the parameters of " + quoteText(kernel.name));
    }

    static Result<KernelParameter> readParameter(const Tokens &tokens, PlanPosition behind)
    {
        std::size_t end = tokens.size();
        bool isArray = false;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (tokens[i].text != "[") continue; // float x[]: a pointer by another spelling
            isArray = true;
            end = i;
            break;
        }
        if (end < 2 || tokens[end - 1].kind != SourceToken::Kind::Identifier)
            return failAt(tokens.empty() ? behind : PlanPosition{tokens[0].line, tokens[0].column},
                          "expected a parameter's type and its name");
        KernelParameter parameter;
        parameter.name = tokens[end - 1].text;
        parameter.position = {tokens[end - 1].line, tokens[end - 1].column};
        Tokens type(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end - 1));
        const auto star =
            std::find_if(type.begin(), type.end(), [](const SourceToken &t) { return t.text == "*"; });
        parameter.isPointer = isArray || star != type.end();
        parameter.isConstPointer =
            parameter.isPointer &&
            std::any_of(type.begin(), star, [](const SourceToken &t) { return t.text == "const"; });
        parameter.isGridConstant =
            hasWord(type, "__grid_constant__") && hasWord(type, "const") && !parameter.isPointer;
        parameter.type = typeText(type, isArray);
        return parameter;
    }

    static bool hasWord(const Tokens &tokens, std::string_view word)
    {
        return std::any_of(tokens.begin(), tokens.end(),
                           [word](const SourceToken &token) { return token.text == word; });
    }

    /// "const float *": without __restrict__ and what else does not change what is passed.
    static std::string typeText(const Tokens &type, bool isArray)
    {
        std::string text;
        bool behindStar = false;
        for (const SourceToken &token : type) {
            const bool isPunctuator = token.kind == SourceToken::Kind::Punctuator;
            if (token.text == "__restrict__" || token.text == "__restrict" ||
                token.text == "__grid_constant__" || (behindStar && token.text == "const"))
                continue;
            const bool joins = text.empty() || text.back() == ':' || text.back() == '<' ||
                               (isPunctuator && token.text != "*" && token.text != "&") ||
                               (text.back() == '*' && token.text == "*");
            text += (joins ? "" : " ") + token.text;
            behindStar = behindStar || token.text == "*";
        }
        return isArray ? text + (text.ends_with("*") ? "*" : " *") : text;
    }

    Tokens tokens_;
    std::size_t at_ = 0;
    std::vector<bool> blocks_; // open braces: true for those of extern "C" { … }
    bool declarationHasCLinkage_ = false;
    std::vector<KernelSignature> kernels_;
};
} // namespace

Result<std::vector<KernelSignature>> readKernelSignatures(const std::string &source)
{
    return Reader(source).run();
}

} // namespace kernelwright
