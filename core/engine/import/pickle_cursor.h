// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelwright
{

/// Bytes taken from the front, with the first problem kept: what is called returns false from then on.
class PickleCursor
{
public:
    PickleCursor(std::string_view bytes, std::string what);

    bool problem(ErrorCode code, const std::string &message);
    bool malformed();
    bool take(std::size_t count, std::string_view &piece);
    bool takeNumber(std::size_t width, std::uint64_t &number); ///< little-endian
    bool takeLine(std::string &line);

    std::size_t position() const { return position_; }
    const Error &error() const { return error_; }

private:
    std::string_view bytes_;
    std::string what_;
    std::size_t position_ = 0;
    Error error_;
};

/// True for the functions and types that torch.save names for tensors and containers of tensors: "module
/// name".
bool isTensorGlobal(std::string_view name);

} // namespace kernelwright
