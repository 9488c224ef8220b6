// SPDX-License-Identifier: GPL-3.0-or-later
// Server-sent events as the HTML standard describes them (html.spec.whatwg.org, "Server-sent events"): lines
// that end with LF, CR or CRLF; "event", "data" and other fields; comments; an empty line ends an event.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kernelwright
{

struct ServerSentEvent
{
    std::string type; ///< "" where the stream names none
    std::string data; ///< the data lines, joined by '\n'
};

/// Cuts a stream of bytes into events, wherever the bytes are cut.
class EventStreamParser
{
public:
    using Receiver = std::function<Result<void>(const ServerSentEvent &)>;

    /// `longestEvent`: bytes of one line, and of one event's data, that are still accepted.
    explicit EventStreamParser(std::size_t longestEvent = std::size_t{8} << 20)
        : longestEvent_(longestEvent)
    {}

    /// Hands every event that ends in `bytes` to `receive`; its error ends the parsing. Protocol where a line
    /// or an event is longer than allowed.
    Result<void> feed(std::string_view bytes, const Receiver &receive);

    /// The event that the stream's end cut off, for servers that leave the last empty line out. The standard
    /// discards it, so it must prove complete by its content.
    std::optional<ServerSentEvent> unfinished();

private:
    Result<void> endLine(const Receiver &receive);
    void takeField(std::string_view line);

    std::size_t longestEvent_;
    std::string line_;
    ServerSentEvent event_;
    bool hasData_ = false;
    bool isFirstLine_ = true;   ///< which may begin with a byte order mark
    bool skipLineFeed_ = false; ///< the last byte was CR: an LF belongs to it
};

} // namespace kernelwright
