// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products, written as what they are: both operands stretched to batch × rows × columns × depth,
// multiplied, and summed over the depth. Nothing is ever stretched in memory; the kernels read each operand
// where it lies.
#include "translator.h"

#include <limits>

namespace kernelwright::playbook
{

namespace
{

std::vector<Index> placeholdersOf(const std::vector<Index> &extents)
{
    std::vector<Index> list;
    for (std::size_t i = 0; i < extents.size(); ++i)
        list.push_back(placeholder(i, extents[i]));
    return list;
}

/// An operand of a product: which of its dimensions are batches, and which are the side it contributes to the
/// result (absent for a vector) and the one that is summed.
struct Factor
{
    TensorId id = 0;
    std::size_t batches = 0;
    std::optional<std::size_t> side;
    std::size_t depth = 0;
};

// The operand's coordinates from those of the stretched product. Batches are broadcast from the right.
std::vector<Index> coordinatesIn(const Translator &t, const Factor &factor, const std::vector<Index> &all,
                                 std::size_t batches, std::size_t sideAt)
{
    const std::vector<Index> &own = t.at(factor.id).extents;
    std::vector<Index> coordinates(own.size());
    for (std::size_t i = 0; i < factor.batches; ++i) {
        const std::size_t at = batches - factor.batches + i;
        coordinates[i] = own[i] == Index(1) ? Index(0) : all[at];
    }
    if (factor.side) coordinates[*factor.side] = all[sideAt];
    coordinates[factor.depth] = all.back();
    return coordinates;
}

// Σ over the depth of left · right; extents batch…, left's side, right's side.
TensorId contract(Translator &t, const Factor &left, const Factor &right, DType dtype)
{
    const std::vector<Index> &leftExtents = t.at(left.id).extents, &rightExtents = t.at(right.id).extents;
    const Index depth = t.sameExtent(leftExtents[left.depth], rightExtents[right.depth]);
    const std::vector<Index> leftBatches(leftExtents.begin(),
                                         leftExtents.begin() + static_cast<std::ptrdiff_t>(left.batches));
    const std::vector<Index> rightBatches(rightExtents.begin(),
                                          rightExtents.begin() + static_cast<std::ptrdiff_t>(right.batches));
    std::vector<Index> extents = t.broadcastExtents({leftBatches, rightBatches});
    const std::size_t batches = extents.size();
    if (left.side) extents.push_back(leftExtents[*left.side]);
    if (right.side) extents.push_back(rightExtents[*right.side]);
    extents.push_back(depth);
    const std::vector<Index> all = placeholdersOf(extents);
    const std::size_t rightSideAt = batches + (left.side ? 1 : 0);
    const TensorId stretchedLeft =
        t.reindex(left.id, extents, coordinatesIn(t, left, all, batches, batches), {});
    const TensorId stretchedRight =
        t.reindex(right.id, extents, coordinatesIn(t, right, all, batches, rightSideAt), {});
    const TensorId products = t.binary(Op::Multiply, stretchedLeft, stretchedRight);
    return t.reduce(Reduction::Sum, products, {static_cast<int>(extents.size()) - 1}, false, dtype);
}

// A matrix or stack of them, as matmul takes it: the last two dimensions are rows and columns.
Factor leftOf(Translator &t, TensorId id)
{
    const std::size_t rank = t.at(id).extents.size();
    if (rank == 1) return {id, 0, std::nullopt, 0};
    return {id, rank - 2, rank - 2, rank - 1};
}

Factor rightOf(Translator &t, TensorId id)
{
    const std::size_t rank = t.at(id).extents.size();
    if (rank == 1) return {id, 0, std::nullopt, 0};
    return {id, rank - 2, rank - 1, rank - 2};
}

TensorId matrixProduct(Translator &t, const Node &node, const char *leftName, const char *rightName)
{
    const DType type = t.outputType(node);
    if (isWhole(type)) t.refuse(node, "the playbook writes no products of whole numbers");
    const TensorId left = t.convert(t.tensor(node, leftName), type);
    const TensorId right = t.convert(t.tensor(node, rightName), type);
    if (t.at(left).extents.empty() || t.at(right).extents.empty())
        t.refuse(node, "an operand has no dimensions");
    return contract(t, leftOf(t, left), rightOf(t, right), type);
}

Rule product(const char *left, const char *right)
{
    return [left, right](Translator &t, const Node &node) {
        t.define(node, 0, matrixProduct(t, node, left, right));
    };
}

// β · self + α · left · right
Rule addedProduct(const char *left, const char *right)
{
    return [left, right](Translator &t, const Node &node) {
        const DType type = t.outputType(node);
        TensorId result = matrixProduct(t, node, left, right);
        if (const double alpha = t.number(node, "alpha", 1); alpha != 1)
            result = t.binary(Op::Multiply, result, t.literal(alpha, type));
        const double beta = t.number(node, "beta", 1);
        if (beta != 0) { // a factor of 0 hides even NaN
            TensorId addend = t.convert(t.tensor(node, "self"), type);
            if (beta != 1) addend = t.binary(Op::Multiply, addend, t.literal(beta, type));
            result = t.binary(Op::Add, result, addend);
        }
        t.define(node, 0, result);
    };
}

// input · weightᵀ + bias; all dimensions of the input but the last are rows.
void linear(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId input = t.convert(t.tensor(node, "input"), type);
    const TensorId weight = t.convert(t.tensor(node, "weight"), type);
    const std::vector<Index> own = t.at(input).extents, weights = t.at(weight).extents;
    if (own.empty() || weights.size() != 2) t.refuse(node, "its operands are no matrices");
    std::vector<Index> extents(own.begin(), own.end() - 1);
    const std::size_t rows = extents.size();
    extents.push_back(weights[0]);
    extents.push_back(t.sameExtent(own.back(), weights[1]));
    const std::vector<Index> all = placeholdersOf(extents);
    std::vector<Index> inputAt(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows));
    inputAt.push_back(all.back());
    const TensorId products = t.binary(Op::Multiply, t.reindex(input, extents, inputAt, {}),
                                       t.reindex(weight, extents, {all[rows], all.back()}, {}));
    TensorId result = t.reduce(Reduction::Sum, products, {static_cast<int>(rows) + 1}, false, type);
    if (t.isGiven(node, "bias")) result = t.binary(Op::Add, result, t.convert(t.tensor(node, "bias"), type));
    t.define(node, 0, result);
}

// Where each row of scores may look: at its own position and those before it.
TensorId causalMask(Translator &t, const Index &rows, const Index &columns)
{
    TensorNode position;
    position.op = Op::Position;
    position.dtype = DType::Int64;
    position.number = 1;
    position.extents = {rows};
    const TensorId row = t.program.add(position);
    position.extents = {columns};
    const TensorId column = t.program.add(position);
    const std::vector<Index> asColumn = {rows, Index(1)};
    return t.binary(Op::LessEqual, column, t.reindex(row, asColumn, {placeholder(0, rows)}, {}));
}

// Fewer heads of keys and values than of queries: each serves several of these.
TensorId sharedHeads(Translator &t, const Node &node, TensorId id, const Index &heads)
{
    std::vector<Index> extents = t.at(id).extents;
    const std::size_t at = extents.size() - 3;
    const Index own = extents[at];
    if (own == heads || own.captured() == heads.captured()) return id;
    const std::int64_t each = own.captured() > 0 ? heads.captured() / own.captured() : 0;
    if (each < 1 || each * own.captured() != heads.captured())
        t.refuse(node, "its heads of queries are no multiple of those of keys");
    extents[at] = heads;
    std::vector<Index> source = placeholdersOf(extents);
    source[at] = source[at].dividedBy(Index(each));
    return t.reindex(id, extents, source, {});
}

TensorId maskedScores(Translator &t, const Node &node, TensorId scores)
{
    const DType type = t.at(scores).dtype;
    const std::vector<Index> extents = t.at(scores).extents;
    // What may not be seen is added -infinity, as PyTorch does it, so that a score of +infinity there becomes
    // NaN.
    const auto maskedBy = [&t, type](TensorId visible, TensorId all) {
        const TensorId never = t.literal(-std::numeric_limits<double>::infinity(), type);
        return t.binary(Op::Add, all, t.select(visible, t.literal(0, type), never));
    };
    if (t.flag(node, "is_causal", false))
        scores = maskedBy(causalMask(t, extents[extents.size() - 2], extents.back()), scores);
    if (!t.isGiven(node, "attn_mask")) return scores;
    const TensorId mask = t.tensor(node, "attn_mask");
    if (t.at(mask).dtype == DType::Bool) return maskedBy(mask, scores);
    return t.binary(Op::Add, scores, t.convert(mask, type));
}

// softmax(query · keyᵀ · scale + mask) · value
void attention(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId query = t.convert(t.tensor(node, "query"), type);
    TensorId key = t.convert(t.tensor(node, "key"), type), value = t.convert(t.tensor(node, "value"), type);
    const std::size_t rank = t.at(query).extents.size();
    if (rank < 2 || t.at(key).extents.size() != rank || t.at(value).extents.size() != rank)
        t.refuse(node, "its operands differ in rank");
    if (t.number(node, "dropout_p", 0) != 0) t.refuse(node, "dropout while training draws random numbers");
    if (rank > 2 && t.flag(node, "enable_gqa", false)) {
        const Index heads = t.at(query).extents[rank - 3];
        key = sharedHeads(t, node, key, heads);
        value = sharedHeads(t, node, value, heads);
    }
    const Index width = t.at(query).extents.back();
    TensorId scores =
        contract(t, {query, rank - 2, rank - 2, rank - 1}, {key, rank - 2, rank - 2, rank - 1}, type);
    TensorNode size;
    size.op = Op::SizeValue;
    size.dtype = type;
    size.source = {width};
    const TensorId scale =
        t.isGiven(node, "scale")
            ? t.literal(t.number(node, "scale", 1), type)
            : t.unary(Op::Rsqrt, width.isConstant() ? t.literal(static_cast<double>(width.constant()), type)
                                                    : t.program.add(size));
    scores = maskedScores(t, node, t.binary(Op::Multiply, scores, scale));
    // PyTorch has this operator give zeros where every key is masked, and not what a softmax gives there.
    const int keys = static_cast<int>(rank) - 1;
    const TensorId largest = t.reduce(Reduction::Maximum, scores, {keys}, true, type);
    const TensorId isMasked =
        t.binary(Op::Equal, largest, t.literal(-std::numeric_limits<double>::infinity(), type));
    const TensorId weights = t.select(isMasked, t.literal(0, type), softmaxOf(t, scores, keys));
    t.define(
        node, 0,
        contract(t, {weights, rank - 2, rank - 2, rank - 1}, {value, rank - 2, rank - 1, rank - 2}, type));
}

} // namespace

const Rules &productRules()
{
    static const Rules rules = {
        {"aten::linear", linear},
        {"aten::scaled_dot_product_attention", attention},
        {"aten::mm", product("self", "mat2")},
        {"aten::bmm", product("self", "mat2")},
        {"aten::matmul", product("self", "other")},
        {"aten::mv", product("self", "vec")},
        {"aten::dot", product("self", "tensor")},
        {"aten::addmm", addedProduct("mat1", "mat2")},
        {"aten::addmv", addedProduct("mat", "vec")},
        {"aten::baddbmm", addedProduct("batch1", "batch2")},
    };
    return rules;
}

} // namespace kernelwright::playbook
