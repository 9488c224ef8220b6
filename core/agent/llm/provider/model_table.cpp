// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_table.h"

#include "base/resources.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace kernelwright
{

namespace
{
Result<double> priceField(const Json &entry, const char *key, double otherwise)
{
    const auto found = entry.find(key);
    if (found == entry.end()) return otherwise;
    const double price = found->is_number() ? found->get<double>() : -1;
    if (price >= 0 && std::isfinite(price)) return price;
    return fail(ErrorCode::BadInput,
                std::string("'") + key + "' must be dollars per million tokens, a number from 0 on");
}

Result<KnownModel> readModel(const Json &entry)
{
    KnownModel model;
    model.match = textField(entry, "match");
    if (model.match.empty())
        return fail(ErrorCode::BadInput, "'match', the beginning of the model's name, is missing");
    model.traits.thinking = textField(entry, "thinking");
    if (model.traits.thinking != "" && model.traits.thinking != "adaptive" &&
        model.traits.thinking != "budget")
        return fail(ErrorCode::BadInput, "'thinking' is \"adaptive\", \"budget\" or left out, not \"" +
                                             model.traits.thinking + "\"");
    model.traits.maximumOutput = countField(entry, "maximum_output");
    if (!entry.contains("input") || !entry.contains("output")) return model;
    TokenPrices prices;
    const auto input = priceField(entry, "input", 0);
    const auto output = priceField(entry, "output", 0);
    if (!input) return forward(input.error());
    if (!output) return forward(output.error());
    const auto read = priceField(entry, "cache_read", *input);
    const auto write = priceField(entry, "cache_write", *input);
    if (!read) return forward(read.error());
    if (!write) return forward(write.error());
    model.prices = TokenPrices{*input, *output, *read, *write};
    return model;
}

std::string withoutVendor(const std::string &model)
{
    const std::size_t slash = model.rfind('/');
    return slash == std::string::npos ? model : model.substr(slash + 1);
}

/// OpenRouter writes "claude-opus-5.5" for Anthropic's "claude-opus-5-5".
std::string withoutDots(std::string name)
{
    for (char &letter : name)
        if (letter == '.') letter = '-';
    return name;
}
} // namespace

std::vector<std::filesystem::path> ModelTable::usualFiles()
{
    std::vector<std::filesystem::path> files{resourceDirectory() / "agents" / "models.json"};
    const char *own = std::getenv("KERNELWRIGHT_MODELS");
    const char *configuration = std::getenv("XDG_CONFIG_HOME");
    const char *home = std::getenv("HOME");
    if (own && *own)
        files.emplace_back(own);
    else if (configuration && *configuration)
        files.push_back(std::filesystem::path(configuration) / "kernelwright/agents/models.json");
    else if (home && *home)
        files.push_back(std::filesystem::path(home) / ".config/kernelwright/agents/models.json");
    return files;
}

Result<ModelTable> ModelTable::read(const std::vector<std::filesystem::path> &files)
{
    ModelTable table;
    for (const std::filesystem::path &file : files) {
        std::ifstream stream(file, std::ios::binary);
        if (!stream) continue;
        std::ostringstream text;
        text << stream.rdbuf();
        const std::string name = "'" + file.string() + "'";
        const auto json = parseJson(text.str(), name);
        if (!json) return forward(json.error());
        int number = 0;
        for (const Json &entry : arrayField(*json, "models")) {
            auto model = readModel(entry);
            if (!model)
                return fail(ErrorCode::BadInput,
                            name + ", models[" + std::to_string(number) + "]: " + model.error().message);
            table.models_.push_back(std::move(*model));
            ++number;
        }
    }
    return table;
}

const KnownModel *ModelTable::find(const std::string &model) const
{
    const std::string name = withoutDots(withoutVendor(model));
    const KnownModel *best = nullptr;
    for (const KnownModel &known : models_)
        if (name.starts_with(withoutDots(known.match)) && (!best || known.match.size() >= best->match.size()))
            best = &known;
    return best;
}

std::optional<double> ModelTable::cost(const std::string &model, const TokenCount &tokens) const
{
    if (tokens.costUsd) return tokens.costUsd;
    const KnownModel *known = find(model);
    if (!known || !known->prices) return std::nullopt;
    const TokenPrices &prices = *known->prices;
    const auto part = [](std::int64_t count, double price) {
        return static_cast<double>(count) * price / 1e6;
    };
    const std::int64_t plain = std::max<std::int64_t>(0, tokens.input - tokens.cacheRead - tokens.cacheWrite);
    return part(plain, prices.input) + part(tokens.cacheRead, prices.cacheRead) +
           part(tokens.cacheWrite, prices.cacheWrite) + part(tokens.output, prices.output);
}

} // namespace kernelwright
