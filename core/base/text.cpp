// SPDX-License-Identifier: GPL-3.0-or-later
#include "text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

namespace kernelwright
{

namespace
{
struct Scale
{
    double from; // the smallest value shown in this unit
    double unit;
    const char *name;
};

std::string threeDigits(double value)
{
    const double size = std::fabs(value);
    const int digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return formatFixed(value, digits);
}

template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N> &scales, const char *plain)
{
    if (!std::isfinite(value)) return "–";
    for (const Scale &scale : scales)
        if (std::fabs(value) >= scale.from) return threeDigits(value / scale.unit) + " " + scale.name;
    const bool whole = value == std::floor(value);
    return (whole ? formatFixed(value, 0) : threeDigits(value)) + plain;
}
} // namespace

std::string formatFixed(double value, int digits)
{
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
    return buffer.data();
}

std::string formatMicroseconds(double us)
{
    if (!std::isfinite(us)) return "–";
    if (us >= 1e6) return threeDigits(us / 1e6) + " s";
    if (us >= 1e3) return threeDigits(us / 1e3) + " ms";
    return threeDigits(us) + " µs";
}

std::string formatBytes(double bytes)
{
    constexpr double kib = 1024;
    return scaled<4>(bytes,
                     {{{kib * kib * kib * kib, kib * kib * kib * kib, "TiB"},
                       {kib * kib * kib, kib * kib * kib, "GiB"},
                       {kib * kib, kib * kib, "MiB"},
                       {kib, kib, "KiB"}}},
                     " B");
}

std::string formatCount(double count)
{
    return scaled<4>(count, {{{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e3, 1e3, "k"}}}, "");
}

std::string formatSpeedup(double ratio)
{
    return std::isfinite(ratio) ? formatFixed(ratio, 2) + "×" : "–";
}

std::vector<std::string> splitText(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    std::size_t from = 0;
    while (true) {
        const std::size_t to = text.find(separator, from);
        if (to == std::string_view::npos) break;
        parts.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    parts.emplace_back(text.substr(from));
    return parts;
}

std::string trimText(std::string_view text)
{
    const auto isSpace = [](unsigned char c) { return std::isspace(c) != 0; };
    while (!text.empty() && isSpace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && isSpace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    return std::string(text);
}

std::string joinText(const std::vector<std::string> &parts, std::string_view separator)
{
    std::string joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) joined += separator;
        joined += parts[i];
    }
    return joined;
}

std::string toIdentifier(std::string_view name)
{
    static const std::set<std::string, std::less<>> keywords{
        "alignas", "auto",   "bool",   "break",    "case",     "char",   "class",  "const",   "continue", "default",
        "delete",  "do",     "double", "else",     "enum",     "export", "extern", "false",   "float",    "for",
        "goto",    "half",   "if",     "inline",   "int",      "long",   "new",    "operator", "private", "public",
        "return",  "short",  "signed", "sizeof",   "static",   "struct", "switch", "template", "this",    "throw",
        "true",    "try",    "union",  "unsigned", "using",    "void",   "while",  "threadIdx", "blockIdx", "blockDim",
        "gridDim", "warpSize", "register", "typename", "virtual", "volatile", "and", "or", "not", "xor", "min", "max"};
    std::string identifier;
    for (const char c : name) {
        const bool valid = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        identifier += valid ? c : '_';
    }
    if (identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier.front()))) identifier.insert(0, "_");
    if (keywords.contains(identifier)) identifier += '_';
    return identifier;
}

} // namespace kernelwright
