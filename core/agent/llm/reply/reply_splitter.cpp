// SPDX-License-Identifier: GPL-3.0-or-later
#include "reply_splitter.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
std::size_t fenceLength(std::string_view line)
{
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return 0;
    const std::size_t end = std::min(line.find_first_not_of('`', begin), line.size());
    return end - begin >= 3 ? end - begin : 0;
}

bool mayBeFence(std::string_view line)
{
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == std::string_view::npos || line[begin] == '`';
}
} // namespace

void ReplySplitter::take(std::string_view piece)
{
    while (!piece.empty()) {
        const std::size_t end = piece.find('\n');
        line_ += piece.substr(0, end == std::string_view::npos ? end : end + 1);
        if (end != std::string_view::npos) {
            takeLine(line_);
            line_.clear();
            sent_ = 0;
            piece.remove_prefix(end + 1);
            continue;
        }
        if (!mayBeFence(line_)) { // words appear as they come, not line by line
            (fence_ > 0 ? code_ : prose_)(std::string_view(line_).substr(sent_));
            sent_ = line_.size();
        }
        return;
    }
}

void ReplySplitter::end()
{
    if (!line_.empty()) takeLine(line_);
    line_.clear();
    sent_ = 0;
}

void ReplySplitter::takeLine(const std::string &line)
{
    const std::size_t fence = sent_ == 0 ? fenceLength(line) : 0;
    if (fence_ == 0 && fence > 0)
        fence_ = fence;
    else if (fence_ > 0 && fence >= fence_)
        fence_ = 0;
    else
        (fence_ > 0 ? code_ : prose_)(std::string_view(line).substr(sent_));
}

} // namespace kernelwright
