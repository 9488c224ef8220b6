// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the chat client: the body of an answer, a stream of events or one document, told apart by its
// first byte, since servers and proxies label them wrongly.
#pragma once

#include "agent/llm/http/http_client.h"
#include "protocol.h"

namespace kernelwright
{

class ReplyBodyReader
{
public:
    ReplyBodyReader(ReplyReader &reader, ReplyLimits limits)
        : reader_(reader)
        , limits_(limits)
    {}

    Result<void> take(const HttpHead &head, std::string_view bytes);
    /// The body is complete or broken off: whatever is left of it.
    Result<void> end();

    const std::string &document() const { return document_; } ///< the body where it was no stream
    bool isWebPage() const { return kind_ == Kind::WebPage; }
    bool isEmpty() const { return kind_ == Kind::Unknown; }

private:
    enum class Kind { Unknown, Stream, Document, WebPage };
    Result<void> takeEvent(const ServerSentEvent &event);

    ReplyReader &reader_;
    ReplyLimits limits_;
    Kind kind_ = Kind::Unknown;
    EventStreamParser events_;
    std::string document_;
};

} // namespace kernelwright
