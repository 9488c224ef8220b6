// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that wait for an answer. The threads that made them wait here; the I/O thread completes them.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kernelwright
{

using NotificationHandler = std::function<void(const std::string &method, const Json &params)>;

class CallTable
{
public:
    using Clock = std::chrono::steady_clock;

    /// A new id for a message that nobody waits for.
    std::int64_t newId();
    /// A new call; its id. It stays in the table until take().
    std::int64_t add(const std::string &method, NotificationHandler onNotification);

    /// True when the call has its outcome; waits for it until `limit`.
    bool waitUntil(std::int64_t id, Clock::time_point limit);
    /// Removes a call that has its outcome, and returns that.
    Result<Json> take(std::int64_t id);

    /// Gives a call its outcome. False where it has one already, which stays, or where there is no such call:
    /// answers to a "cancel" and to calls given up are dropped so.
    bool complete(std::int64_t id, Result<Json> outcome);
    /// Puts another outcome in the place of the one a call has.
    void replace(std::int64_t id, Result<Json> outcome);
    /// Every call without an outcome fails with this; the message says during which method.
    void completeAll(const Error &why);
    /// Hands a notification to the call it is about, if there is one.
    void notify(std::int64_t id, const std::string &method, const Json &params);

private:
    struct Call
    {
        std::string method;
        std::shared_ptr<NotificationHandler> onNotification;
        std::optional<Result<Json>> outcome;
    };

    std::mutex mutex_; ///< guards what follows
    std::condition_variable completed_;
    std::map<std::int64_t, Call> calls_;
    std::int64_t nextId_ = 1;
};

} // namespace kernelwright
