// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_expression.h"

#include "plan_text.h"

#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace kernelwright
{

namespace
{
constexpr std::size_t longestExpression = 2000;
constexpr int deepestParentheses = 64;
constexpr double mostExact = 9007199254740992.0; // 2^53: up to here doubles are exact whole numbers

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameCharacter(char c)
{
    return isIdentifier(std::string_view(&c, 1)) || isDigit(c);
}

PlanPosition at(const PlanExpression &expression, std::size_t offset)
{
    return {expression.position.line, expression.position.column + static_cast<int>(offset)};
}

struct UsedName
{
    std::string name;
    std::size_t offset;
};

/// The names in the text that are not functions, with their places. Numbers may hold letters (1e6): these are
/// skipped.
std::vector<UsedName> namesIn(const std::string &text)
{
    std::vector<UsedName> names;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && (isNameCharacter(text[end]) || (isDigit(text[i]) && text[end] == '.')))
            ++end;
        if (end == i) {
            ++i;
            continue;
        }
        std::string name = text.substr(i, end - i);
        if (!isDigit(name.front()) && !isPlanFunction(name)) names.push_back({std::move(name), i});
        i = end;
    }
    return names;
}

/// Characters and sizes that muParser should not even see.
Result<void> checkText(const PlanExpression &expression)
{
    const std::string &text = expression.text;
    if (text.size() > longestExpression)
        return failAt(expression.position,
                      "expected an expression of at most 2000 characters, this one has " +
                          std::to_string(text.size()));
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!isNameCharacter(c) && std::string_view(" \t+-*/(),.<>?:&|=!").find(c) == std::string_view::npos)
            return failAt(at(expression, i), "expected a number, a name or one of + - * / ( ), found " +
                                                 quoteText(std::string_view(&c, 1)));
        const bool isPartOfComparison =
            (i > 0 && std::string_view("<>!=").find(text[i - 1]) != std::string_view::npos) ||
            (i + 1 < text.size() && text[i + 1] == '=');
        if (c == '=' && !isPartOfComparison)
            return failAt(at(expression, i), "expected an expression, which cannot assign with '='");
        if (c == '(' && ++depth > deepestParentheses)
            return failAt(at(expression, i), "expected at most 64 parentheses inside each other");
        if (c == ')') --depth;
    }
    return {};
}

double smallest(const double *values, int count)
{
    return *std::min_element(values, values + count);
}

double largest(const double *values, int count)
{
    return *std::max_element(values, values + count);
}

double ceilDivide(double a, double b)
{
    const bool areExact =
        a == std::floor(a) && b == std::floor(b) && std::fabs(a) < mostExact && std::fabs(b) < mostExact;
    if (!areExact || b == 0) return std::ceil(a / b);
    const auto dividend = static_cast<std::int64_t>(a), divisor = static_cast<std::int64_t>(b);
    const std::int64_t quotient = dividend / divisor;
    const bool roundsUp = dividend % divisor != 0 && (dividend > 0) == (divisor > 0);
    return static_cast<double>(quotient + (roundsUp ? 1 : 0));
}

/// The remainder with the divisor's sign; NaN for a divisor of zero.
double modulo(double a, double b)
{
    const double remainder = std::fmod(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double powerOfTwoFrom(double a)
{
    if (std::isnan(a)) return a;
    double power = 1;
    while (power < a && std::isfinite(power))
        power *= 2;
    return power;
}

double roundUp(double a)
{
    return std::ceil(a);
}

double roundDown(double a)
{
    return std::floor(a);
}

/// muParser's arithmetic with our functions and no others.
void prepare(mu::Parser &parser)
{
    parser.ClearFun();
    parser.ClearConst();
    parser.DefineFun("min", smallest);
    parser.DefineFun("max", largest);
    parser.DefineFun("ceil", roundUp);
    parser.DefineFun("floor", roundDown);
    parser.DefineFun("ceildiv", ceilDivide);
    parser.DefineFun("mod", modulo);
    parser.DefineFun("pow2ceil", powerOfTwoFrom);
}

Result<double> compute(const PlanExpression &expression, std::vector<std::pair<std::string, double>> names)
{
    try {
        mu::Parser parser;
        prepare(parser);
        for (const auto &[name, value] : names)
            parser.DefineConst(name, value);
        parser.SetExpr(expression.text);
        int results = 0;
        const double *values = parser.Eval(results);
        if (results != 1)
            return failAt(expression.position, "expected one expression, found " + std::to_string(results) +
                                                   " separated by commas: " + quoteText(expression.text));
        return values[0];
    } catch (const mu::ParserError &error) {
        const std::size_t offset = std::min<std::size_t>(error.GetPos(), expression.text.size());
        return failAt(at(expression, offset), "expected a complete expression, but " +
                                                  quoteText(expression.text) +
                                                  " is not one: " + error.GetMsg());
    }
}
} // namespace

bool isPlanFunction(const std::string &name)
{
    static constexpr std::array<std::string_view, 7> functions{"min",     "max", "ceil",    "floor",
                                                               "ceildiv", "mod", "pow2ceil"};
    return std::find(functions.begin(), functions.end(), name) != functions.end();
}

Result<void> checkExpression(const PlanExpression &expression)
{
    if (const auto checked = checkText(expression); !checked) return checked;
    std::vector<std::pair<std::string, double>> names;
    for (const UsedName &used : namesIn(expression.text))
        names.emplace_back(used.name, 1.0);
    if (const auto value = compute(expression, std::move(names)); !value)
        return tl::unexpected<Error>(value.error());
    return {};
}

Result<double> evaluateExpression(const PlanExpression &expression, const NameLookup &lookup,
                                  const std::function<std::string()> &available)
{
    if (const auto checked = checkText(expression); !checked) return tl::unexpected<Error>(checked.error());
    std::vector<std::pair<std::string, double>> names;
    for (const UsedName &used : namesIn(expression.text)) {
        const std::optional<double> value = lookup(used.name);
        if (!value)
            return failAt(at(expression, used.offset), "expected a known name, found " +
                                                           quoteText(used.name) + "; there are " +
                                                           available());
        names.emplace_back(used.name, *value);
    }
    const Result<double> value = compute(expression, std::move(names));
    if (value && !std::isfinite(*value))
        return failAt(expression.position, "expected a finite number, but " + quoteText(expression.text) +
                                               " divides by zero or overflows for these shapes");
    return value;
}

Result<std::int64_t> wholeNumber(double value, std::int64_t least, std::int64_t most,
                                 const PlanExpression &expression, const std::string &what)
{
    std::array<char, 40> shown{};
    std::snprintf(shown.data(), shown.size(), "%.17g", value);
    const std::string gives = ", but " + quoteText(expression.text) + " is " + shown.data();
    if (value != std::floor(value))
        return failAt(expression.position, "expected a whole number for " + what + gives +
                                               "; round it with ceil(), floor() or ceildiv()");
    const double limit = std::min(static_cast<double>(most), mostExact);
    if (!(value >= static_cast<double>(least) && value <= limit))
        return failAt(expression.position,
                      "expected " + what + " from " + std::to_string(least) + " to " +
                          std::to_string(static_cast<std::int64_t>(limit)) + gives,
                      value > limit ? ErrorCode::LaunchError : ErrorCode::BadInput);
    return static_cast<std::int64_t>(value);
}

} // namespace kernelwright
