// SPDX-License-Identifier: GPL-3.0-or-later
// Requests with numbers made up for a test: a device, and candidates measured with given results.
#pragma once

#include "agent/agent.h"

#include <map>
#include <string>

namespace kernelwright::made_up
{

/// 132 multiprocessors, 4,000 GB/s, 2.5 µs for an empty launch.
DeviceInfo device();

AgentRequest request(const Task &task, double floorUs);

struct Measured
{
    double latencyUs = 0;
    std::map<std::string, double> metrics;
    int registers = 32, spillBytes = 0;
};

/// The proposal as an evaluated candidate at the end of the request's history; it becomes the parent.
Candidate &add(AgentRequest &request, const std::string &source, const Measured &measured,
               const std::string &author = "playbook");
/// The same with a verdict that is no time.
Candidate &addFailed(AgentRequest &request, const std::string &source, Verdict verdict,
                     const std::string &reason);

} // namespace kernelwright::made_up
