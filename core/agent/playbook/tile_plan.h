// SPDX-License-Identifier: GPL-3.0-or-later
// Which sums of products can be computed in tiles: those whose two factors do not both depend on all results,
// so that a number once brought near serves many of them.
#pragma once

#include "kernel_domain.h"

#include <optional>

namespace kernelwright::playbook
{

/// One sum over the domain's columns of left · right, and how its rows fall apart: `down` are those that only
/// the left factor depends on, `across` those that only the right one does, `batch` the rest. All outermost
/// first.
struct TilePlan
{
    TensorId sum = 0, product = 0, left = 0, right = 0;
    std::vector<Axis> batch, down, across;
};

/// Nothing where the domain computes more than one sum of products, or where its factors share nothing.
std::optional<TilePlan> planTiles(const TensorProgram &program, const KernelDomain &domain);

} // namespace kernelwright::playbook
