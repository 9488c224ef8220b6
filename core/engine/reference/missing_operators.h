// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace kernelwright
{

/// Gives an older LibTorch the operators of newer ones that exported models use most
/// (scaled_dot_product_attention, rms_norm …), composed of operators it has. What the library already knows
/// is left alone. The operators become known to its dispatcher, which belongs to the whole process, so later
/// calls do nothing. Safe from several threads.
void supplyMissingOperators();

} // namespace kernelwright
