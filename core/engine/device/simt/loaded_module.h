// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "code/program.h"
#include "engine/device/device.h"
#include "memory/address_space.h"

#include <memory>
#include <vector>

namespace kernelwright::simt
{

struct SharedMemorySpace;

/// A decoded program with its own `__device__` and `__constant__` variables.
class LoadedModule : public DeviceModule
{
public:
    static Result<std::unique_ptr<LoadedModule>> load(const CompiledProgram &program,
                                                      std::shared_ptr<SharedMemorySpace> memory);
    ~LoadedModule() override;

    const Program &program() const { return program_; }
    int registers() const { return registers_; }
    const std::string &ptx() const { return ptx_; }

private:
    LoadedModule() = default;
    std::shared_ptr<SharedMemorySpace> memory_;
    std::vector<Buffer *> variables_;
    Program program_;
    std::string ptx_;
    int registers_ = 0; ///< per thread, as ptxas assigned them; 0: unknown
};

} // namespace kernelwright::simt
