// SPDX-License-Identifier: GPL-3.0-or-later
// The eight-bit floating types; the sixteen-bit ones are declared in tensor_type.h.
// Formats: "FP8 Formats for Deep Learning", Micikevicius et al., 2022 (E4M3 has no infinity, one NaN per
// sign).
#pragma once

#include <cstdint>

namespace kernelwright
{

float float8E4M3ToFloat(std::uint8_t bits);
float float8E5M2ToFloat(std::uint8_t bits);

} // namespace kernelwright
