// SPDX-License-Identifier: GPL-3.0-or-later
#include "parse_tensor_map.h"

#include "base/text.h"
#include "plan_expression.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostDimensions = 5;

/// A word out of a short list: "none" is 0, others are numbers.
struct Choice
{
    const char *key;
    int TensorMapModes::*field;
    std::vector<int> values; ///< 0 is spelled "none"
};

const std::vector<Choice> &choices()
{
    static const std::vector<Choice> all{{"swizzle", &TensorMapModes::swizzleBytes, {0, 32, 64, 128}},
                                         {"interleave", &TensorMapModes::interleaveBytes, {0, 16, 32}},
                                         {"l2", &TensorMapModes::l2PromotionBytes, {0, 64, 128, 256}}};
    return all;
}

std::string spelled(int value)
{
    return value == 0 ? "none" : std::to_string(value);
}

class TensorMapReader
{
public:
    explicit TensorMapReader(PlanLine &line)
        : line_(line)
    {}

    Result<PlannedTensorMap> run()
    {
        std::set<std::string> seen;
        while (!line_.atEnd()) {
            const PlanPosition position = line_.position();
            const Result<std::string> key = line_.identifier(expectedKeys());
            if (!key) return tl::unexpected<Error>(key.error());
            if (!isKey(*key))
                return failAt(position, "expected " + expectedKeys() + ", found " + quoteText(*key));
            if (!seen.insert(*key).second) return failAt(position, "expected " + *key + "= only once");
            if (auto found = line_.expect('=', "'=' behind " + *key); !found)
                return tl::unexpected<Error>(found.error());
            if (auto read = readValue(*key); !read) return tl::unexpected<Error>(read.error());
        }
        for (const char *key : {"tensor", "box"})
            if (!seen.contains(key))
                return failAt(line_.position(), std::string("expected ") + key + "=… for this tensor map");
        if (seen.contains("stride") && !seen.contains("size"))
            return failAt(map_.stride.front().position, "expected size= beside stride=");
        return std::move(map_);
    }

private:
    static std::string expectedKeys()
    {
        return "tensor=, box=, size=, stride=, elementstrides=, type=, swizzle=, interleave=, l2= or oob=";
    }

    static bool isKey(const std::string &key)
    {
        static const std::set<std::string> keys{"tensor",  "box",        "size", "stride", "elementstrides",
                                                "swizzle", "interleave", "l2",   "oob",    "type"};
        return keys.contains(key);
    }

    Result<void> readValue(const std::string &key)
    {
        line_.skipBlanks();
        const PlanPosition position = line_.position();
        if (key == "box") return readTuple(key, map_.box);
        if (key == "size") return readTuple(key, map_.size);
        if (key == "stride") return readTuple(key, map_.stride);
        if (key == "elementstrides") return readTuple(key, map_.elementStrides);
        const std::string word = line_.word();
        if (key == "tensor") {
            if (!isIdentifier(word))
                return failAt(position,
                              "expected the name of a tensor or a workspace, found " + quoteText(word));
            map_.tensor = word;
            map_.tensorPosition = position;
            return {};
        }
        if (key == "type") {
            map_.type = dtypeFromName(word);
            if (map_.type == DType::Unknown)
                return failAt(position, "expected a type such as float16, found " + quoteText(word));
            return {};
        }
        if (key == "oob") {
            if (word != "zero" && word != "nan")
                return failAt(position, "expected zero or nan for oob=, found " + quoteText(word));
            map_.modes.fillsNan = word == "nan";
            return {};
        }
        return readChoice(key, word, position);
    }

    Result<void> readChoice(const std::string &key, const std::string &word, PlanPosition position)
    {
        const auto choice = std::find_if(choices().begin(), choices().end(),
                                         [&](const Choice &candidate) { return candidate.key == key; });
        std::vector<std::string> allowed;
        for (const int value : choice->values) {
            allowed.push_back(spelled(value));
            if (allowed.back() != word) continue;
            map_.modes.*choice->field = value;
            return {};
        }
        return failAt(position, "expected one of " + joinText(allowed, ", ") + " for " + key + "=, found " +
                                    quoteText(word));
    }

    Result<void> readTuple(const std::string &key, std::vector<PlanExpression> &into)
    {
        const Result<PlanExpression> text = line_.expression("an expression behind '='");
        if (!text) return tl::unexpected<Error>(text.error());
        into = tupleParts(*text);
        if (into.size() > mostDimensions)
            return failAt(text->position, "expected one to five expressions for " + key + "=");
        for (const PlanExpression &part : into)
            if (const auto checked = checkExpression(part); !checked) return checked;
        return {};
    }

    PlanLine &line_;
    PlannedTensorMap map_;
};
} // namespace

Result<PlannedTensorMap> parseTensorMap(PlanLine &line)
{
    return TensorMapReader(line).run();
}

} // namespace kernelwright
