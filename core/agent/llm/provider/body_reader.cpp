// SPDX-License-Identifier: GPL-3.0-or-later
#include "body_reader.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr const char *endMark = "[DONE]"; ///< OpenAI's, the only event that is no JSON
}

Result<void> ReplyBodyReader::take(const HttpHead &head, std::string_view bytes)
{
    if (kind_ == Kind::Unknown) {
        const std::size_t first = bytes.find_first_not_of(" \t\r\n");
        if (first == std::string_view::npos) return {};
        const bool isGood = head.status >= 200 && head.status < 300;
        if (!isGood || bytes[first] == '{' || bytes[first] == '[')
            kind_ = Kind::Document;
        else
            kind_ = bytes[first] == '<' ? Kind::WebPage : Kind::Stream;
    }
    if (kind_ == Kind::Stream)
        return events_.feed(bytes, [this](const ServerSentEvent &event) { return takeEvent(event); });
    document_ += bytes.substr(0, std::min(bytes.size(), limits_.document - document_.size()));
    if (document_.size() < limits_.document || head.status >= 300) return {};
    return fail(ErrorCode::Protocol, "the answer is longer than " +
                                         formatBytes(static_cast<double>(limits_.document)) +
                                         " and was cut off");
}

Result<void> ReplyBodyReader::takeEvent(const ServerSentEvent &event)
{
    const std::string data = trimText(event.data);
    if (data.empty()) return {};
    if (data == endMark) return reader_.take(event.type, Json(data));
    const auto json = parseEventData(data);
    if (!json || !json->is_object())
        return fail(ErrorCode::Protocol, "the server sent an event that is no JSON object");
    return reader_.take(event.type, *json);
}

Result<void> ReplyBodyReader::end()
{
    if (kind_ != Kind::Stream) return {};
    const auto last = events_.unfinished();
    if (!last) return {};
    const std::string data = trimText(last->data);
    // Half an event is no event; a whole one may lack nothing but the empty line behind it.
    if (data != endMark && !parseEventData(data)) return {};
    return takeEvent(*last);
}

} // namespace kernelwright
