// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_plan.h"

#include "kernel_signature.h"
#include "parse_tensor_map.h"
#include "plan_expression.h"
#include "plan_text.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace kernelwright
{

namespace
{
constexpr std::size_t longestSource = std::size_t{4} << 20;
constexpr std::size_t mostDirectives = 256;
constexpr std::size_t mostTunableValues = 64;
constexpr std::size_t mostTensorMaps = 32; // a kernel takes 4 KiB of parameters, each map 128 bytes
constexpr std::string_view mark = "//@";

/// One `//@` line: what stands behind the mark, and where.
struct Directive
{
    std::string_view text;
    PlanPosition position;
};

/// Splits off the leading `//@` lines; one further down, where a reader would miss it, is an error.
Result<std::vector<Directive>> leadingDirectives(std::string_view source)
{
    std::vector<Directive> directives;
    bool inBlockComment = false, inCode = false;
    int number = 0;
    while (!source.empty()) {
        ++number;
        const std::size_t end = source.find('\n');
        const std::string_view line = source.substr(0, end);
        source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
        const std::size_t start = line.find_first_not_of(" \t\r\f\v");
        if (start == std::string_view::npos) continue;
        const std::string_view content = line.substr(start);
        if (inBlockComment) {
            inBlockComment = content.find("*/") == std::string_view::npos;
        } else if (content.starts_with(mark)) {
            const PlanPosition position{number, static_cast<int>(start + mark.size()) + 1};
            if (inCode)
                return failAt(
                    {number, static_cast<int>(start) + 1},
                    "expected no launch plan behind the first line of code; move this line to the top");
            directives.push_back({content.substr(mark.size()), position});
        } else if (content.starts_with("/*")) {
            inBlockComment = content.find("*/", 2) == std::string_view::npos;
        } else if (!content.starts_with("//")) {
            inCode = true;
        }
    }
    return directives;
}

class PlanParser
{
public:
    Result<LaunchPlan> parse(const std::vector<Directive> &directives)
    {
        for (const Directive &directive : directives) {
            PlanLine line(directive.text, directive.position);
            if (auto parsed = parseDirective(line); !parsed) return tl::unexpected<Error>(parsed.error());
            if (!line.atEnd()) {
                const PlanPosition position = line.position();
                return failAt(position, "expected the end of the line, found " + quoteText(line.word()) +
                                            " (spaces inside an expression are allowed in parentheses only)");
            }
        }
        return std::move(plan_);
    }

private:
    Result<void> parseDirective(PlanLine &line)
    {
        line.skipBlanks();
        const PlanPosition position = line.position();
        const std::string expected = "let, tune, require, workspace, tensormap, kernel or schedule";
        const Result<std::string> keyword = line.identifier(expected);
        if (!keyword) return tl::unexpected<Error>(keyword.error());
        if (*keyword == "let") return parseLet(line);
        if (*keyword == "tune") return parseTune(line);
        if (*keyword == "require") return parseRequire(line);
        if (*keyword == "tensormap") return parseTensorMapLine(line);
        if (*keyword == "workspace") return parseWorkspace(line);
        if (*keyword == "kernel") return parseKernel(line);
        if (*keyword == "schedule") return parseSchedule(line);
        return failAt(position, "expected " + expected + ", found " + quoteText(*keyword));
    }

    /// A name for something new.
    Result<std::string> newName(PlanLine &line, const std::string &expected)
    {
        line.skipBlanks();
        const PlanPosition position = line.position();
        Result<std::string> name = line.identifier(expected);
        if (!name) return name;
        if (isPlanFunction(*name))
            return failAt(position, "expected a new name, but " + *name + " is a function");
        if (!names_.insert(*name).second)
            return failAt(position, "expected a new name, but " + quoteText(*name) + " is defined above");
        return name;
    }

    Result<PlanExpression> checkedExpression(PlanLine &line, const std::string &expected)
    {
        Result<PlanExpression> expression = line.expression(expected);
        if (!expression) return expression;
        if (const auto checked = checkExpression(*expression); !checked)
            return tl::unexpected<Error>(checked.error());
        return expression;
    }

    Result<void> parseLet(PlanLine &line)
    {
        const Result<std::string> name = newName(line, "a name behind let");
        if (!name) return tl::unexpected<Error>(name.error());
        if (auto found = line.expect('=', "'=' behind the name"); !found) return found;
        const Result<PlanExpression> expression = checkedExpression(line, "an expression behind '='");
        if (!expression) return tl::unexpected<Error>(expression.error());
        plan_.lets.emplace_back(*name, *expression);
        return {};
    }

    Result<void> parseTune(PlanLine &line)
    {
        line.skipBlanks();
        Tunable tunable;
        tunable.position = line.position();
        const Result<std::string> name = newName(line, "a name behind tune");
        if (!name) return tl::unexpected<Error>(name.error());
        tunable.name = *name;
        if (auto found = line.expect('=', "'=' behind the name"); !found) return found;
        while (!line.atEnd()) {
            const PlanPosition position = line.position();
            const std::string word = line.word();
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
            if (error != std::errc() || end != word.data() + word.size())
                return failAt(position, "expected a whole number, found " + quoteText(word));
            if (std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end())
                return failAt(position, "expected each value once, found " + word + " again");
            if (tunable.values.size() >= mostTunableValues)
                return failAt(position, "expected at most 64 values for a tunable");
            tunable.values.push_back(value);
        }
        if (tunable.values.empty())
            return failAt(line.position(), "expected at least one whole number behind '='");
        plan_.tunables.push_back(std::move(tunable));
        return {};
    }

    Result<void> parseRequire(PlanLine &line)
    {
        const Result<PlanExpression> expression = line.rest("an expression behind require");
        if (!expression) return tl::unexpected<Error>(expression.error());
        if (const auto checked = checkExpression(*expression); !checked) return checked;
        plan_.requirements.push_back(*expression);
        return {};
    }

    Result<void> parseTensorMapLine(PlanLine &line)
    {
        line.skipBlanks();
        const PlanPosition position = line.position();
        const Result<std::string> name = newName(line, "a name behind tensormap");
        if (!name) return tl::unexpected<Error>(name.error());
        if (plan_.tensorMaps.size() >= mostTensorMaps)
            return failAt(position, "expected at most 32 tensor maps");
        Result<PlannedTensorMap> map = parseTensorMap(line);
        if (!map) return tl::unexpected<Error>(map.error());
        map->name = *name;
        map->position = position;
        plan_.tensorMaps.push_back(std::move(*map));
        return {};
    }

    Result<void> parseWorkspace(PlanLine &line)
    {
        const Result<std::string> name = newName(line, "a name behind workspace");
        if (!name) return tl::unexpected<Error>(name.error());
        line.skipBlanks();
        const PlanPosition position = line.position();
        const Result<std::string> key = line.identifier("bytes=EXPRESSION behind the name");
        if (!key) return tl::unexpected<Error>(key.error());
        if (*key != "bytes") return failAt(position, "expected bytes=EXPRESSION, found " + quoteText(*key));
        if (auto found = line.expect('=', "'=' behind bytes"); !found) return found;
        const Result<PlanExpression> expression = checkedExpression(line, "an expression behind '='");
        if (!expression) return tl::unexpected<Error>(expression.error());
        plan_.workspaces.emplace_back(*name, *expression);
        return {};
    }

    Result<void> parseKernel(PlanLine &line)
    {
        line.skipBlanks();
        PlannedKernel kernel;
        kernel.position = line.position();
        const Result<std::string> name = line.identifier("the name of a kernel");
        if (!name) return tl::unexpected<Error>(name.error());
        kernel.name = *name;
        for (PlanExpression *list : {kernel.grid, kernel.block})
            std::fill_n(list, 3, PlanExpression{"1", kernel.position});
        kernel.shared = {"0", kernel.position};
        std::set<std::string> seen;
        while (!line.atEnd())
            if (auto parsed = parseKernelSetting(line, kernel, seen); !parsed) return parsed;
        for (const char *key : {"grid", "block"})
            if (!seen.contains(key))
                return failAt(line.position(),
                              std::string("expected ") + key + "=… for kernel " + quoteText(kernel.name));
        plan_.kernels.push_back(std::move(kernel));
        return {};
    }

    Result<void> parseKernelSetting(PlanLine &line, PlannedKernel &kernel, std::set<std::string> &seen)
    {
        static const std::string expected = "grid=, block=, cluster=, shared= or cooperative";
        const PlanPosition position = line.position();
        const Result<std::string> key = line.identifier(expected);
        if (!key) return tl::unexpected<Error>(key.error());
        const bool isFlag = *key == "cooperative";
        if (!isFlag && *key != "grid" && *key != "block" && *key != "cluster" && *key != "shared")
            return failAt(position, "expected " + expected + ", found " + quoteText(*key));
        if (!seen.insert(*key).second)
            return failAt(position, "expected " + *key + (isFlag ? "" : "=") + " only once");
        if (isFlag) {
            kernel.isCooperative = true;
            return {};
        }
        if (auto found = line.expect('=', "'=' behind " + *key); !found) return found;
        const Result<PlanExpression> text = line.expression("an expression behind '='");
        if (!text) return tl::unexpected<Error>(text.error());
        const std::vector<PlanExpression> parts = tupleParts(*text);
        if (parts.size() > (*key == "shared" ? 1U : 3U))
            return failAt(text->position, *key == "shared"
                                              ? "expected one expression for shared="
                                              : "expected one to three expressions for " + *key + "=");
        if (*key == "cluster") std::fill_n(kernel.cluster, 3, PlanExpression{"1", text->position});
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (const auto checked = checkExpression(parts[i]); !checked) return checked;
            (*key == "grid"      ? kernel.grid[i]
             : *key == "block"   ? kernel.block[i]
             : *key == "cluster" ? kernel.cluster[i]
                                 : kernel.shared) = parts[i];
        }
        return {};
    }

    Result<void> parseSchedule(PlanLine &line)
    {
        while (!line.atEnd()) {
            const PlanPosition position = line.position();
            const Result<std::string> key = line.identifier("KEY=VALUE");
            if (!key) return tl::unexpected<Error>(key.error());
            if (auto found = line.expect('=', "'=' behind " + quoteText(*key)); !found) return found;
            if (!plan_.schedule.emplace(*key, line.word()).second)
                return failAt(position, "expected each key once, found " + quoteText(*key) + " again");
        }
        return {};
    }

    LaunchPlan plan_;
    std::set<std::string> names_;
};

const KernelSignature *findSignature(const std::vector<KernelSignature> &signatures, const std::string &name)
{
    // A definition may have been declared before: the last one is it.
    const auto it = std::find_if(signatures.rbegin(), signatures.rend(),
                                 [&](const KernelSignature &signature) { return signature.name == name; });
    return it == signatures.rend() ? nullptr : &*it;
}

Result<void> attachSignatures(LaunchPlan &plan, const std::string &source)
{
    const auto signatures = readKernelSignatures(source);
    if (!signatures) return tl::unexpected<Error>(signatures.error());
    for (PlannedKernel &kernel : plan.kernels) {
        const KernelSignature *signature = findSignature(*signatures, kernel.name);
        if (signature == nullptr) {
            std::string there;
            for (const KernelSignature &other : *signatures)
                there += (there.empty() ? "" : ", ") + other.name;
            return failAt(kernel.position, "expected a kernel extern \"C\" __global__ void " + kernel.name +
                                               "(…) in the source; there " +
                                               (there.empty() ? "is none" : "are: " + there.substr(0, 400)));
        }
        if (!signature->hasCLinkage)
            return failAt(signature->position, "expected extern \"C\" in front of the kernel " +
                                                   quoteText(kernel.name) +
                                                   ", so that it can be found by its name");
        if (signature->problem) return tl::unexpected<Error>(*signature->problem);
        kernel.parameters = signature->parameters;
    }
    return {};
}
} // namespace

Result<LaunchPlan> parseLaunchPlan(const std::string &source)
{
    if (source.size() > longestSource)
        return fail(ErrorCode::BadInput, "line 1, column 1: expected a source of at most 4 MiB");
    const auto directives = leadingDirectives(source);
    if (!directives) return tl::unexpected<Error>(directives.error());
    if (directives->size() > mostDirectives)
        return failAt((*directives)[mostDirectives].position, "expected at most 256 lines of launch plan");
    Result<LaunchPlan> plan = PlanParser().parse(*directives);
    if (!plan) return plan;
    if (plan->kernels.empty())
        return failAt({1, 1},
                      "expected a launch plan with at least one line '//@ kernel NAME grid=… block=…'");
    if (const auto attached = attachSignatures(*plan, source); !attached)
        return tl::unexpected<Error>(attached.error());
    return plan;
}

} // namespace kernelwright
