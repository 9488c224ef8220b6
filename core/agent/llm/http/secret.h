// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace kernelwright
{

/// A key that must never be written down. It has no conversion to text, cannot be streamed and cannot become
/// JSON; only reveal() gives it out, to the one place that puts it into a request's header. Its memory is
/// overwritten when it goes away.
class Secret
{
public:
    Secret() = default;
    /// Spaces and line ends around it, as pasting and `$(cat file)` bring them, are taken off.
    explicit Secret(std::string_view text);
    ~Secret();
    Secret(const Secret &other);
    Secret(Secret &&other) noexcept;
    Secret &operator=(Secret other) noexcept;

    bool isEmpty() const { return text_.empty(); }
    /// Whether it can stand in a header: printable ASCII without spaces. Anything else is a mistake in
    /// copying it.
    bool isUsable() const;
    const std::string &reveal() const { return text_; }

    /// `text` with every occurrence of the key replaced by "[key]": for what a server sends back.
    std::string redact(std::string text) const;

    template <class Stream>
    friend Stream &operator<<(Stream &, const Secret &) = delete;

private:
    std::string text_;
};

void to_json(Json &, const Secret &) = delete;

} // namespace kernelwright
