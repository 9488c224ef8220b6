// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>

namespace kernelwright
{

/// A flag that one thread raises and others look at between steps of long work. Copies share the flag.
class CancelToken
{
public:
    void cancel() const { raised_->store(true, std::memory_order_relaxed); }
    bool isCancelled() const { return raised_->load(std::memory_order_relaxed); }

private:
    std::shared_ptr<std::atomic<bool>> raised_ = std::make_shared<std::atomic<bool>>(false);
};

} // namespace kernelwright
