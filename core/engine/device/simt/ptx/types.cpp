// SPDX-License-Identifier: GPL-3.0-or-later
#include "types.h"

#include <array>
#include <utility>

namespace kernelwright::simt
{

namespace
{

struct TypeRow
{
    Type type;
    const char *name;
    int bytes;
};

constexpr std::array<TypeRow, 27> rows{{
    {Type::None, "", 0},         {Type::Predicate, "pred", 0}, {Type::B8, "b8", 1},
    {Type::B16, "b16", 2},       {Type::B32, "b32", 4},        {Type::B64, "b64", 8},
    {Type::B128, "b128", 16},    {Type::U8, "u8", 1},          {Type::U16, "u16", 2},
    {Type::U32, "u32", 4},       {Type::U64, "u64", 8},        {Type::S8, "s8", 1},
    {Type::S16, "s16", 2},       {Type::S32, "s32", 4},        {Type::S64, "s64", 8},
    {Type::F16, "f16", 2},       {Type::F16x2, "f16x2", 4},    {Type::BF16, "bf16", 2},
    {Type::BF16x2, "bf16x2", 4}, {Type::F32, "f32", 4},        {Type::F64, "f64", 8},
    {Type::TF32, "tf32", 4},     {Type::E4M3x2, "e4m3x2", 2},  {Type::E5M2x2, "e5m2x2", 2},
    {Type::U16x2, "u16x2", 4},   {Type::S16x2, "s16x2", 4},    {Type::F32x2, "f32x2", 8},
}};

} // namespace

std::optional<Type> typeFromName(std::string_view name)
{
    for (const TypeRow &row : rows)
        if (row.type != Type::None && name == row.name) return row.type;
    return std::nullopt;
}

const char *typeName(Type type)
{
    return rows[static_cast<std::size_t>(type)].name;
}

int typeBytes(Type type)
{
    return rows[static_cast<std::size_t>(type)].bytes;
}

bool isSignedInteger(Type type)
{
    return type >= Type::S8 && type <= Type::S64;
}

bool isFloatingType(Type type)
{
    return type >= Type::F16 && type <= Type::F64;
}

} // namespace kernelwright::simt
