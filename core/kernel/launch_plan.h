// SPDX-License-Identifier: GPL-3.0-or-later
// A candidate is one .cu file. Its leading `//@` lines are the launch plan; the rest is CUDA C++.
//
//   //@ let NAME = EXPRESSION          a named number; may use names defined above
//   //@ tune NAME = V1 V2 …            a tunable integer, by default the first; a macro in the source
//   //@ require EXPRESSION             must not be zero: combinations of tunables for which it is are never
//                                      tried, shapes for which it is are refused
//   //@ workspace NAME bytes=EXPRESSION   device memory that the kernels share, poisoned before each run
//   //@ tensormap NAME tensor=T box=(E,…) [size=(E,…)] [stride=(E,…)] [elementstrides=(E,…)] [type=DTYPE]
//                 [swizzle=none|32|64|128] [interleave=none|16|32] [l2=none|64|128|256] [oob=zero|nan]
//                                      a tensor map (TMA) that the host builds, see below
//   //@ kernel NAME grid=E|(E,E,E) block=E|(E,E,E) [cluster=E|(E,E,E)] [shared=E] [cooperative]
//                                      launched in the order of the lines
//   //@ schedule KEY=VALUE …           free text for whoever wrote the file (the playbook finds itself by it)
//
// EXPRESSION is muParser's: + - * / ( ) < <= > >= == != && || ?: min max, and ceil floor, plus ceildiv(a,b),
// mod(a,b), pow2ceil(a). It is computed in double; results must be whole (grid, block, shared, bytes are
// rounded only by ceil/floor written by the author), within 0 … 2^53 and within what the device allows.
// Division by zero, NaN or infinity is an error at the line and column. Spaces inside an expression are
// allowed inside parentheses only; behind require, where the expression is the rest of the line, everywhere.
//
// Names in expressions: for each task tensor `x`: x_numel, x_size0 … (outermost first), x_stride0 … (in
// elements); the let and tune names; the device's sm_count, max_threads_per_block, warp_size,
// max_shared_bytes, max_cluster_blocks.
//
// Kernel parameters are bound by name. Pointers: the name of an input, an output or a workspace. Integers and
// floats: any name an expression may use. Tensor maps: `const __grid_constant__ CUtensorMap NAME`. The
// parameter list is read from the source text (extern "C" __global__ void NAME(…)), pointer constness tells
// reads from writes. A parameter that nothing is called is an error that lists the names there are.
//
// shared= is the dynamic shared memory, up to what a block may opt in to (max_shared_bytes; static shared
// memory counts as well). cluster= is in blocks, every grid size a multiple of it. cooperative lets
// cooperative_groups::this_grid().sync() work; the whole grid has to fit onto the device at once.
//
// A tensor map describes a task tensor (or a workspace, whose type= and size= must then be given) for
// cp.async.bulk.tensor. Everything is outermost dimension first, as in PyTorch; sizes and strides count
// elements; the innermost stride is 1. size= and stride= view the tensor differently (size= alone:
// contiguous); elements outside of it are refused. The kernel gives coordinates innermost first, as the
// instruction wants them. The source declares the type itself, since <cuda.h> is no device header:
//   struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
//   typedef CUtensorMap_st CUtensorMap;
//
// Examples (softmax over rows; a tiled copy; a reduction over the whole device):
//   //@ tune ROWS = 1 2 4 8
//   //@ require mod(x_size0, ROWS) == 0 && ROWS * 32 <= max_threads_per_block
//   //@ kernel softmax_rows grid=ceildiv(x_size0,ROWS) block=(32,ROWS) shared=ROWS*x_size1*4
//
//   //@ tensormap x_map tensor=x box=(64,64) swizzle=128
//   //@ kernel copy_tiles grid=(ceildiv(x_size1,64),ceildiv(x_size0,64)) block=128 shared=64*64*2+128
//
//   //@ workspace partial bytes=sm_count*4
//   //@ kernel reduce grid=sm_count block=256 cluster=2 cooperative
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
    bool isGridConstant = false; ///< const __grid_constant__, as tensor maps have to be
    PlanPosition position;       ///< of its name in the source
};

