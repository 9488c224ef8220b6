// SPDX-License-Identifier: GPL-3.0-or-later
#include "http_client.h"

#include "base/text.h"
#include "transfer.h"
#include "url.h"

#include <mutex>

namespace kernelwright
{

namespace
{
constexpr int mostRedirects = 5;

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

void initialiseCurl()
{
    static std::once_flag once; // libcurl asks for it once in a process, before any thread uses it
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}
} // namespace

std::string HttpHead::header(const std::string &name) const
{
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

HttpClient::HttpClient(HttpTimeouts timeouts, std::string certificateFile)
    : timeouts_(timeouts)
    , certificateFile_(std::move(certificateFile))
{
    initialiseCurl();
    multi_ = curl_multi_init();
}

HttpClient::~HttpClient()
{
    curl_multi_cleanup(static_cast<CURLM *>(multi_));
}

tl::expected<HttpHead, HttpFailure> HttpClient::transfer(const HttpRequest &request, const Receiver &receive,
                                                         const CancelToken &cancel)
{
    HttpTransfer transfer(request, timeouts_, certificateFile_, receive);
    return transfer.run(static_cast<CURLM *>(multi_), cancel);
}

tl::expected<HttpHead, HttpFailure> HttpClient::exchange(const HttpRequest &request, const Receiver &receive,
                                                         const CancelToken &cancel)
{
    const auto refuse = [](const std::string &sentence) {
        return tl::unexpected(HttpFailure{HttpFailure::Kind::Redirect, sentence});
    };
    HttpRequest current = request;
    for (int redirects = 0; redirects <= mostRedirects; ++redirects) {
        const auto here = parseUrl(current.url);
        if (!here)
            return tl::unexpected(
                HttpFailure{HttpFailure::Kind::Connect, "'" + current.url + "': " + here.error().message});
        const auto head = transfer(current, receive, cancel);
        if (!head || !isRedirect(head->status)) return head;
        const auto next = resolveUrl(*here, head->header("location"));
        if (!next || head->header("location").empty()) return refuse(here->place() + " redirects to nowhere");
        if (!next->isSameOrigin(*here))
            return refuse(
                here->place() + " redirects to " + next->scheme + "://" + next->place() +
                ", and neither key nor prompt is sent there unasked: if that is where the model is, "
                "give it as the base URL");
        if (head->status == 303) current.method = "GET";
        current.url = next->text();
    }
    return refuse("the server redirects in circles");
}

} // namespace kernelwright
