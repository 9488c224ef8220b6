// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace kernelwright
{

/// Gives out names that are unique among those it gave out: the one asked for, else with a number behind it
/// ("add", "add_1", …). Constant time, however often the same name is asked for.
class UniqueNames
{
public:
    std::string take(const std::string &wanted)
    {
        if (taken_.insert(wanted).second) return wanted;
        int &number = numbers_[wanted];
        std::string name;
        do
            name = wanted + "_" + std::to_string(++number);
        while (!taken_.insert(name).second);
        return name;
    }

private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, int> numbers_; ///< the last one given to each name
};

} // namespace kernelwright
