// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates whose launch plans use what only some GPUs have, each y = f(x) on a matrix of float32.
#pragma once

namespace kernelwright
{

/// y[i] is the x of the same place one block further in the cluster of 4, read out of that block's shared memory.
constexpr const char *clusterSource = R"(//@ kernel neighbours grid=ceildiv(x_numel,128) block=128 cluster=4
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void neighbours(const float *x, float *y)
{
    __shared__ float mine[128];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    y[blockIdx.x * 128 + threadIdx.x] = cluster.map_shared_rank(mine, next)[threadIdx.x];
    cluster.sync(); // no block may end while another reads its shared memory
}
)";

/// Every y is the sum of all x: partial sums, a barrier over the grid, the sum of the partial sums.
constexpr const char *cooperativeSource = R"(//@ let BLOCKS = min(sm_count, 64)
//@ workspace partial bytes=BLOCKS*4
//@ kernel total grid=BLOCKS block=128 cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void total(const float *x, float *y, float *partial, int x_numel)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < x_numel; i += gridDim.x * blockDim.x) mine += x[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    cg::this_grid().sync();
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += partial[b];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < x_numel; i += gridDim.x * blockDim.x) y[i] = all;
}
)";

/// y = 2 x, tile by tile: a tensor map brings each tile into shared memory (zeros outside of the matrix), another takes
/// it back.
constexpr const char *tensorMapSource = R"(//@ tune TILE = 32 16
//@ tensormap from tensor=x box=(TILE,TILE)
//@ tensormap to tensor=y box=(TILE,TILE)
//@ kernel twice grid=(ceildiv(x_size1,TILE),ceildiv(x_size0,TILE)) block=128
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
typedef CUtensorMap_st CUtensorMap;
extern "C" __global__ void twice(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    __shared__ alignas(128) float tile[TILE * TILE];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    const int column = blockIdx.x * TILE, row = blockIdx.y * TILE;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(TILE * TILE * 4));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(dst), "l"(&from), "r"(column), "r"(row), "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred done;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra WAIT;\n}\n" ::"r"(bar)
                 : "memory");
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) tile[i] *= 2;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&to), "r"(column), "r"(row), "r"(dst) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
)";

/// y is x reversed within pieces of 200 KiB, each turned round in one block's shared memory.
constexpr const char *sharedSource = R"(//@ let PIECE = 50*1024
//@ kernel reverse grid=ceildiv(x_numel,PIECE) block=1024 shared=PIECE*4
extern "C" __global__ void reverse(const float *x, float *y, long long x_numel, int PIECE)
{
    extern __shared__ float piece[];
    const long long start = static_cast<long long>(blockIdx.x) * PIECE;
    const int count = static_cast<int>(min(static_cast<long long>(PIECE), x_numel - start));
    for (int i = threadIdx.x; i < count; i += blockDim.x) piece[i] = x[start + i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) y[start + i] = piece[count - 1 - i];
}
)";

} // namespace kernelwright
