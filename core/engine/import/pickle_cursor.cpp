// SPDX-License-Identifier: GPL-3.0-or-later
#include "pickle_cursor.h"

#include <algorithm>
#include <array>

namespace kernelwright
{

namespace
{

// What torch.save writes for tensors and containers of tensors; torch dtypes, storages and devices come
// beside these.
constexpr std::array<std::string_view, 11> allowedGlobals{"torch.jit._pickle restore_type_tag",
                                                          "torch._utils _rebuild_tensor_v2",
                                                          "torch._utils _rebuild_tensor",
                                                          "torch._utils _rebuild_parameter",
                                                          "torch._utils _rebuild_tensor_v3",
                                                          "torch._tensor _rebuild_from_type_v2",
                                                          "collections OrderedDict",
                                                          "torch.nn.parameter Parameter",
                                                          "torch Tensor",
                                                          "torch Size",
                                                          "torch device"};

constexpr std::array<std::string_view, 19> allowedTorchNames{
    "float64",     "float32", "float16", "bfloat16", "int64",     "int32",      "int16",
    "int8",        "uint8",   "uint16",  "bool",     "complex64", "complex128", "float8_e4m3fn",
    "float8_e5m2", "double",  "float",   "half",     "long"};

} // namespace

PickleCursor::PickleCursor(std::string_view bytes, std::string what)
    : bytes_(bytes)
    , what_(std::move(what))
{}

bool PickleCursor::problem(ErrorCode code, const std::string &message)
{
    error_ = {code, what_ + " " + message};
    return false;
}
bool PickleCursor::malformed()
{
    return problem(ErrorCode::BadInput,
                   "is not a well-formed pickle (byte " + std::to_string(position_) + ")");
}

bool PickleCursor::take(std::size_t count, std::string_view &piece)
{
    if (count > bytes_.size() - position_)
        return problem(ErrorCode::BadInput, "ends in the middle of a pickle");
    piece = bytes_.substr(position_, count);
    position_ += count;
    return true;
}

bool PickleCursor::takeNumber(std::size_t width, std::uint64_t &number)
{
    std::string_view piece;
    if (!take(width, piece)) return false;
    number = 0;
    for (std::size_t i = 0; i < width; ++i)
        number |= std::uint64_t{static_cast<unsigned char>(piece[i])} << (8 * i);
    return true;
}

bool PickleCursor::takeLine(std::string &line)
{
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) return problem(ErrorCode::BadInput, "ends in the middle of a pickle");
    line = std::string(bytes_.substr(position_, end - position_));
    position_ = end + 1;
    return true;
}

bool isTensorGlobal(std::string_view name)
{
    if (std::find(allowedGlobals.begin(), allowedGlobals.end(), name) != allowedGlobals.end()) return true;
    constexpr std::string_view torchModule = "torch ";
    if (name == "torch.storage UntypedStorage") return true;
    if (!name.starts_with(torchModule)) return false;
    name.remove_prefix(torchModule.size());
    return name.ends_with("Storage") ||
           std::find(allowedTorchNames.begin(), allowedTorchNames.end(), name) != allowedTorchNames.end();
}

} // namespace kernelwright
