// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace kernelwright
{

/// The folder of the running program.
std::filesystem::path programDirectory();

/// Where resources/ lies: $KERNELWRIGHT_RESOURCES, else ../share/kernelwright beside the program, else ../../resources
/// (a build tree inside the sources). Empty where none of them exists.
std::filesystem::path resourceDirectory();

} // namespace kernelwright
