// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kernelwright
{

/// Tells prose from code while a reply is being streamed, so that one goes to the conversation and the other
/// into the editor: what stands between fences is code. For looking on only; the whole reply is parsed at its
/// end.
class ReplySplitter
{
public:
    using Receiver = std::function<void(std::string_view)>;
    ReplySplitter(Receiver prose, Receiver code)
        : prose_(std::move(prose))
        , code_(std::move(code))
    {}

    void take(std::string_view piece);
    void end(); ///< the last line may lack its end

private:
    void takeLine(const std::string &line);

    Receiver prose_, code_;
    std::string line_;
    std::size_t sent_ = 0;  ///< bytes of line_ that were handed on already
    std::size_t fence_ = 0; ///< the length of the open fence, 0 outside
};

} // namespace kernelwright
