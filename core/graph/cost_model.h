// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "operator_graph.h"

#include <optional>

namespace kernelwright
{

/// What an operator must do, counted, not measured. Bytes: each input element it needs read once, each output
/// element written once. Operations: floating-point, a fused multiply-add counting as two.
struct Cost
{
    double bytesRead = 0;
    double bytesWritten = 0;
    double flops = 0;
    DType mathType = DType::Float32; ///< the type whose peak rate applies (matrix products in float16 …)
    bool isMatrixProduct = false;    ///< tensor cores apply
    double bytes() const { return bytesRead + bytesWritten; }
};

/// Bytes of the elements that differ in address: a dimension of stride 0 (expand) counts once, windows that
/// overlap count what they span.
std::int64_t distinctBytes(const TensorType &type);

/// The cost of one node; nullopt where no formula for its operator is known ("unknown" in every table, never
/// zero). Views, metadata checks and shape arithmetic cost nothing.
std::optional<Cost> nodeCost(const OperatorGraph &graph, const Node &node);

/// The cost of a set of nodes run as one kernel: inputs of the set read once, outputs written once,
/// operations summed. `subgraph` is made by extractSubgraph. Of an input that only slices or lookups touch,
/// what these need counts. nullopt when the operations of any node are unknown.
std::optional<Cost> fusedCost(const OperatorGraph &subgraph);

/// What a device can do at best; measured where possible, else the vendor's data.
struct DeviceCeilings
{
    double dramBytesPerSecond = 0;
    std::map<std::string, double> flopsPerSecond;       ///< by dtype name, plain arithmetic
    std::map<std::string, double> matrixFlopsPerSecond; ///< by dtype name, tensor cores
    /// What the vendor's library reaches in large matrix products, by dtype name and "tf32". Shown beside times; floors
    /// rest on the rates above, since a better kernel may beat a library.
    std::map<std::string, double> reachedMatrixFlopsPerSecond;
    double launchOverheadUs = 0; ///< time of a kernel that does nothing, as the device's own clock shows it
    std::string source;          ///< "measured 2026-…", "data sheet"
};

/// The least time in µs: max(bytes / bandwidth, operations / peak); see verification.md for what it is used
/// for.
double floorMicroseconds(const Cost &cost, const DeviceCeilings &ceilings);

void to_json(Json &json, const Cost &cost);
void from_json(const Json &json, Cost &cost);
void to_json(Json &json, const DeviceCeilings &ceilings);
void from_json(const Json &json, DeviceCeilings &ceilings);

} // namespace kernelwright
