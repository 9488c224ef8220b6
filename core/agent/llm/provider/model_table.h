// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of models: their traits and what they cost, from resources/agents/models.json and from a file
// of the person's own, whose entries come first.
#pragma once

#include "chat.h"
#include "protocol.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// US dollars per million tokens.
struct TokenPrices
{
    double input = 0, output = 0;
    double cacheRead = 0, cacheWrite = 0; ///< as `input` where the table does not say
};

struct KnownModel
{
    std::string match; ///< the beginning of the names it stands for
    ModelTraits traits;
    std::optional<TokenPrices> prices;
};

class ModelTable
{
public:
    /// Reads the files that exist, the later ones counting more. BadInput names file and entry.
    static Result<ModelTable> read(const std::vector<std::filesystem::path> &files);
    /// resources/agents/models.json, then $KERNELWRIGHT_MODELS or ~/.config/kernelwright/agents/models.json.
    static std::vector<std::filesystem::path> usualFiles();

    /// The entry with the longest match, or nullptr.
    const KnownModel *find(const std::string &model) const;

    /// nullopt where the price is not known; what the endpoint itself says counts most.
    std::optional<double> cost(const std::string &model, const TokenCount &tokens) const;

private:
    std::vector<KnownModel> models_;
};

} // namespace kernelwright
