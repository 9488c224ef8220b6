// SPDX-License-Identifier: GPL-3.0-or-later
#include "event_stream.h"

#include "base/text.h"

namespace kernelwright
{

Result<void> EventStreamParser::feed(std::string_view bytes, const Receiver &receive)
{
    while (!bytes.empty()) {
        if (skipLineFeed_) {
            skipLineFeed_ = false;
            if (bytes.front() == '\n') {
                bytes.remove_prefix(1);
                continue;
            }
        }
        const std::size_t end = bytes.find_first_of("\r\n");
        const std::string_view part = bytes.substr(0, end);
        if (line_.size() + part.size() > longestEvent_)
            return fail(ErrorCode::Protocol, "the server sent a line of more than " +
                                                 formatBytes(static_cast<double>(longestEvent_)));
        line_ += part;
        if (end == std::string_view::npos) return {};
        skipLineFeed_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (auto ended = endLine(receive); !ended) return ended;
    }
    return {};
}

Result<void> EventStreamParser::endLine(const Receiver &receive)
{
    std::string_view line = line_;
    if (isFirstLine_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    isFirstLine_ = false;
    const bool endsEvent = line.empty();
    if (!endsEvent) takeField(line);
    line_.clear();
    if (event_.data.size() > longestEvent_)
        return fail(ErrorCode::Protocol, "the server sent an event of more than " +
                                             formatBytes(static_cast<double>(longestEvent_)));
    if (!endsEvent) return {};
    const ServerSentEvent event = std::move(event_);
    const bool hadData = hasData_;
    event_ = {};
    hasData_ = false;
    return hadData ? receive(event) : Result<void>{};
}

void EventStreamParser::takeField(std::string_view line)
{
    const std::size_t colon = line.find(':');
    if (colon == 0) return; // a comment, sent to keep the connection open
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") {
        event_.type = value;
    } else if (field == "data") {
        if (hasData_) event_.data += '\n';
        event_.data += value;
        hasData_ = true;
    }
    // "id" and "retry" serve reconnection by GET, which no model's endpoint offers.
}

std::optional<ServerSentEvent> EventStreamParser::unfinished()
{
    if (!line_.empty()) takeField(line_);
    line_.clear();
    if (!hasData_) return std::nullopt;
    hasData_ = false;
    return std::exchange(event_, {});
}

} // namespace kernelwright
