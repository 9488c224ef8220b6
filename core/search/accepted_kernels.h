// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "optimizer.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// Kernels whose places do not overlap, and what had to give way for that.
struct PlacedKernels
{
    std::vector<AcceptedKernel> kernels;
    std::vector<std::string> conflicts; ///< sentences
};

/// Gives each operator to one kernel: those that save more time, over all their places, choose first.
PlacedKernels placeKernels(std::vector<AcceptedKernel> kernels);

Result<PlacedKernels> placeAcceptedKernels(const Session &session);

/// Which accepted kernels to swap in, and where.
struct KernelSelection
{
    /// Ids of tasks, or parts of their titles; empty: all tasks.
    std::vector<std::string> tasks;
    /// Module paths ("model.layers.0"), each with all below it, or numbers of layers: the first number in a
    /// module's path; empty: all places.
    std::vector<std::string> layers;
    bool isAll() const { return tasks.empty() && layers.empty(); }
};

/// The kernels and places that the selection names. A place lies in a layer when all its operators that
/// belong to a numbered layer do. BadInput names a task or layer that fits nothing.
Result<std::vector<AcceptedKernel>> selectKernels(std::vector<AcceptedKernel> kernels,
                                                  const OperatorGraph &graph,
                                                  const KernelSelection &selection);

} // namespace kernelwright
