// SPDX-License-Identifier: GPL-3.0-or-later
// Costs of matrix products and attention.
#include "cost_node.h"
#include "operator_class.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace kernelwright
{

namespace
{
/// The left side of a product goes by the name that its operator gives it.
const TensorType *leftSide(const CostNode &node)
{
    for (const char *name : {"mat1", "batch1", "mat", "mat_a", "x1", "input", "self"})
        if (const TensorType *type = node.tensor(name)) {
            const bool isAddend = std::string(name) == "self" && node.bareName().starts_with("add");
            if (!isAddend) return type;
        }
    return nullptr;
}

bool addsMatrix(const CostNode &node)
{
    const std::string &name = node.bareName();
    return name == "addmm" || name == "baddbmm" || name == "addbmm" || name == "addmv" ||
           name == "_addmm_activation";
}

Cost productCost(const CostNode &node, const TensorType &left, double operations)
{
    Cost cost = plainCost(node, operations);
    if (cost.flops > 0) cost.mathType = left.dtype; // of integers no floating-point is counted
    cost.isMatrixProduct = true;
    return cost;
}

/// Sizes of the indices of an einsum, those of the ellipsis multiplied together under '.'.
class IndexSizes
{
public:
    /// False where term and tensor do not go together.
    bool add(const std::string &term, const TensorType &type)
    {
        const std::size_t dots = term.find("...");
        const std::size_t named = term.size() - (dots == std::string::npos ? 0 : 3);
        if (named > type.sizes.size() || (dots == std::string::npos && named != type.sizes.size()))
            return false;
        std::size_t d = 0;
        for (std::size_t i = 0; i < term.size(); ++i, ++d) {
            if (i == dots) {
                double covered = 1;
                for (std::size_t left = type.sizes.size() - named; left > 0; --left)
                    covered *= static_cast<double>(type.sizes[d++]);
                grow('.', covered);
                i += 2;
                --d;
                continue;
            }
            if (std::isalpha(static_cast<unsigned char>(term[i])) == 0) return false;
            grow(term[i], static_cast<double>(type.sizes[d]));
        }
        return true;
    }
    double product() const
    {
        double all = 1;
        for (const auto &[index, size] : sizes_)
            all *= size;
        return all;
    }

private:
    void grow(char index, double size)
    {
        double &known = sizes_[index];
        known = std::max(known, size); // a size of 1 is broadcast
    }
    std::map<char, double> sizes_;
};

/// Of more than two operands the order of the products is open, and with it their number.
std::optional<Cost> einsumCost(const CostNode &node)
{
    const Argument *equation = node.argument("equation");
    const std::vector<const TensorType *> operands = node.tensors("tensors");
    if (equation == nullptr || equation->kind != Argument::Kind::String || node.output() == nullptr)
        return std::nullopt;
    if (operands.empty() || operands.size() > 2) return std::nullopt;
    std::string text = equation->text;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::string terms = text.substr(0, text.find("->"));
    const std::size_t comma = terms.find(',');
    if ((comma != std::string::npos) != (operands.size() == 2)) return std::nullopt;
    IndexSizes sizes;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::string term = i == 0 ? terms.substr(0, comma) : terms.substr(comma + 1);
        if (operands[i] == nullptr || !sizes.add(term, *operands[i])) return std::nullopt;
    }
    const double all = sizes.product();
    const bool sums = all > elements(*node.output());
    if (operands.size() == 1) return plainCost(node, sums ? all : 0);
    return productCost(node, *operands.front(), (sums ? 2 : 1) * all);
}

std::optional<Cost> tensordotCost(const CostNode &node, const TensorType &left, const TensorType &output)
{
    const Argument *dims = node.argument("dims_self");
    if (dims == nullptr || dims->kind != Argument::Kind::List) return std::nullopt;
    double length = 1;
    const auto rank = static_cast<std::int64_t>(left.sizes.size());
    for (const Argument &dim : dims->items) {
        if (dim.kind != Argument::Kind::Int || dim.integer < -rank || dim.integer >= rank)
            return std::nullopt;
        length *= static_cast<double>(
            left.sizes[static_cast<std::size_t>(dim.integer < 0 ? dim.integer + rank : dim.integer)]);
    }
    return productCost(node, left, 2 * length * elements(output));
}
} // namespace

std::optional<Cost> matrixCost(const CostNode &node)
{
    if (node.bareName() == "einsum") return einsumCost(node);
    const TensorType *left = leftSide(node), *output = node.output();
    if (left == nullptr || output == nullptr || left->sizes.empty()) return std::nullopt;
    if (node.bareName() == "tensordot") return tensordotCost(node, *left, *output);
    double products = elements(*output) * static_cast<double>(left->sizes.back());
    if (node.bareName() == "cdist" || node.bareName() == "_cdist_forward") {
        Cost cost = plainCost(node, 3 * products + 4 * elements(*output)); // and a root at the end
        return cost;
    }
    if (node.bareName() == "addbmm") products *= static_cast<double>(left->sizes.front());
    const bool hasAddend = addsMatrix(node) || node.tensor("bias") != nullptr;
    const double complex = isComplexType(left->dtype) ? 4 : 1;
    return productCost(node, *left, complex * (2 * products + (hasAddend ? elements(*output) : 0)));
}

namespace
{
double causalScores(double queries, double keys)
{
    if (queries <= keys) return queries * (queries + 1) / 2;
    return keys * (keys + 1) / 2 + (queries - keys) * keys;
}
} // namespace

std::optional<Cost> attentionCost(const CostNode &node)
{
    const TensorType *query = node.tensor("query"), *key = node.tensor("key"), *output = node.output();
    if (query == nullptr || key == nullptr || output == nullptr) return std::nullopt;
    if (query->sizes.size() < 2 || key->sizes.size() < 2 || output->sizes.size() < 2) return std::nullopt;
    const double queries = static_cast<double>(query->sizes[query->sizes.size() - 2]);
    const double keys = static_cast<double>(key->sizes[key->sizes.size() - 2]);
    const double valueWidth = static_cast<double>(std::max<std::int64_t>(1, output->sizes.back()));
    const double batches = queries > 0 ? elements(*output) / valueWidth / queries : 0;
    const double scores =
        batches * (node.flag("is_causal", false) ? causalScores(queries, keys) : queries * keys);
    constexpr double softmaxOperations = 8;
    const double perScore = 2 * static_cast<double>(query->sizes.back()) + 2 * valueWidth + softmaxOperations;
    return productCost(node, *query, scores * perScore);
}

} // namespace kernelwright
