// SPDX-License-Identifier: GPL-3.0-or-later
// HTTP over libcurl as model endpoints need it: one exchange at a time, the reply handed on as it comes,
// certificates verified, the proxies of the environment honoured, HTTP/2 where the server speaks it,
// cancelled within a fraction of a second. Redirects are followed within one origin only, so that neither key
// nor prompt reaches another host.
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "secret.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

struct HttpTimeouts
{
    std::chrono::milliseconds connect{20'000}; ///< name, connection and TLS together
    std::chrono::milliseconds firstByte{
        600'000};                            ///< a local model reads a long prompt before it says anything
    std::chrono::milliseconds idle{120'000}; ///< between two pieces of the reply
    std::chrono::milliseconds total{3'600'000};
};

struct HttpRequest
{
    std::string method = "GET";
    std::string url;
    std::vector<std::string> headers; ///< "Name: value"
    std::string keyHeader; ///< what stands in front of the key: "Authorization: Bearer ", "x-api-key: "
    Secret key;            ///< empty = none is sent
    std::string body;      ///< of a POST
};

struct HttpHead
{
    int status = 0;
    std::map<std::string, std::string> headers; ///< names in lower case

    std::string header(const std::string &name) const; ///< "" where there is none
};

struct HttpFailure
{
    enum class Kind {
        Cancelled,
        Connect, ///< no connection: unknown host, refused, proxy
        Tls,     ///< the certificate does not hold
        Timeout,
        Cut,      ///< the connection broke after the request was on its way
        Redirect, ///< to another host, or in circles
        Protocol, ///< no HTTP, or nothing that can be decoded
        Receiver, ///< whoever received the body refused it
    };
    Kind kind = Kind::Protocol;
    std::string sentence;
};

class HttpClient
{
public:
    /// `certificateFile`: PEM file of trusted authorities, "" = the system's. Not for use by two threads at
    /// once.
    explicit HttpClient(HttpTimeouts timeouts = {}, std::string certificateFile = {});
    ~HttpClient();
    HttpClient(const HttpClient &) = delete;
    HttpClient &operator=(const HttpClient &) = delete;

    /// Gets the reply's body piece by piece; an error ends the exchange and is its failure's sentence.
    using Receiver = std::function<Result<void>(const HttpHead &head, std::string_view bytes)>;

    /// One exchange, redirects included. The head of the answer, whatever its status, once the body is
    /// complete.
    tl::expected<HttpHead, HttpFailure> exchange(const HttpRequest &request, const Receiver &receive,
                                                 const CancelToken &cancel);

private:
    tl::expected<HttpHead, HttpFailure> transfer(const HttpRequest &request, const Receiver &receive,
                                                 const CancelToken &cancel);

    HttpTimeouts timeouts_;
    std::string certificateFile_;
    void *multi_; ///< CURLM: keeps connections for the next exchange
};

} // namespace kernelwright
