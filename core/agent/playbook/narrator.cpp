// SPDX-License-Identifier: GPL-3.0-or-later
#include "narrator.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace kernelwright::playbook
{

Narrator::Narrator(const AgentStream &stream, const CancelToken &cancel, int wordDelayMs)
    : stream_(stream)
    , cancel_(cancel)
    , wordDelayMs_(wordDelayMs)
{}

// The token has no event to wait for, so a long wait is taken in slices short enough to end promptly.
void Narrator::wait(int milliseconds) const
{
    constexpr int slice = 20;
    for (int left = milliseconds; left > 0 && !cancel_.isCancelled(); left -= slice)
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min(left, slice)));
}

void Narrator::say(const std::string &sentence)
{
    if (sentence.empty()) return;
    const bool continues = !text_.empty() && text_.back() != '\n';
    const std::string whole = (continues ? " " : "") + sentence;
    text_ += whole;
    if (!stream_.onReasoning) return;
    for (std::size_t begin = 0; begin < whole.size() && !cancel_.isCancelled();) {
        const std::size_t space = whole.find(' ', begin + 1);
        const std::size_t end = space == std::string::npos ? whole.size() : space;
        stream_.onReasoning(std::string_view(whole).substr(begin, end - begin));
        wait(wordDelayMs_);
        begin = end;
    }
}

void Narrator::paragraph()
{
    if (text_.empty()) return;
    text_ += "\n\n";
    if (stream_.onReasoning && !cancel_.isCancelled()) stream_.onReasoning("\n\n");
}

void Narrator::show(const std::string &source)
{
    if (!stream_.onSource) return;
    for (std::size_t begin = 0; begin < source.size() && !cancel_.isCancelled();) {
        const std::size_t newline = source.find('\n', begin);
        const std::size_t end = newline == std::string::npos ? source.size() : newline + 1;
        stream_.onSource(std::string_view(source).substr(begin, end - begin));
        wait(wordDelayMs_);
        begin = end;
    }
}

} // namespace kernelwright::playbook
