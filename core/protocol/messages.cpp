// SPDX-License-Identifier: GPL-3.0-or-later
#include "messages.h"

#include <limits>

namespace kernelwright::protocol
{

namespace
{
// The JSON library quotes what it read last; of a hostile line that can be the whole line.
std::string clipped(std::string text)
{
    constexpr std::size_t longest = 300;
    if (text.size() <= longest) return text;
    text.resize(longest);
    return text + "…";
}

std::string oneLine(const Json &json)
{
    return writeJson(json) + '\n';
}

Json idOf(std::int64_t id)
{
    return id < 0 ? Json(nullptr) : Json(id);
}

Json errorMessage(std::int64_t id, int code, const Error &error)
{
    return {{"jsonrpc", "2.0"},
            {"id", idOf(id)},
            {"error",
             {{"code", code}, {"message", error.message}, {"data", {{"kind", errorCodeName(error.code)}}}}}};
}

bool isVersion2(const Json &message)
{
    const auto version = message.find("jsonrpc");
    return version != message.end() && version->is_string() &&
           version->get_ref<const std::string &>() == "2.0";
}

/// The id of a message, or -1 where it has none that this protocol uses (whole numbers from 0 on).
std::int64_t readId(const Json &message)
{
    const auto id = message.find("id");
    if (id == message.end() || !id->is_number_integer()) return -1;
    if (id->is_number_unsigned() &&
        id->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return -1;
    const auto number = id->get<std::int64_t>();
    return number < 0 ? -1 : number;
}

tl::unexpected<BadRequest> refuse(std::int64_t id, int code, ErrorCode kind, std::string message)
{
    return tl::unexpected<BadRequest>(BadRequest{id, code, Error{kind, std::move(message)}});
}

/// Where an engine gives no kind (another program's answer), the number says what it can.
ErrorCode kindOf(const Json &error, int code)
{
    if (const auto data = error.find("data"); data != error.end() && data->is_object())
        if (const auto kind = data->find("kind"); kind != data->end() && kind->is_string())
            return errorCodeFromName(kind->get<std::string>());
    if (code == badParams) return ErrorCode::BadInput;
    return code <= -32600 && code >= -32700 ? ErrorCode::Protocol : ErrorCode::Internal;
}

Result<Error> readError(const Json &error)
{
    const auto message = error.is_object() ? error.find("message") : error.end();
    const auto code = error.is_object() ? error.find("code") : error.end();
    if (!error.is_object() || message == error.end() || !message->is_string() || code == error.end() ||
        !code->is_number_integer())
        return fail(ErrorCode::Protocol,
                    "the engine's answer has an error without a message and a whole code");
    return Error{kindOf(error, code->get<int>()), message->get<std::string>()};
}

Result<Incoming> readResponse(const Json &message)
{
    const auto result = message.find("result");
    const auto error = message.find("error");
    if ((result == message.end()) == (error == message.end()))
        return fail(ErrorCode::Protocol, "the engine's answer must have either a result or an error");
    Incoming incoming;
    incoming.isResponse = true;
    incoming.response.id = readId(message);
    if (result != message.end()) {
        if (incoming.response.id < 0)
            return fail(ErrorCode::Protocol, "the engine's answer has no whole number from 0 on as its id");
        incoming.response.result = *result;
        return incoming;
    }
    Result<Error> read = readError(*error);
    if (!read) return forward(read.error());
    incoming.response.result = tl::unexpected<Error>(std::move(*read));
    return incoming;
}
} // namespace

std::string encode(const Request &request)
{
    return oneLine(
        {{"jsonrpc", "2.0"}, {"id", request.id}, {"method", request.method}, {"params", request.params}});
}

std::string encode(const Response &response)
{
    if (!response.result) return oneLine(errorMessage(response.id, otherFailure, response.result.error()));
    return oneLine({{"jsonrpc", "2.0"}, {"id", idOf(response.id)}, {"result", *response.result}});
}

std::string encode(const Notification &notification)
{
    return oneLine({{"jsonrpc", "2.0"}, {"method", notification.method}, {"params", notification.params}});
}

std::string encode(const BadRequest &bad)
{
    return oneLine(errorMessage(bad.id, bad.code, bad.error));
}

tl::expected<Request, BadRequest> decodeRequest(std::string_view line)
{
    if (line.size() > maximumMessageBytes)
        return refuse(-1, notARequest, ErrorCode::Protocol,
                      "the message is longer than " + std::to_string(maximumMessageBytes >> 20) + " MiB");
    const Result<Json> parsed = parseJson(line, "the message");
    if (!parsed) return refuse(-1, notJson, ErrorCode::Protocol, clipped(parsed.error().message));
    const Json &message = *parsed;
    if (message.is_array())
        return refuse(-1, notARequest, ErrorCode::Protocol, "batches are not taken: send one request a line");
    if (!message.is_object())
        return refuse(-1, notARequest, ErrorCode::Protocol, "a request must be a JSON object");
    Request request;
    request.id = readId(message);
    if (request.id < 0)
        return refuse(-1, notARequest, ErrorCode::Protocol,
                      "a request's id must be a whole number from 0 on");
    if (!isVersion2(message))
        return refuse(request.id, notARequest, ErrorCode::Protocol,
                      "a request must say \"jsonrpc\": \"2.0\"");
    const auto method = message.find("method");
    if (method == message.end() || !method->is_string())
        return refuse(request.id, notARequest, ErrorCode::Protocol, "a request's method must be a text");
    request.method = method->get<std::string>();
    if (const auto params = message.find("params"); params != message.end()) {
        if (!params->is_object())
            return refuse(request.id, badParams, ErrorCode::BadInput,
                          "the params of '" + clipped(request.method) + "' must be a JSON object");
        request.params = *params;
    }
    return request;
}

Result<Incoming> decodeIncoming(std::string_view line)
{
    if (line.size() > maximumMessageBytes)
        return fail(ErrorCode::Protocol, "the engine's message is longer than " +
                                             std::to_string(maximumMessageBytes >> 20) + " MiB");
    const Result<Json> parsed = parseJson(line, "the engine's message");
    if (!parsed) return fail(ErrorCode::Protocol, clipped(parsed.error().message));
    const Json &message = *parsed;
    if (!message.is_object() || !isVersion2(message))
        return fail(ErrorCode::Protocol, "the engine's message is not a JSON-RPC 2.0 object");
    const auto method = message.find("method");
    if (method == message.end()) return readResponse(message);
    const auto params = message.find("params");
    if (!method->is_string() || (params != message.end() && !params->is_object()))
        return fail(ErrorCode::Protocol,
                    "the engine's notification must have a text as its method and an object "
                    "as its params");
    Incoming incoming;
    incoming.notification.method = method->get<std::string>();
    if (params != message.end()) incoming.notification.params = *params;
    return incoming;
}

} // namespace kernelwright::protocol
