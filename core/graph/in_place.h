// SPDX-License-Identifier: GPL-3.0-or-later
// Which values share memory, which of them are written into, and the same graph without writes where that is
// sure to compute the same.
#pragma once

#include "operator_graph.h"

#include <vector>

namespace kernelwright
{

/// For each value a number, equal for values that may lie in the same memory: views and what they look at,
/// identities, the target and the result of an in-place operator. Lists share with all of their items. What
/// copies only sometimes (reshape, contiguous, to) counts as sharing.
std::vector<ValueId> memoryClasses(const OperatorGraph &graph);

/// For each value whether some operator of the graph writes into its memory.
std::vector<bool> valuesWrittenInto(const OperatorGraph &graph);

/// Writes each pointwise in-place operator (relu_, add_, hardswish_ …) as its twin that makes a new tensor,
/// and lets what used the target afterwards use that. Node and value ids and names stay. Done only where
/// nothing can tell the difference: the target belongs to the graph alone (no input, parameter or buffer), no
/// other value in its memory is used afterwards, its elements lie dense, and the twin gives the same type.
/// What is left as it was still writes, and counts as written into. Returns how many operators were
/// rewritten.
int replaceInPlaceOperators(OperatorGraph &graph);

/// Finds writes that would come between the nodes of a set.
class WriteOrder
{
public:
    explicit WriteOrder(const OperatorGraph &graph); ///< refers to it

    /// The first node outside `nodes` that writes, between the first and the last of them, into memory that
    /// they use; noNode where there is none. Such nodes cannot run as one kernel: some read before the write,
    /// some after it. `nodes` is ascending.
    NodeId writerBetween(const std::vector<NodeId> &nodes) const;

private:
    const OperatorGraph &graph_;
    std::vector<NodeId> writers_;
    std::vector<ValueId> classes_; ///< of values; empty where nothing writes
};

} // namespace kernelwright
