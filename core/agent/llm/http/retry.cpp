// SPDX-License-Identifier: GPL-3.0-or-later
#include "retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace kernelwright
{

namespace
{
using std::chrono::milliseconds;

std::optional<double> numberOf(const std::string &text)
{
    if (text.empty()) return std::nullopt;
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end != 0 || !std::isfinite(number) || number < 0) return std::nullopt;
    return std::min(number, 1e9);
}
} // namespace

bool isWorthRetrying(const HttpHead &head)
{
    if (head.header("x-should-retry") == "true") return true;
    if (head.header("x-should-retry") == "false") return false;
    return head.status == 408 || head.status == 409 || head.status == 429 || head.status >= 500;
}

std::optional<milliseconds> askedWait(const HttpHead &head, std::chrono::system_clock::time_point now)
{
    if (const auto exact = numberOf(head.header("retry-after-ms")))
        return milliseconds(static_cast<std::int64_t>(*exact));
    const std::string text = head.header("retry-after");
    if (const auto seconds = numberOf(text)) return milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    const std::time_t date = text.empty() ? -1 : curl_getdate(text.c_str(), nullptr);
    if (date < 0) return std::nullopt;
    const auto wait =
        std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::from_time_t(date) - now);
    return std::max(wait, milliseconds(0));
}

milliseconds waitBeforeRetry(const RetryPolicy &policy, int failures, std::optional<milliseconds> asked,
                             std::minstd_rand &random)
{
    const double part = std::uniform_real_distribution<double>(0, 1)(random);
    if (asked)
        return *asked +
               milliseconds(static_cast<std::int64_t>(0.25 * part * static_cast<double>(asked->count())));
    const double grown =
        static_cast<double>(policy.firstWait.count()) * std::pow(2.0, std::max(0, failures - 1));
    const double most = std::min(grown, static_cast<double>(policy.longestWait.count()));
    return milliseconds(static_cast<std::int64_t>(most * (0.5 + 0.5 * part)));
}

bool waitFor(milliseconds time, const CancelToken &cancel)
{
    constexpr milliseconds slice(50); // the token is a flag that cannot wake anybody
    const auto end = std::chrono::steady_clock::now() + time;
    while (!cancel.isCancelled()) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0) return true;
        std::this_thread::sleep_for(std::min(left, slice));
    }
    return false;
}

} // namespace kernelwright
