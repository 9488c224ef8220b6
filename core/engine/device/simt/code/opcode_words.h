// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ptx/syntax.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelwright::simt
{

/// A failure to decode on its way out of the decoder; decodeProgram turns it into an Error. It never leaves
/// code/.
struct DecodeError
{
    bool isUnsupported = false; ///< well-formed, but not executed by this simulator
    std::string message;
};

/// The modifiers of one opcode. Whoever decodes takes what it knows; what is left over is not supported.
class OpcodeWords
{
public:
    explicit OpcodeWords(const Statement &statement);

    const std::string &root() const { return root_; }
    bool take(std::string_view word);
    bool isNext(std::string_view word) const;
    /// Takes the first word found in the table and returns its value, else `fallback`.
    template <class T, std::size_t n>
    T takeOne(const std::pair<const char *, T> (&table)[n], T fallback)
    {
        for (const auto &[word, value] : table)
            if (take(word)) return value;
        return fallback;
    }
    Type takeType(); ///< the first remaining type, None when there is none
    std::optional<Space> takeSpace();
    void takeCacheHints();  ///< .ca .cs L1::… L2::… : no effect on values
    bool takeMemoryOrder(); ///< .volatile .relaxed .acquire … with their scopes; true when any was there
    const std::vector<std::string> &rest() const { return words_; }

private:
    std::string root_;
    std::vector<std::string> words_;
};

} // namespace kernelwright::simt
