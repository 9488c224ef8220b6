// SPDX-License-Identifier: GPL-3.0-or-later
#include "access_width.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace kernelwright
{

namespace
{

/// "ld.global.nc.v4.f32" → {"ld", "global", "nc", "v4", "f32"}.
std::vector<std::string_view> partsOf(std::string_view opcode)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t dot = opcode.find('.');
        if (dot != 0) parts.push_back(opcode.substr(0, dot));
        if (dot == std::string_view::npos) return parts;
        opcode.remove_prefix(dot + 1);
    }
}

int numberBehind(std::string_view part, std::string_view letters)
{
    if (part.size() < 2 || letters.find(part.front()) == std::string_view::npos) return 0;
    const std::string digits(part.substr(1));
    return std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })
               ? std::atoi(digits.c_str())
               : 0;
}

int widthOf(const std::vector<std::string_view> &parts, std::string_view operands)
{
    const auto has = [&](std::string_view part) {
        return std::find(parts.begin(), parts.end(), part) != parts.end();
    };
    if (parts.front() == "cp") {
        if (!has("async") || has("commit_group") || has("wait_group") || has("wait_all")) return 1;
        if (has("bulk")) return 16; // TMA and bulk copies take nothing less
        return operands.find(", 16") != std::string_view::npos  ? 16
               : operands.find(", 8") != std::string_view::npos ? 8
                                                                : 4;
    }
    const bool isAccess = parts.front() == "ld" || parts.front() == "st" || parts.front() == "ldu" ||
                          parts.front() == "red" || parts.front() == "atom" || parts.front() == "wmma";
    if (!isAccess || has("shared") || has("local") || has("param") || has("const")) return 1;
    if (parts.front() == "wmma") return has("load") || has("store") ? 32 : 1;
    int elements = 1, bits = 8;
    for (const std::string_view part : parts) {
        if (const int vector = numberBehind(part, "v")) elements = vector;
        if (const int width = numberBehind(part, "bsuf")) bits = width;
    }
    return std::max(1, elements * bits / 8);
}

} // namespace

int widestGlobalAccess(const std::string &ptx)
{
    int widest = 1;
    std::string_view rest = ptx;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto skipBlanks = [&line] {
            line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
        };
        skipBlanks();
        if (line.starts_with('@')) { // a predicate stands in front
            line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
            skipBlanks();
        }
        const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
        if (space > 0) widest = std::max(widest, widthOf(partsOf(line.substr(0, space)), line.substr(space)));
    }
    return widest;
}

} // namespace kernelwright
