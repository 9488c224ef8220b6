// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Python's pickle format that torch.save writes: tensors, containers, numbers and strings. It is
// data only: a pickle that names any other class or function is refused with that name, and nothing is ever
// called.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelwright
{

struct PickleValue;
using PicklePointer = const PickleValue *; ///< lives as long as its Pickle

/// A value of a pickle. As in Python, containers may be shared and may even contain themselves: whoever walks
/// them bounds depth and number.
struct PickleValue
{
    enum class Kind {
        None,
        Bool,
        Int,
        Float,
        String,
        Bytes,
        Tuple,
        List,
        Dict,
        Global,     ///< text = "module name"
        Persistent, ///< items[0] = the persistent id (for torch.save: a tuple that describes a storage)
        Call,       ///< text = "module name" of an allowed function, items = its arguments
    };
    Kind kind = Kind::None;
    bool flag = false;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;
    std::vector<PicklePointer> items;                             ///< Tuple, List, Persistent, Call
    std::vector<std::pair<PicklePointer, PicklePointer>> entries; ///< Dict, in insertion order
};

/// A pickle that was read. Movable; the values stay where they are.
struct Pickle
{
    std::deque<PickleValue> values;
    PicklePointer root = nullptr;
};

/// Reads one pickle (protocols 2 to 5). `what` names it in errors. NotSupported for a global that torch.save
/// does not write for tensors, BadInput for everything malformed.
Result<Pickle> readPickle(std::string_view bytes, const std::string &what);

/// The entry of a Dict with this string key, or nullptr.
const PickleValue *findEntry(const PickleValue &dict, std::string_view key);

} // namespace kernelwright
