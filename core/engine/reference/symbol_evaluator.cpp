// SPDX-License-Identifier: GPL-3.0-or-later
#include "input_checks.h"

#include <cctype>
#include <string_view>

namespace kernelwright
{

namespace
{

/// Recursive descent over + - * // % ** and min/max with Python's meaning. Any failure makes the whole
/// nullopt.
class Evaluator
{
public:
    Evaluator(std::string_view text, const SymbolValues &symbols)
        : text_(text)
        , symbols_(symbols)
    {}

    std::optional<std::int64_t> run()
    {
        const std::int64_t value = sum(0);
        skipSpaces();
        return failed_ || position_ != text_.size() ? std::nullopt : std::optional(value);
    }

private:
    std::int64_t giveUp()
    {
        failed_ = true;
        return 0;
    }

    void skipSpaces()
    {
        while (position_ < text_.size() && text_[position_] == ' ')
            ++position_;
    }

    bool accept(std::string_view sign)
    {
        skipSpaces();
        if (text_.substr(position_, sign.size()) != sign) return false;
        position_ += sign.size();
        return true;
    }

    std::int64_t sum(int depth)
    {
        constexpr int deepest = 64;
        if (depth > deepest) return giveUp();
        std::int64_t value = product(depth);
        while (!failed_) {
            std::int64_t next = 0;
            if (accept("+")) {
                if (next = product(depth); __builtin_add_overflow(value, next, &value)) return giveUp();
            } else if (accept("-")) {
                if (next = product(depth); __builtin_sub_overflow(value, next, &value)) return giveUp();
            } else {
                break;
            }
        }
        return value;
    }

    std::int64_t product(int depth)
    {
        std::int64_t value = power(depth);
        while (!failed_) {
            if (accept("//"))
                value = floorDivide(value, power(depth));
            else if (accept("%")) {
                const std::int64_t divisor = power(depth);
                value = divisor == -1 ? 0 : value - floorDivide(value, divisor) * divisor;
            } else if (accept("*")) {
                const std::int64_t factor = power(depth);
                if (__builtin_mul_overflow(value, factor, &value)) return giveUp();
            } else {
                break;
            }
        }
        return value;
    }

    std::int64_t floorDivide(std::int64_t dividend, std::int64_t divisor)
    {
        if (divisor == 0) return giveUp();
        if (divisor == -1) return negated(dividend);
        return dividend / divisor - (dividend % divisor != 0 && (dividend < 0) != (divisor < 0) ? 1 : 0);
    }

    std::int64_t negated(std::int64_t value)
    {
        std::int64_t result = 0;
        return __builtin_sub_overflow(0, value, &result) ? giveUp() : result;
    }

    std::int64_t power(int depth)
    {
        const std::int64_t base = atom(depth);
        if (failed_ || !accept("**")) return base;
        const std::int64_t exponent = atom(depth);
        constexpr std::int64_t largestExponent = 62;
        if (exponent < 0 || exponent > largestExponent) return giveUp();
        std::int64_t value = 1;
        for (std::int64_t i = 0; i < exponent; ++i)
            if (__builtin_mul_overflow(value, base, &value)) return giveUp();
        return value;
    }

    std::int64_t atom(int depth)
    {
        if (accept("(")) {
            const std::int64_t value = sum(depth + 1);
            return accept(")") ? value : giveUp();
        }
        if (accept("-")) return depth > 64 ? giveUp() : negated(atom(depth + 1));
        skipSpaces();
        const std::size_t from = position_;
        while (position_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
            ++position_;
        const std::string word(text_.substr(from, position_ - from));
        if (word.empty()) return giveUp();
        if (std::isdigit(static_cast<unsigned char>(word.front()))) return number(word);
        const bool isMaximum = word == "max" || word == "Max";
        if (isMaximum || word == "min" || word == "Min") return extreme(isMaximum, depth);
        const auto symbol = symbols_.find(word);
        return symbol == symbols_.end() ? giveUp() : symbol->second;
    }

    std::int64_t number(const std::string &word)
    {
        std::int64_t value = 0;
        for (const char digit : word) {
            if (!std::isdigit(static_cast<unsigned char>(digit)) ||
                __builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, digit - '0', &value))
                return giveUp();
        }
        return value;
    }

    std::int64_t extreme(bool maximum, int depth)
    {
        if (!accept("(")) return giveUp();
        std::int64_t value = sum(depth + 1);
        while (!failed_ && accept(",")) {
            const std::int64_t next = sum(depth + 1);
            value = maximum ? std::max(value, next) : std::min(value, next);
        }
        return accept(")") ? value : giveUp();
    }

    std::string_view text_;
    const SymbolValues &symbols_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

} // namespace

std::optional<std::int64_t> evaluateSymbols(const std::string &expression, const SymbolValues &symbols)
{
    return Evaluator(expression, symbols).run();
}

} // namespace kernelwright
