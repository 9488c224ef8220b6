// SPDX-License-Identifier: GPL-3.0-or-later
#include "output.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>

#include <algorithm>
#include <cstdio>

namespace kernelwright::cli
{

namespace
{
bool isContinuation(char byte) // of a UTF-8 character
{
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::size_t widthOf(const std::string &text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}
} // namespace

void Table::add(std::vector<std::string> cells)
{
    cells.resize(columns_.size());
    for (std::string &cell : cells) {
        cell = printable(cell);
        std::replace(cell.begin(), cell.end(), '\n', ' ');
    }
    rows_.push_back(std::move(cells));
}

std::string Table::text() const
{
    std::vector<std::vector<std::string>> lines{{}};
    for (const Column &column : columns_)
        lines.front().push_back(column.heading);
    lines.insert(lines.end(), rows_.begin(), rows_.end());
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto &line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], widthOf(line[i]));

    std::string text;
    for (const auto &line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string gap(widths[i] - widthOf(line[i]), ' ');
            row += i == 0 ? "" : "  ";
            row += columns_[i].align == Align::Right ? gap + line[i] : line[i] + gap;
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

std::string shortened(const std::string &text, std::size_t width)
{
    if (widthOf(text) <= width) return text;
    std::size_t characters = 0, at = 0;
    for (; at < text.size(); ++at)
        if (!isContinuation(text[at]) && ++characters == width) break;
    return text.substr(0, at) + "…";
}

std::string scientific(double value)
{
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
    return buffer;
}

std::string printable(std::string_view text)
{
    std::string safe(text);
    for (char &c : safe) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) c = '?';
    }
    return safe;
}

void print(std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void progress(std::string_view text)
{
    const std::string safe = printable(text);
    std::fwrite(safe.data(), 1, safe.size(), stderr);
    std::fflush(stderr);
}

Result<void> checkWritable(const QString &path)
{
    if (path.isEmpty()) return {};
    const QFileInfo info(path);
    const std::string file = "'" + path.toStdString() + "'";
    if (info.isDir()) return fail(ErrorCode::BadInput, file + " is a folder; a file is to be written there");
    const QFileInfo folder(info.absolutePath());
    if (!folder.isDir())
        return fail(ErrorCode::BadInput, file + " cannot be written: there is no folder '" +
                                             folder.filePath().toStdString() + "'");
    if (!folder.isWritable() || (info.exists() && !info.isWritable()))
        return fail(ErrorCode::BadInput, file + " cannot be written: it is protected");
    return {};
}

Result<void> writeFile(const QString &path, std::string_view text)
{
    QSaveFile file(path);
    const auto size = static_cast<qint64>(text.size());
    if (file.open(QIODevice::WriteOnly) && file.write(text.data(), size) == size && file.commit()) return {};
    return fail(ErrorCode::Io,
                "'" + path.toStdString() + "' cannot be written: " + file.errorString().toStdString());
}

Result<void> writeResult(const Arguments &arguments, const Json &json)
{
    if (!arguments.isSet("json")) return {};
    return writeFile(arguments.value("json"), writeJson(json, 2) + "\n");
}

} // namespace kernelwright::cli
