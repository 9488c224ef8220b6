// SPDX-License-Identifier: GPL-3.0-or-later
// SymPy's constructor notation, Mul(Integer(2), Symbol('s0', …)), turned into 2*s0.
#include "export_schema.h"

#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelwright
{

namespace
{

struct Term
{
    std::string text;
    bool isAtom = true; ///< needs no parentheses inside a product
};

class ConstructorReader
{
public:
    explicit ConstructorReader(std::string_view text)
        : text_(text)
    {}

    std::optional<Term> readAll()
    {
        std::optional<Term> term = readTerm(0);
        skipSpaces();
        return position_ == text_.size() ? term : std::nullopt;
    }

private:
    void skipSpaces()
    {
        while (position_ < text_.size() && text_[position_] == ' ')
            ++position_;
    }

    bool accept(char wanted)
    {
        skipSpaces();
        if (position_ >= text_.size() || text_[position_] != wanted) return false;
        ++position_;
        return true;
    }

    std::string readWord()
    {
        skipSpaces();
        const std::size_t from = position_;
        while (position_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[position_])) ||
                                            text_[position_] == '_' || text_[position_] == '-'))
            ++position_;
        return std::string(text_.substr(from, position_ - from));
    }

    std::optional<Term> readTerm(int depth)
    {
        constexpr int deepest = 64;
        if (depth > deepest) return std::nullopt;
        if (accept('\'')) {
            const std::size_t end = text_.find('\'', position_);
            if (end == std::string_view::npos) return std::nullopt;
            const std::string name(text_.substr(position_, end - position_));
            position_ = end + 1;
            return Term{name};
        }
        const std::string word = readWord();
        if (word.empty()) return std::nullopt;
        if (accept('='))
            return readTerm(depth + 1) ? std::optional<Term>(Term{}) : std::nullopt; // an assumption
        if (!accept('(')) return Term{word};
        std::vector<Term> arguments;
        while (!accept(')')) {
            std::optional<Term> argument = readTerm(depth + 1);
            if (!argument) return std::nullopt;
            if (!argument->text.empty()) arguments.push_back(*argument);
            accept(',');
        }
        return combine(word, arguments);
    }

    static std::string joined(const std::vector<Term> &arguments, const std::string &sign)
    {
        std::string text;
        for (const Term &argument : arguments) {
            if (!text.empty()) text += sign;
            text += argument.isAtom ? argument.text : "(" + argument.text + ")";
        }
        return text;
    }

    static std::string listed(const std::vector<Term> &arguments)
    {
        std::string text;
        for (const Term &argument : arguments)
            text += (text.empty() ? "" : ", ") + argument.text;
        return text;
    }

    static Term combine(const std::string &name, const std::vector<Term> &arguments)
    {
        if ((name == "Symbol" || name == "Integer") && !arguments.empty()) return arguments[0];
        if (name == "Zero") return {"0"};
        if (name == "One") return {"1"};
        if (name == "NegativeOne") return {"-1"};
        if (name == "Add") return {joined(arguments, " + "), false};
        if (name == "Mul") return {joined(arguments, "*"), false};
        if (name == "Pow") return {joined(arguments, "**"), false};
        if (name == "FloorDiv" || name == "CleanDiv") return {joined(arguments, "//"), false};
        if (name == "Mod" || name == "PythonMod") return {joined(arguments, " % "), false};
        if (name == "Max") return {"max(" + listed(arguments) + ")"};
        if (name == "Min") return {"min(" + listed(arguments) + ")"};
        return {name + "(" + listed(arguments) + ")"};
    }

    std::string_view text_;
    std::size_t position_ = 0;
};

} // namespace

std::string readableExpression(const std::string &text)
{
    const std::optional<Term> term = ConstructorReader(text).readAll();
    return term ? term->text : text;
}

} // namespace kernelwright
