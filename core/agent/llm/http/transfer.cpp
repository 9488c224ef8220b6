// SPDX-License-Identifier: GPL-3.0-or-later
#include "transfer.h"

#include "base/text.h"
#include "url.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::size_t longestHead = 256 * 1024;
/// How long the wait for the network may keep a cancellation or a timeout from being seen.
constexpr int wakeMilliseconds = 50;

std::string seconds(std::chrono::milliseconds time)
{
    return formatFixed(static_cast<double>(time.count()) / 1000, time.count() % 1000 == 0 ? 0 : 1) + " s";
}

std::string lowerCase(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return lower;
}
} // namespace

HttpTransfer::HttpTransfer(const HttpRequest &request, const HttpTimeouts &timeouts,
                           const std::string &certificateFile, const HttpClient::Receiver &receive)
    : request_(request)
    , timeouts_(timeouts)
    , certificateFile_(certificateFile)
    , receive_(receive)
    , easy_(curl_easy_init())
{}

HttpTransfer::~HttpTransfer()
{
    curl_slist_free_all(headers_);
    curl_easy_cleanup(easy_);
}

void HttpTransfer::addHeaders()
{
    const auto add = [this](const std::string &line) {
        if (curl_slist *longer = curl_slist_append(headers_, line.c_str())) headers_ = longer;
    };
    for (const std::string &line : request_.headers)
        add(line);
    add("Expect:"); // no waiting for "100 Continue" before the prompt is sent
    if (!request_.key.isEmpty()) add(request_.keyHeader + request_.key.reveal());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
}

void HttpTransfer::prepare()
{
    const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(easy_, option, value); };
    set(CURLOPT_URL, request_.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_FOLLOWLOCATION, 0L); // libcurl would carry an x-api-key header to another host
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    if (!certificateFile_.empty()) set(CURLOPT_CAINFO, certificateFile_.c_str());
    set(CURLOPT_ACCEPT_ENCODING, ""); // whatever libcurl can unpack
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NOPROGRESS, 1L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeouts_.connect.count()));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_USERAGENT, "kernelwright");
    set(CURLOPT_ERRORBUFFER, detail_.data());
    if (request_.method == "POST") {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
        set(CURLOPT_POSTFIELDS, request_.body.data());
    }
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &HttpTransfer::onHeader);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &HttpTransfer::onBody);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
    addHeaders();
}

tl::expected<HttpHead, HttpFailure> HttpTransfer::run(CURLM *multi, const CancelToken &cancel)
{
    if (!easy_ || !multi)
        return tl::unexpected(HttpFailure{HttpFailure::Kind::Connect, "libcurl could not be set up"});
    prepare();
    curl_multi_add_handle(multi, easy_);
    const std::optional<HttpFailure> failure = drive(multi, cancel);
    curl_multi_remove_handle(multi, easy_);
    if (failure) return tl::unexpected(*failure);
    return head_;
}

std::optional<HttpFailure> HttpTransfer::drive(CURLM *multi, const CancelToken &cancel)
{
    for (;;) {
        int running = 0;
        if (const CURLMcode code = curl_multi_perform(multi, &running); code != CURLM_OK)
            return HttpFailure{HttpFailure::Kind::Cut, curl_multi_strerror(code)};
        int left = 0;
        while (const CURLMsg *message = curl_multi_info_read(multi, &left)) {
            if (message->msg != CURLMSG_DONE || message->easy_handle != easy_) continue;
            if (message->data.result == CURLE_OK) return std::nullopt;
            return failureOf(message->data.result);
        }
        if (cancel.isCancelled()) return HttpFailure{HttpFailure::Kind::Cancelled, "it was cancelled"};
        if (auto failure = late()) return failure;
        curl_multi_poll(multi, nullptr, 0, wakeMilliseconds, nullptr);
    }
}

std::optional<HttpFailure> HttpTransfer::late() const
{
    const auto now = Clock::now();
    const auto timeout = [](const std::string &sentence) {
        return HttpFailure{HttpFailure::Kind::Timeout, sentence};
    };
    if (now - start_ > timeouts_.total)
        return timeout("the reply was not complete after " + seconds(timeouts_.total));
    if (!lastByte_ && now - start_ > timeouts_.firstByte)
        return timeout("there was no answer within " + seconds(timeouts_.firstByte));
    if (lastByte_ && now - *lastByte_ > timeouts_.idle)
        return timeout("the reply fell silent for " + seconds(timeouts_.idle));
    return std::nullopt;
}

HttpFailure HttpTransfer::failureOf(CURLcode code) const
{
    using Kind = HttpFailure::Kind;
    if (refused_) return {Kind::Receiver, refused_->message};
    const auto url = parseUrl(request_.url);
    const std::string place = url ? url->place() : request_.url;
    const std::string detail =
        request_.key.redact(detail_[0] != 0 ? std::string(detail_.data()) : curl_easy_strerror(code));
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        return {Kind::Connect, "no connection to " + place + " (" + detail + ")"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED:
        return {Kind::Tls, "the certificate of " + place + " does not hold (" + detail +
                               "), so nothing was sent: check the address, this machine's clock and its "
                               "certificates"};
    case CURLE_OPERATION_TIMEDOUT:
        return {Kind::Timeout, "no connection to " + place + " within " + seconds(timeouts_.connect)};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_URL_MALFORMAT:
        return {Kind::Protocol, place + " does not answer as a web server does (" + detail + ")"};
    default:
        return {Kind::Cut, "the connection to " + place + " broke (" + detail + ")"};
    }
}

std::size_t HttpTransfer::onHeader(char *bytes, std::size_t size, std::size_t count, void *self)
{
    const bool goOn = static_cast<HttpTransfer *>(self)->takeHeader({bytes, size * count});
    return goOn ? size * count : 0;
}

std::size_t HttpTransfer::onBody(char *bytes, std::size_t size, std::size_t count, void *self)
{
    const bool goOn = static_cast<HttpTransfer *>(self)->takeBody({bytes, size * count});
    return goOn ? size * count : 0;
}

bool HttpTransfer::takeHeader(std::string_view line)
{
    headerBytes_ += line.size();
    if (headerBytes_ > longestHead) {
        refused_ = Error{ErrorCode::Protocol, "the server's answer begins with endless headers"};
        return false;
    }
    if (line.starts_with("HTTP/")) { // after "100 Continue" or a proxy's own answer, another head follows
        head_ = {};
        const std::size_t space = line.find(' ');
        const std::string code(space == std::string_view::npos ? "" : line.substr(space + 1, 3));
        head_.status = code.empty() ? 0 : static_cast<int>(std::strtol(code.c_str(), nullptr, 10));
        return true;
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
        head_.headers[lowerCase(line.substr(0, colon))] = trimText(line.substr(colon + 1));
    return true;
}

bool HttpTransfer::takeBody(std::string_view bytes)
{
    lastByte_ = Clock::now();
    if (head_.status >= 300 && head_.status < 400) return true; // "moved", in words, for browsers
    if (auto taken = receive_(head_, bytes); !taken) {
        refused_ = taken.error();
        return false;
    }
    return true;
}

} // namespace kernelwright
