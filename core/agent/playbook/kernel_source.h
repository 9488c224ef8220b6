// SPDX-License-Identifier: GPL-3.0-or-later
// The whole candidate: launch plan, helper functions and kernels of a task under one schedule.
#pragma once

#include "kernel_domain.h"
#include "schedule.h"

namespace kernelwright::playbook
{

/// What a task is once understood; made once, written under many schedules.
struct Composition
{
    Task task;
    TensorProgram program;
    std::vector<KernelDomain> kernels;
    bool reduces() const;
    const KernelDomain &
    main() const; ///< the kernel that schedules are about: the first that reduces, else the first
};

/// NotSupported, with the sentence for canWrite(), where the playbook cannot.
Result<Composition> compose(const Task &task);

/// The same task with its algebra rewritten for fewer operations at equal precision.
TensorProgram simplified(const TensorProgram &program);
bool canSimplify(const TensorProgram &program);

/// The nearest schedule that this task and device allow: vectors of at most 16 bytes, whole warps, no more
/// threads than a block may have.
Schedule legalised(Schedule schedule, const Composition &composition, const LaunchLimits &limits);

/// `notes` are further keys of the schedule line: which tactic it was, what it promised.
std::string writeSource(const Composition &composition, const Schedule &schedule,
                        const std::map<std::string, std::string> &notes = {});

} // namespace kernelwright::playbook
