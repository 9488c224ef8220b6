// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "command.h"

#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright::cli
{

/// Rows of text in aligned columns. Widths are counted in characters, not bytes.
class Table
{
public:
    enum class Align { Left, Right };
    struct Column
    {
        std::string heading;
        Align align = Align::Left;
    };

    explicit Table(std::vector<Column> columns)
        : columns_(std::move(columns))
    {}
    void add(std::vector<std::string> cells);
    std::string text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// At most `width` characters, the rest replaced by "…".
std::string shortened(const std::string &text, std::size_t width);

std::string scientific(double value); ///< three digits: "1.27e-06"

/// Text from outside made safe for a terminal: control characters become '?', but for line ends and tabs.
std::string printable(std::string_view text);

void print(std::string_view text);    ///< to standard output
void progress(std::string_view text); ///< to standard error, at once

/// Whether the file that --json (or another option) names can be written, before hours of work depend on it.
Result<void> checkWritable(const QString &path);

/// Writes the whole file or nothing.
Result<void> writeFile(const QString &path, std::string_view text);

/// To the file of --json, where it is given.
Result<void> writeResult(const Arguments &arguments, const Json &json);

} // namespace kernelwright::cli
