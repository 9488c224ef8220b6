// SPDX-License-Identifier: GPL-3.0-or-later
// What a computing instruction does, freed from its spelling: the key by which lane functions are chosen.
#pragma once

#include "ptx/types.h"

#include <cstdint>

namespace kernelwright::simt
{

enum class Op : std::uint8_t {
    None,
    // integers
    Add,
    Sub,
    Mul,
    Mad,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    Sad,
    Popc,
    Clz,
    Bfind,
    Bfe,
    Bfi,
    Brev,
    Dp4a,
    Dp2a,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Lop3,
    Shl,
    Shr,
    Shf,
    Prmt,
    // floating point; Add … Max above serve them too
    Fma,
    Rcp,
    Sqrt,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    Testp,
    Copysign,
    // data movement and comparison
    Mov,
    Setp,
    Set,
    Selp,
    Slct,
    Cvt,
    PackedCvt,
    Cvta,
    Isspacep,
};

enum class Rounding : std::uint8_t { None, NearestEven, Zero, Down, Up, NearestAway };

enum class Compare : std::uint8_t {
    None,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Number,
    NotNumber,
};
enum class Combine : std::uint8_t { None, And, Or, Xor };
enum class Part : std::uint8_t { None, Low, High, Wide };
enum class Carry : std::uint8_t { None, Out, In, InOut };
enum class FloatClass : std::uint8_t { None, Finite, Infinite, Number, NotNumber, Normal, Subnormal };
enum class PermuteMode : std::uint8_t { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

struct Operation
{
    Op op = Op::None;
    Type type = Type::None;   ///< of the result and, where there is no other, of the sources
    Type source = Type::None; ///< cvt, set, slct: of the source that differs
    Rounding rounding = Rounding::None;
    bool roundsToInteger = false; ///< .rni .rzi .rmi .rpi
    bool ftz = false, saturate = false, approximate = false, relu = false, satFinite = false;
    bool propagatesNan = false; ///< min.NaN, max.NaN
    bool xorSign = false;       ///< min.xorsign.abs
    Part part = Part::None;
    Carry carry = Carry::None;
    Compare compare = Compare::None;
    Combine combine = Combine::None;
    FloatClass floatClass = FloatClass::None;
    PermuteMode permute = PermuteMode::Default;
    bool left = false, wrap = false; ///< shf
    bool shiftAmount = false;        ///< bfind.shiftamt
    bool toSpace = false;            ///< cvta.to
    std::uint8_t window = 0;         ///< cvta, isspacep: a Space
};

} // namespace kernelwright::simt
