// SPDX-License-Identifier: GPL-3.0-or-later
#include "schedule.h"

#include "base/text.h"

#include <charconv>
#include <vector>

namespace kernelwright::playbook
{

namespace
{

const char *keepName(Keep keep)
{
    switch (keep) {
    case Keep::Registers:
        return "registers";
    case Keep::Shared:
        return "shared";
    case Keep::Nothing:
        break;
    }
    return "nothing";
}

const char *yesNo(bool flag)
{
    return flag ? "yes" : "no";
}

// A whole number within bounds; what a person may have typed there is not trusted.
int bounded(const std::map<std::string, std::string> &keys, const char *key, int fallback, int least,
            int most)
{
    const auto it = keys.find(key);
    if (it == keys.end()) return fallback;
    int value = 0;
    const char *end = it->second.data() + it->second.size();
    const auto [stop, error] = std::from_chars(it->second.data(), end, value);
    return error == std::errc() && stop == end && value >= least && value <= most ? value : fallback;
}

bool isYes(const std::map<std::string, std::string> &keys, const char *key, bool fallback)
{
    const auto it = keys.find(key);
    return it == keys.end() ? fallback : it->second == "yes";
}

int powerOfTwoBelow(int value)
{
    int power = 1;
    while (power * 2 <= value)
        power *= 2;
    return power;
}

} // namespace

std::string scheduleText(const Schedule &s)
{
    std::string text = std::string("agent=playbook shape=") + (s.reduces ? "rows" : "elements");
    const auto add = [&text](const char *key, const std::string &value) {
        text += std::string(" ") + key + "=" + value;
    };
    add("lanes", std::to_string(s.lanes));
    if (s.reduces) add("rows", std::to_string(s.rows));
    add("vector", std::to_string(s.vector));
    if (s.reduces) add("keep", keepName(s.keep));
    if (s.keep == Keep::Registers) add("items", std::to_string(s.items));
    if (s.keepsValues) add("values", "kept");
    if (s.keysEach != 1) add("keys_each", std::to_string(s.keysEach));
    if (s.tiles.isOn()) {
        add("tile_rows", std::to_string(s.tiles.rows));
        add("tile_columns", std::to_string(s.tiles.columns));
        add("tile_depth", std::to_string(s.tiles.depth));
        add("rows_each", std::to_string(s.tiles.rowsEach));
        add("columns_each", std::to_string(s.tiles.columnsEach));
    }
    add("blocks_per_sm", std::to_string(s.blocksPerSm));
    if (s.minimumBlocks) add("minimum_blocks", std::to_string(s.minimumBlocks));
    add("loads", s.streaming ? "streaming" : "cached");
    add("index", s.wideIndex ? "64" : "32");
    add("simplified", yesNo(s.simplified));
    if (s.reduces) add("reciprocal", yesNo(s.reciprocal));
    if (s.reduces) add("sums", s.exactSums ? "double" : "float");
    if (s.fastMath) add("math", "fast");
    return text;
}

std::optional<Schedule> scheduleFromText(const std::map<std::string, std::string> &keys)
{
    const auto agent = keys.find("agent");
    if (agent == keys.end() || agent->second != "playbook") return std::nullopt;
    const auto value = [&keys](const char *key) {
        const auto it = keys.find(key);
        return it == keys.end() ? std::string() : it->second;
    };
    Schedule s;
    s.reduces = value("shape") == "rows";
    s.lanes = powerOfTwoBelow(bounded(keys, "lanes", s.lanes, 1, 1024));
    s.rows = powerOfTwoBelow(bounded(keys, "rows", s.rows, 1, 1024 / s.lanes));
    s.vector = powerOfTwoBelow(bounded(keys, "vector", s.vector, 1, 16));
    s.keep = value("keep") == "registers" ? Keep::Registers
             : value("keep") == "shared"  ? Keep::Shared
                                          : Keep::Nothing;
    s.items = s.keep == Keep::Registers ? bounded(keys, "items", 1, 1, 64) : 0;
    s.keysEach = powerOfTwoBelow(bounded(keys, "keys_each", 1, 1, 16));
    if (const int rows = bounded(keys, "tile_rows", 0, 1, 256); rows > 0) {
        s.tiles.rows = powerOfTwoBelow(rows);
        s.tiles.columns = powerOfTwoBelow(bounded(keys, "tile_columns", 16, 1, 256));
        s.tiles.depth = powerOfTwoBelow(bounded(keys, "tile_depth", 16, 1, 256));
        s.tiles.rowsEach = powerOfTwoBelow(bounded(keys, "rows_each", 1, 1, 16));
        s.tiles.columnsEach = powerOfTwoBelow(bounded(keys, "columns_each", 1, 1, 16));
    }
    s.keepsValues = s.keep == Keep::Registers && value("values") == "kept";
    s.blocksPerSm = bounded(keys, "blocks_per_sm", 0, 0, 32);
    s.minimumBlocks = bounded(keys, "minimum_blocks", 0, 0, 32);
    s.streaming = value("loads") == "streaming";
    s.wideIndex = value("index") != "32";
    s.simplified = isYes(keys, "simplified", false);
    s.reciprocal = isYes(keys, "reciprocal", false);
    s.exactSums = s.reduces && value("sums") != "float";
    s.fastMath = value("math") == "fast";
    return s;
}

std::optional<Schedule> scheduleFromPlan(const LaunchPlan &plan)
{
    std::map<std::string, std::string> keys = plan.schedule;
    static const std::map<std::string, std::string> tunables = {
        {"LANES", "lanes"},           {"ROWS", "rows"},           {"VECTOR", "vector"},
        {"ITEMS", "items"},           {"TILE_ROWS", "tile_rows"}, {"TILE_COLUMNS", "tile_columns"},
        {"TILE_DEPTH", "tile_depth"}, {"ROWS_EACH", "rows_each"}, {"COLUMNS_EACH", "columns_each"},
        {"KEYS_EACH", "keys_each"}};
    for (const Tunable &tunable : plan.tunables)
        if (const auto it = tunables.find(tunable.name); it != tunables.end() && !tunable.values.empty())
            keys[it->second] = std::to_string(tunable.values.front());
    return scheduleFromText(keys);
}

std::string describeChange(const Schedule &before, const Schedule &after)
{
    std::vector<std::string> parts;
    const auto number = [&parts](int from, int to, const std::string &what) {
        if (from != to) parts.push_back(what + " " + std::to_string(from) + " → " + std::to_string(to));
    };
    if (after.tiles.isOn() && !before.tiles.isOn())
        parts.push_back("tiles of " + std::to_string(after.tiles.rows) + " × " +
                        std::to_string(after.tiles.columns) + " results, " +
                        std::to_string(after.tiles.depth) + " deep");
    if (before.tiles.isOn() && !after.tiles.isOn()) parts.emplace_back("no tiles");
    if (before.tiles.isOn() && after.tiles.isOn()) {
        number(before.tiles.rows, after.tiles.rows, "tile rows");
        number(before.tiles.columns, after.tiles.columns, "tile columns");
        number(before.tiles.depth, after.tiles.depth, "tile depth");
        number(before.tiles.rowsEach, after.tiles.rowsEach, "rows per thread");
        number(before.tiles.columnsEach, after.tiles.columnsEach, "columns per thread");
    }
    number(before.keysEach, after.keysEach, "keys per lane");
    number(before.lanes, after.lanes, after.reduces ? "threads per row" : "threads per block");
    number(before.rows, after.rows, "rows per block");
    number(before.vector, after.vector, "elements per access");
    if (before.keep != after.keep) parts.push_back(std::string("row kept in ") + keepName(after.keep));
    if (after.keep == Keep::Registers && before.keep == after.keep)
        number(before.items, after.items, "accesses kept per thread");
    if (before.keepsValues != after.keepsValues)
        parts.emplace_back(after.keepsValues ? "values kept in registers" : "values computed again");
    number(before.blocksPerSm, after.blocksPerSm, "blocks per multiprocessor (0 = all)");
    number(before.minimumBlocks, after.minimumBlocks, "resident blocks asked of the compiler");
    if (before.streaming != after.streaming)
        parts.emplace_back(after.streaming ? "streaming accesses" : "cached accesses");
    if (before.wideIndex != after.wideIndex)
        parts.emplace_back(after.wideIndex ? "64-bit indices" : "32-bit indices");
    if (before.simplified != after.simplified)
        parts.emplace_back(after.simplified ? "simplified algebra" : "algebra as in the model");
    if (before.reciprocal != after.reciprocal)
        parts.emplace_back(after.reciprocal ? "one reciprocal per row" : "a division per element");
    if (before.exactSums != after.exactSums)
        parts.emplace_back(after.exactSums ? "sums in double" : "sums in float");
    if (before.fastMath != after.fastMath)
        parts.emplace_back(after.fastMath ? "approximate functions" : "precise functions");
    return parts.empty() ? "no change" : joinText(parts, ", ");
}

} // namespace kernelwright::playbook
