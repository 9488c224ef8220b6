// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimizer.h"

namespace kernelwright
{

void SearchControl::pause()
{
    const std::lock_guard lock(mutex_);
    paused_ = true;
}

void SearchControl::resume()
{
    {
        const std::lock_guard lock(mutex_);
        paused_ = false;
    }
    changed_.notify_all();
}

void SearchControl::stop()
{
    {
        // Under the lock, so that a search about to wait cannot miss it.
        const std::lock_guard lock(mutex_);
        cancel_.cancel();
    }
    changed_.notify_all();
}

void SearchControl::steer(CandidateId parent, std::string instruction, std::optional<AgentPrompt> prompt)
{
    const std::lock_guard lock(mutex_);
    steering_ = Steering{parent, std::move(instruction), std::move(prompt)};
}

bool SearchControl::isPaused() const
{
    const std::lock_guard lock(mutex_);
    return paused_;
}

bool SearchControl::mayContinue()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !paused_ || cancel_.isCancelled(); });
    return !cancel_.isCancelled();
}

std::optional<SearchControl::Steering> SearchControl::takeSteering()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(steering_, std::nullopt);
}

} // namespace kernelwright
