// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the HTTP client: one request and its reply on a libcurl handle.
#pragma once

#include "http_client.h"

#include <curl/curl.h>

#include <array>
#include <optional>

namespace kernelwright
{

class HttpTransfer
{
public:
    HttpTransfer(const HttpRequest &request, const HttpTimeouts &timeouts, const std::string &certificateFile,
                 const HttpClient::Receiver &receive);
    ~HttpTransfer();
    HttpTransfer(const HttpTransfer &) = delete;
    HttpTransfer &operator=(const HttpTransfer &) = delete;

    tl::expected<HttpHead, HttpFailure> run(CURLM *multi, const CancelToken &cancel);

private:
    using Clock = std::chrono::steady_clock;

    void prepare();
    void addHeaders();
    std::optional<HttpFailure> drive(CURLM *multi, const CancelToken &cancel);
    std::optional<HttpFailure> late() const;
    HttpFailure failureOf(CURLcode code) const;
    static std::size_t onHeader(char *bytes, std::size_t size, std::size_t count, void *self);
    static std::size_t onBody(char *bytes, std::size_t size, std::size_t count, void *self);
    bool takeHeader(std::string_view line);
    bool takeBody(std::string_view bytes);

    const HttpRequest &request_;
    const HttpTimeouts &timeouts_;
    const std::string &certificateFile_;
    const HttpClient::Receiver &receive_;
    CURL *easy_;
    curl_slist *headers_ = nullptr;
    std::array<char, CURL_ERROR_SIZE> detail_{};
    HttpHead head_;
    std::size_t headerBytes_ = 0;
    std::optional<Error> refused_; ///< by the receiver, or for the head's size
    Clock::time_point start_ = Clock::now();
    std::optional<Clock::time_point> lastByte_;
};

} // namespace kernelwright
