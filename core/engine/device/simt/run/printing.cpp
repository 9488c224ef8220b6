// SPDX-License-Identifier: GPL-3.0-or-later
// What the CUDA headers call for printf and assert.
#include "block_runner.h"

#include <cstdio>

namespace kernelwright::simt
{

namespace
{

constexpr std::size_t maximumStringBytes = 4096;

std::uint64_t argumentOf(Warp &warp, const LaneVariable &variable, int lane)
{
    std::uint64_t value = 0;
    std::memcpy(&value, warp.banks[0] + variable.offset + static_cast<std::size_t>(lane) * variable.stride,
                sizeof value);
    return value;
}

/// One conversion of a format, "%5.2f": where it ends and what it takes.
struct Conversion
{
    std::string flags; ///< between the '%' and the length
    char letter = 0;
    int longs = 0;
    std::size_t end = 0;
};

Conversion parseConversion(const std::string &format, std::size_t start)
{
    Conversion conversion;
    std::size_t i = start + 1;
    while (i < format.size() && std::string_view("-+ #0123456789.").find(format[i]) != std::string_view::npos)
        conversion.flags += format[i++];
    while (i < format.size() && std::string_view("lhzjt").find(format[i]) != std::string_view::npos)
        conversion.longs += format[i++] != 'h';
    if (i < format.size()) conversion.letter = format[i++];
    // Widths beyond any use are dropped: they would make megabytes of blanks.
    if (conversion.flags.size() > 8) conversion.flags.clear();
    conversion.end = i;
    return conversion;
}

template <class T>
std::string formatted(const std::string &pattern, T value)
{
    char text[512];
    const int length = std::snprintf(text, sizeof text, pattern.c_str(), value);
    return length < 0
               ? std::string()
               : std::string(text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1));
}

} // namespace

std::string BlockRunner::readString(Warp &warp, std::uint64_t address, int lane)
{
    std::string text;
    while (text.size() < maximumStringBytes) {
        WarpAddresses one;
        one.mask = 1u << lane;
        one.bytes = 1;
        one.lane[lane] = address + text.size();
        const Space space = resolveSpace(Space::Generic, one, warp);
        const auto c = static_cast<char>(*locateLane(warp, space, one.lane[lane], 1, false, lane));
        if (c == '\0') break;
        text += c;
    }
    return text;
}

std::string BlockRunner::formatPrint(Warp &warp, const std::string &format, std::uint64_t arguments, int lane)
{
    // Arguments lie one after the other, each at its own alignment.
    const auto next = [&](std::uint32_t bytes) {
        arguments = (arguments + bytes - 1) / bytes * bytes;
        WarpAddresses one;
        one.mask = 1u << lane;
        one.lane[lane] = arguments;
        const Space space = resolveSpace(Space::Generic, one, warp);
        std::uint64_t value = 0;
        std::memcpy(&value, locateLane(warp, space, one.lane[lane], bytes, false, lane), bytes);
        arguments += bytes;
        return value;
    };
    std::string text;
    for (std::size_t i = 0; i < format.size();) {
        if (format[i] != '%') {
            text += format[i++];
            continue;
        }
        const Conversion conversion = parseConversion(format, i);
        i = conversion.end;
        const std::string pattern = "%" + conversion.flags;
        switch (conversion.letter) {
        case '%':
            text += '%';
            break;
        case 'd':
        case 'i':
            text += conversion.longs ? formatted(pattern + "lld", static_cast<long long>(next(8)))
                                     : formatted(pattern + "d", static_cast<int>(next(4)));
            break;
        case 'u':
        case 'x':
        case 'X':
        case 'o':
        case 'c':
            text += conversion.longs ? formatted(pattern + "ll" + conversion.letter,
                                                 static_cast<unsigned long long>(next(8)))
                                     : formatted(pattern + conversion.letter, static_cast<unsigned>(next(4)));
            break;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            text += formatted(pattern + conversion.letter, std::bit_cast<double>(next(8)));
            break;
        case 's':
            text += readString(warp, next(8), lane);
            break;
        case 'p':
            text += formatted("%#llx", static_cast<unsigned long long>(next(8)));
            break;
        default:
            text += "%?";
            break;
        }
    }
    return text;
}

void BlockRunner::printf(Warp &warp, const CallSite &site, std::uint32_t mask)
{
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        const std::string format = readString(warp, argumentOf(warp, site.arguments[0], lane), lane);
        const std::string text = formatPrint(warp, format, argumentOf(warp, site.arguments[1], lane), lane);
        state_.printed.print(text);
        if (site.results.empty()) continue;
        const auto length = static_cast<std::int32_t>(text.size());
        std::memcpy(warp.banks[0] + site.results[0].offset +
                        static_cast<std::size_t>(lane) * site.results[0].stride,
                    &length, 4);
    }
}

void BlockRunner::assertFail(Warp &warp, const CallSite &site, std::uint32_t mask)
{
    const int lane = firstLane(mask);
    const std::string condition = readString(warp, argumentOf(warp, site.arguments[0], lane), lane);
    const auto line = static_cast<std::uint32_t>(argumentOf(warp, site.arguments[2], lane));
    fault(warp, lane, "the assertion '" + condition + "' of line " + std::to_string(line) + " failed");
}

} // namespace kernelwright::simt
