// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "http_client.h"

#include <chrono>
#include <optional>
#include <random>
#include <string>

namespace kernelwright
{

/// How often and after what wait a request is made again.
struct RetryPolicy
{
    int attempts = 6;                          ///< of one request, the first included
    std::chrono::milliseconds firstWait{1000}; ///< doubles with each failure
    std::chrono::milliseconds longestWait{60'000};
    /// What a server may ask for by Retry-After; more is an error that says so.
    std::chrono::milliseconds longestAsked{600'000};
};

/// 408, 409, 429, 5xx (529, "overloaded", among them), unless the server says x-should-retry: false; anything
/// it says true for.
bool isWorthRetrying(const HttpHead &head);

/// retry-after-ms, else Retry-After as seconds or as a date; nullopt where there is none that can be read.
std::optional<std::chrono::milliseconds> askedWait(const HttpHead &head,
                                                   std::chrono::system_clock::time_point now);

/// The wait after the `failures`-th failure in a row (from 1 on): what was asked for and up to a quarter
/// more, else from half of firstWait · 2^(failures − 1) up to all of it, so that many clients do not come
/// back at once.
std::chrono::milliseconds waitBeforeRetry(const RetryPolicy &policy, int failures,
                                          std::optional<std::chrono::milliseconds> asked,
                                          std::minstd_rand &random);

/// Waits; false where it was cancelled meanwhile.
bool waitFor(std::chrono::milliseconds time, const CancelToken &cancel);

} // namespace kernelwright
