// SPDX-License-Identifier: GPL-3.0-or-later
#include "call_table.h"

#include <utility>

namespace kernelwright
{

std::int64_t CallTable::newId()
{
    const std::lock_guard lock(mutex_);
    return nextId_++;
}

std::int64_t CallTable::add(const std::string &method, NotificationHandler onNotification)
{
    const std::lock_guard lock(mutex_);
    calls_[nextId_] = {method, std::make_shared<NotificationHandler>(std::move(onNotification)),
                       std::nullopt};
    return nextId_++;
}

bool CallTable::waitUntil(std::int64_t id, Clock::time_point limit)
{
    std::unique_lock lock(mutex_);
    return completed_.wait_until(lock, limit, [&] { return calls_.at(id).outcome.has_value(); });
}

Result<Json> CallTable::take(std::int64_t id)
{
    const std::lock_guard lock(mutex_);
    const auto call = calls_.extract(id);
    return std::move(*call.mapped().outcome);
}

bool CallTable::complete(std::int64_t id, Result<Json> outcome)
{
    const std::lock_guard lock(mutex_);
    const auto call = calls_.find(id);
    if (call == calls_.end() || call->second.outcome) return false;
    call->second.outcome = std::move(outcome);
    completed_.notify_all();
    return true;
}

void CallTable::replace(std::int64_t id, Result<Json> outcome)
{
    const std::lock_guard lock(mutex_);
    calls_.at(id).outcome = std::move(outcome);
}

void CallTable::completeAll(const Error &why)
{
    const std::lock_guard lock(mutex_);
    for (auto &[id, call] : calls_)
        if (!call.outcome) call.outcome = fail(why.code, why.message + " (during '" + call.method + "')");
    completed_.notify_all();
}

void CallTable::notify(std::int64_t id, const std::string &method, const Json &params)
{
    std::shared_ptr<NotificationHandler> handler; // kept alive, and called without the lock
    {
        const std::lock_guard lock(mutex_);
        if (const auto call = calls_.find(id); call != calls_.end()) handler = call->second.onNotification;
    }
    if (handler && *handler) (*handler)(method, params);
}

} // namespace kernelwright
