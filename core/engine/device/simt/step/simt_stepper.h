// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/warp_stepper.h"
#include "run/block_runner.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelwright::simt
{

/// The simulator's stepper. Execution is the same each time, so going back is beginning anew and executing
/// one instruction less.
class SimtStepper : public WarpStepper
{
public:
    /// `state` is set up but not run; `ptx` is the module's text. DeviceFailure when the buffers are too
    /// large to be kept for going back.
    static Result<std::unique_ptr<SimtStepper>> create(std::unique_ptr<LaunchState> state,
                                                       const std::string &ptx, std::uint64_t block,
                                                       std::uint32_t warp);
    ~SimtStepper() override;

    WarpState state() const override;
    Result<void> move(std::int64_t steps, const CancelToken &cancel) override;
    Result<void> moveToLine(int line, bool isBackward, const CancelToken &cancel) override;

private:
    struct SavedBuffer
    {
        Buffer *buffer = nullptr;
        std::vector<std::byte> bytes;
        InitialisedBytes initialised{0};
    };

    SimtStepper(std::unique_ptr<LaunchState> state, std::uint64_t block, std::uint32_t warp);
    void restart();
    void restoreBuffers();
    bool isAtEnd() const;
    /// Executes one instruction of the warp.
    void stepOnce();
    void bringToInstruction();
    void runOthers();
    Result<void> goTo(std::uint64_t step, const CancelToken &cancel);
    int currentLine() const;
    const Instruction &current() const;
    std::uint32_t activeLanes() const;

    void describeGroups(WarpState &state) const;
    void describeRegisters(WarpState &state) const;
    void describeAccess(WarpState &state) const;

    std::unique_ptr<LaunchState> launch_;
    HostThread thread_;
    std::unique_ptr<BlockRunner> runner_;
    std::uint64_t block_;
    std::uint32_t number_;
    std::vector<std::string> ptx_; ///< lines
    std::vector<SavedBuffer> saved_;
    std::vector<std::byte> before_; ///< the frame's registers before the latest step
    std::uint32_t beforeFunction_ = noIndex;
    std::uint64_t step_ = 0;
    std::string fault_;
};

} // namespace kernelwright::simt
