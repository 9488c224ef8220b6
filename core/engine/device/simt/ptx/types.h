// SPDX-License-Identifier: GPL-3.0-or-later
// The fundamental types of PTX instructions and registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelwright::simt
{

enum class Type : std::uint8_t {
    None,
    Predicate,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    TF32,
    E4M3x2,
    E5M2x2,
    U16x2,
    S16x2,
    F32x2,
};

/// "u32" → Type::U32; nullopt when the word is not a type.
std::optional<Type> typeFromName(std::string_view name);
const char *typeName(Type type);

/// Bytes of one value in memory; 0 for None and Predicate.
int typeBytes(Type type);
bool isSignedInteger(Type type);
bool isFloatingType(Type type); ///< F16 … F64, packed ones too

} // namespace kernelwright::simt
