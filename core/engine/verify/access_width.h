// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kernelwright
{

/// The most bytes that one instruction of this PTX moves between global (or generic) memory and a thread, or
/// copies at once: what pointers have to be aligned to for it. 1 where there is none.
int widestGlobalAccess(const std::string &ptx);

} // namespace kernelwright
