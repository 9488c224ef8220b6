// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace kernelwright
{

/// Adds up where a stage's time goes, by kind of work ("inputs", "reference" …). Steps may be nested: the
/// inner one's time is not the outer one's. Belongs to one thread.
class StepClock
{
public:
    /// Time from here to the end of the scope.
    class Step
    {
    public:
        Step(StepClock &clock, const char *name)
            : clock_(clock)
            , outer_(std::exchange(clock.current_, name))
        {
            clock.charge(outer_);
        }
        ~Step()
        {
            clock_.charge(clock_.current_);
            clock_.current_ = outer_;
        }
        Step(const Step &) = delete;
        Step &operator=(const Step &) = delete;

    private:
        StepClock &clock_;
        const char *outer_;
    };

    /// Seconds by name since the last call; what belonged to no step is left out.
    std::map<std::string, double> take()
    {
        charge(current_);
        return std::exchange(seconds_, {});
    }

private:
    using Clock = std::chrono::steady_clock;

    void charge(const char *name)
    {
        const Clock::time_point now = Clock::now();
        if (name) seconds_[name] += std::chrono::duration<double>(now - since_).count();
        since_ = now;
    }

    std::map<std::string, double> seconds_;
    Clock::time_point since_ = Clock::now();
    const char *current_ = nullptr;
};

} // namespace kernelwright
