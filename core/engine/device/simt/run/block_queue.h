// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "block_runner.h"

#include <memory>
#include <vector>

namespace kernelwright::simt
{

/// The blocks that one host thread runs: one after the other, but when a block waits for another, others
/// begin, up to as many as the modelled GPU would run at a time; they then take turns. So a barrier over the
/// grid works when all its blocks fit onto the GPU, and when they do not, that is found out and said.
class BlockQueue
{
public:
    explicit BlockQueue(LaunchState &state);
    /// Returns when no block is left or the launch has been stopped; failures are in the launch state.
    void run();
    LaunchRecord takeRecord();

private:
    bool startNext();
    /// One turn of every block; false when all of them wait for others.
    bool turnAll();
    bool turnOf(std::size_t index);
    void reportStuck();

    LaunchState &state_;
    HostThread thread_;
    std::vector<std::unique_ptr<BlockRunner>> running_, idle_;
};

} // namespace kernelwright::simt
