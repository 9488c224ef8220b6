// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and names as people read them; the same everywhere, in the window, the terminal and reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

std::string formatMicroseconds(double us);      ///< "0.85 µs", "74.4 µs", "1.20 ms", "3.45 s"
std::string formatBytes(double bytes);          ///< "512 B", "1.5 KiB", "128 MiB"
std::string formatCount(double count);          ///< "950", "12.3 k", "4.56 M", "7.89 G"
std::string formatSpeedup(double ratio);        ///< "1.53×"
std::string formatFixed(double value, int digits);
std::vector<std::string> splitText(std::string_view text, char separator);
std::string trimText(std::string_view text);
std::string joinText(const std::vector<std::string> &parts, std::string_view separator);

/// A valid C identifier made from any name: other characters become '_', a leading digit gets one in front, a C++ or
/// CUDA keyword gets one behind. Not made unique.
std::string toIdentifier(std::string_view name);

} // namespace kernelwright
