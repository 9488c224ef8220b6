// SPDX-License-Identifier: GPL-3.0-or-later
// A candidate is one .cu file. Its leading `//@` lines are the launch plan; the rest is CUDA C++.
//
//   //@ let NAME = EXPRESSION                    a named number; may use names defined above
//   //@ tune NAME = V1 V2 …                      a tunable integer; the first value is the default; the source sees it
//                                                as a macro NAME
//   //@ workspace NAME bytes=EXPRESSION          device memory that the kernels share, poisoned before each run
//   //@ kernel NAME grid=E|(E,E,E) block=E|(E,E,E) [shared=E]     launched in the order of the lines
//   //@ schedule KEY=VALUE …                     free text for whoever wrote the file (the playbook finds itself by it)
//
// EXPRESSION is muParser's: + - * / ( ) min max, and ceil floor, plus ceildiv(a,b), pow2ceil(a). It is computed in
// double; results must be whole (grid, block, shared, bytes are rounded only by ceil/floor written by the author), within
// 0 … 2^53 and within what the device allows. Division by zero, NaN or infinity is an error at the line and column.
// Spaces inside an expression are allowed inside parentheses only.
//
// Names in expressions: for each task tensor `x`: x_numel, x_size0 … (outermost first), x_stride0 … (in elements);
// the let and tune names; the device's sm_count, max_threads_per_block, warp_size, max_shared_bytes.
//
// Kernel parameters are bound by name. Pointers: the name of an input, an output or a workspace. Integers and floats:
// any name an expression may use. The parameter list is read from the source text (extern "C" __global__ void NAME(…)),
// pointer constness tells reads from writes. A parameter that nothing is called is an error that lists the names there are.
#pragma once

#include "task.h"

#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

struct PlanPosition
{
    int line = 0;   ///< 1-based
    int column = 0; ///< 1-based, in bytes
};

struct PlanExpression
{
    std::string text;
    PlanPosition position;
};

struct KernelParameter
{
    std::string name;
    std::string type; ///< as written, without the name: "const float *", "int", "long long"
    bool isPointer = false;
    bool isConstPointer = false; ///< what it points to may only be read
    PlanPosition position;       ///< of its name in the source
};

struct PlannedKernel
{
    std::string name;
    PlanExpression grid[3];  ///< unset ones have the text "1"
    PlanExpression block[3];
    PlanExpression shared; ///< dynamic shared memory, bytes; "0" when unset
    std::vector<KernelParameter> parameters;
    PlanPosition position;
};

struct Tunable
{
    std::string name;
    std::vector<std::int64_t> values;
    PlanPosition position;
};

struct LaunchPlan
{
    std::vector<std::pair<std::string, PlanExpression>> lets;
    std::vector<Tunable> tunables;
    std::vector<std::pair<std::string, PlanExpression>> workspaces;
    std::vector<PlannedKernel> kernels;
    std::map<std::string, std::string> schedule;
};

/// Reads the plan out of a candidate's source. Errors say "line L, column C: expected …".
Result<LaunchPlan> parseLaunchPlan(const std::string &source);

/// Limits a plan is checked against.
struct LaunchLimits
{
    std::int64_t maxThreadsPerBlock = 1024;
    std::int64_t maxSharedBytes = 48 * 1024;
    std::int64_t maxGrid[3] = {2147483647, 65535, 65535};
    std::int64_t maxBlock[3] = {1024, 1024, 64};
    std::int64_t maxWorkspaceBytes = std::int64_t{1} << 32;
    std::int64_t smCount = 1;
    std::int64_t warpSize = 32;
};
void to_json(Json &json, const LaunchLimits &limits);
void from_json(const Json &json, LaunchLimits &limits);

/// One bound parameter: a pointer to a tensor or workspace by its name, or a scalar already in the parameter's own
/// binary form.
struct BoundParameter
{
    enum class Kind { Input, Output, Workspace, Scalar };
    Kind kind = Kind::Scalar;
    std::size_t index = 0;        ///< into Task::inputs, Task::outputs or ResolvedPlan::workspaces
    std::vector<std::byte> bytes; ///< Kind::Scalar: 1, 2, 4 or 8 bytes, little endian
};

struct ResolvedKernel
{
    std::string name;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t sharedBytes = 0;
    std::vector<BoundParameter> parameters;
};

struct ResolvedPlan
{
    std::map<std::string, std::int64_t> macros; ///< tunables with their chosen values, for -D
    std::vector<std::pair<std::string, std::int64_t>> workspaces; ///< name, bytes
    std::vector<ResolvedKernel> kernels;
};

/// Computes every expression for one shape case and binds the parameters. `tuning` overrides tunables' defaults.
Result<ResolvedPlan> resolveLaunchPlan(const LaunchPlan &plan, const Task &task, const ShapeCase &shapes,
                                       const LaunchLimits &limits,
                                       const std::map<std::string, std::int64_t> &tuning = {});

} // namespace kernelwright
