// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: messages with a place, and the scanning of one `//@` line.
#pragma once

#include "launch_plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernelwright
{

/// "line 3, column 12: <message>"
tl::unexpected<Error> failAt(PlanPosition position, const std::string &message,
                             ErrorCode code = ErrorCode::BadInput);

/// Shortens text that came from outside for a message, and shows control characters as '?'.
std::string quoteText(std::string_view text);

bool isIdentifier(std::string_view text);

/// Walks over one directive line. Positions are those of the file.
class PlanLine
{
public:
    /// `text` is what stands behind "//@", starting at `position`.
    PlanLine(std::string_view text, PlanPosition position)
        : text_(text)
        , position_(position)
    {}

    void skipBlanks();
    bool atEnd();
    PlanPosition position() const { return {position_.line, position_.column + static_cast<int>(at_)}; }

    /// The next identifier; `expected` is what the error asks for.
    Result<std::string> identifier(const std::string &expected);
    /// Skips this character (blanks in front of it too), or fails.
    Result<void> expect(char c, const std::string &expected);
    /// The next run of characters up to a blank that is in no parentheses.
    Result<PlanExpression> expression(const std::string &expected);
    /// What is left of the line, without blanks at its ends.
    Result<PlanExpression> rest(const std::string &expected);
    /// The next run of characters up to a blank.
    std::string word();

private:
    std::string_view text_;
    PlanPosition position_;
    std::size_t at_ = 0;
};

/// "(a,b,c)" as its parts, anything else ("(a+b)*c") as it is.
std::vector<PlanExpression> tupleParts(const PlanExpression &whole);

} // namespace kernelwright