struct PlannedKernel
{
    std::string name;
    PlanExpression grid[3]; ///< unset ones have the text "1"
    PlanExpression block[3];
    PlanExpression cluster[3]; ///< in blocks; all texts empty when unset
    PlanExpression shared;     ///< dynamic shared memory, bytes; "0" when unset
    bool isCooperative = false;
    std::vector<KernelParameter> parameters;
    PlanPosition position;
};

struct Tunable
{
    std::string name;
    std::vector<std::int64_t> values;
    PlanPosition position;
};

/// How a tensor map rearranges and bounds what it moves; names and numbers as the driver's CUtensorMap…
/// enumerations.
struct TensorMapModes
{
    int swizzleBytes = 0;     ///< 0, 32, 64 or 128
    int interleaveBytes = 0;  ///< 0, 16 or 32
    int l2PromotionBytes = 0; ///< 0, 64, 128 or 256
    bool fillsNan = false;    ///< outside of the tensor: NaN instead of zero
};

struct PlannedTensorMap
{
    std::string name;
    std::string tensor; ///< an input, an output or a workspace
    PlanPosition tensorPosition;
    DType type = DType::Unknown; ///< Unknown: the tensor's own
    std::vector<PlanExpression> size, stride, box,
        elementStrides; ///< outermost first; all but box may be empty
    TensorMapModes modes;
    PlanPosition position;
};

struct LaunchPlan
{
    std::vector<std::pair<std::string, PlanExpression>> lets;
    std::vector<Tunable> tunables;
    std::vector<PlanExpression> requirements;
    std::vector<std::pair<std::string, PlanExpression>> workspaces;
    std::vector<PlannedTensorMap> tensorMaps;
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
    std::int64_t maxClusterBlocks = 0; ///< blocks in a cluster; 0 where the device runs no clusters
    bool hasTensorMaps = false;        ///< TMA
    bool hasCooperativeLaunch = false;
};
void to_json(Json &json, const LaunchLimits &limits);
void from_json(const Json &json, LaunchLimits &limits);

/// One bound parameter: a pointer to a tensor or workspace by its name, or a scalar already in the
/// parameter's own binary form.
struct BoundParameter
{
    enum class Kind { Input, Output, Workspace, Scalar, TensorMap };
    Kind kind = Kind::Scalar;
    std::size_t index = 0; ///< into Task::inputs, Task::outputs, ResolvedPlan::workspaces or ::tensorMaps
    std::vector<std::byte> bytes; ///< Kind::Scalar: 1, 2, 4 or 8 bytes, little endian
};

struct ResolvedKernel
{
    std::string name;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t cluster[3] = {0, 0, 0}; ///< 0 when none was asked for
    std::uint32_t sharedBytes = 0;
    bool isCooperative = false;
    std::vector<BoundParameter> parameters;
};

/// A tensor map but for the address: what cuTensorMapEncodeTiled takes, innermost dimension first.
struct TensorMapLayout
{
    std::string name;
    DType type = DType::Unknown;
    std::vector<std::uint64_t> sizes;       ///< elements; 1 to 5 dimensions
    std::vector<std::uint64_t> strideBytes; ///< of the dimensions but the innermost
    std::vector<std::uint32_t> box;         ///< elements
    std::vector<std::uint32_t> elementStrides;
    TensorMapModes modes;
};

struct ResolvedTensorMap
{
    BoundParameter::Kind kind = BoundParameter::Kind::Input; ///< Input, Output or Workspace
    std::size_t index = 0;
    TensorMapLayout layout;
};

struct ResolvedPlan
{
    std::map<std::string, std::int64_t> macros; ///< tunables with their chosen values, for -D
    std::vector<std::pair<std::string, std::int64_t>> workspaces; ///< name, bytes
    std::vector<ResolvedTensorMap> tensorMaps;
    std::vector<ResolvedKernel> kernels;
};

/// Computes every expression for one shape case and binds the parameters. `tuning` overrides tunables'
/// defaults. What the device has no means for (clusters, tensor maps, cooperative launch) is NotSupported,
/// everything else BadInput or LaunchError.
Result<ResolvedPlan> resolveLaunchPlan(const LaunchPlan &plan, const Task &task, const ShapeCase &shapes,
                                       const LaunchLimits &limits,
                                       const std::map<std::string, std::int64_t> &tuning = {});

} // namespace kernelwright
