// SPDX-License-Identifier: GPL-3.0-or-later
// What fuzzing feeds: the readers of model files, each with bytes of anyone's choosing. A reader may refuse
// them with an error that says where; it must not crash, hang or take memory out of proportion.
#pragma once

#include <span>
#include <string_view>

namespace kernelwright
{

struct FuzzTarget
{
    const char *name; ///< of its folder below corpus/
    void (*run)(std::string_view bytes);
};

/// All targets. The program of a libFuzzer run drives one of them, the replay of the corpus each.
std::span<const FuzzTarget> fuzzTargets();

/// Runs the target of this name; the name must exist.
void runFuzzTarget(std::string_view name, std::string_view bytes);

} // namespace kernelwright
