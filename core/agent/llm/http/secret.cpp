// SPDX-License-Identifier: GPL-3.0-or-later
#include "secret.h"

#include "base/text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kernelwright
{

namespace
{
/// A plain memset before the memory is freed may be optimised away.
void overwrite(std::string &text)
{
    volatile char *byte = text.data();
    for (std::size_t left = text.capacity(); left > 0; --left)
        *byte++ = 0;
    text.clear();
}
} // namespace

Secret::Secret(std::string_view text)
    : text_(trimText(text))
{}

Secret::~Secret()
{
    overwrite(text_);
}

Secret::Secret(const Secret &other) = default;

Secret::Secret(Secret &&other) noexcept
    : text_(other.text_) // copied: a moved short string stays behind in the source's own memory
{
    overwrite(other.text_);
}

Secret &Secret::operator=(Secret other) noexcept
{
    std::swap(text_, other.text_);
    return *this;
}

bool Secret::isUsable() const
{
    return !text_.empty() && std::all_of(text_.begin(), text_.end(),
                                         [](char letter) { return letter > ' ' && letter < '\x7f'; });
}

std::string Secret::redact(std::string text) const
{
    // A key of a few letters would turn ordinary words into "[key]"; local servers are given such ones.
    constexpr std::size_t shortestKey = 8;
    if (text_.size() < shortestKey) return text;
    for (std::size_t at = text.find(text_); at != std::string::npos; at = text.find(text_, at))
        text.replace(at, text_.size(), "[key]");
    return text;
}

} // namespace kernelwright
