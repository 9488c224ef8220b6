// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "instruction.h"
#include "ptx/types.h"

#include <string_view>

namespace kernelwright::simt
{

/// An instruction found by its whole spelling: seldom used, so computed lane by lane without a build per
/// instruction set.
struct RareFunction
{
    LaneFunction compute = nullptr;
    Type result = Type::None;
    int sourceCount = 0;
    Type sources[4] = {Type::None, Type::None, Type::None, Type::None};
};

/// "fns.b32", "cvt.rn.satfinite.e2m1x2.f32"; nullptr when it is not among them.
const RareFunction *findRareFunction(std::string_view opcode);

} // namespace kernelwright::simt
