// SPDX-License-Identifier: GPL-3.0-or-later
// What the translate_*.cpp files share: the state of one translation and the vocabulary to write operators
// in.
#pragma once

#include "translate.h"

#include <functional>
#include <stdexcept>

namespace kernelwright::playbook
{

/// Thrown while one task is translated and caught by translateTask; never leaves it.
struct Untranslatable : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

class Translator
{
public:
    Translator(const Task &task, const std::map<std::string, std::string> &sizeNames);
    void run(); ///< throws Untranslatable

    TensorProgram program;
    /// Pairs of input sizes that broadcasting proves equal, found on the way.
    std::vector<std::pair<std::string, std::string>> equalSizes;

    // The node's arguments. Missing optional ones give the default.
    const Argument *argument(const Node &node, const char *name) const;
    bool isGiven(const Node &node, const char *name) const; ///< there and not None
    TensorId tensor(const Node &node, const char *name);
    TensorId operand(const Argument &argument,
                     DType dtype); ///< a tensor, or a number as a literal of this type
    std::int64_t integer(const Node &node, const char *name, std::int64_t fallback) const;
    double number(const Node &node, const char *name, double fallback) const;
    bool flag(const Node &node, const char *name, bool fallback) const;
    std::vector<std::int64_t> integers(const Node &node, const char *name) const;
    std::string text(const Node &node, const char *name) const;
    DType outputType(const Node &node, std::size_t output = 0) const;
    const TensorType &typeOfOutput(const Node &node, std::size_t output = 0) const;
    int dimension(std::int64_t dimension, std::size_t rank) const;

    // Building blocks.
    const TensorNode &at(TensorId id) const { return program.node(id); }
    TensorId literal(double value, DType dtype);
    TensorId whole(std::int64_t value, DType dtype);
    TensorId unary(Op op, TensorId operand);
    TensorId binary(Op op, TensorId left,
                    TensorId right); ///< both of one type already; comparisons give Bool
    TensorId select(TensorId condition, TensorId then, TensorId otherwise);
    TensorId multiplyAdd(TensorId left, TensorId right, TensorId addend);
    TensorId convert(TensorId operand, DType dtype);
    TensorId reduce(Reduction reduction, TensorId operand, const std::vector<int> &dimensions, bool keep,
                    DType dtype);
    TensorId reindex(TensorId operand, std::vector<Index> extents, std::vector<Index> source,
                     std::vector<Index> inverse);
    TensorId broadcastTo(TensorId operand, const std::vector<Index> &extents);
    std::vector<Index> broadcastExtents(const std::vector<TensorId> &operands);
    std::vector<Index> broadcastExtents(const std::vector<std::vector<Index>> &shapes);
    /// Two sizes that an operator needs to be equal; noted as such, so that later rounds use one name for
    /// both.
    Index sameExtent(const Index &left, const Index &right);
    TensorId square(TensorId operand) { return binary(Op::Multiply, operand, operand); }

    /// An expression for a number that a view or expand was given: the input size of the same value, else the
    /// number.
    Index extentOf(std::int64_t number) const;

    /// A place along a dimension that moves with its size: half of it stays half of it. A number of its own
    /// in the launch plan where that is not plain.
    Index inProportion(std::int64_t place, const Index &size);
    /// The bound of a piece, and no more than the size.
    Index bounded(const Index &bound, const Index &size);
    Index roundedUpQuotient(const Index &size, std::int64_t parts);

    void define(const Node &node, std::size_t output, TensorId id);
    [[noreturn]] void refuse(const Node &node, const std::string &why) const;

private:
    using Lists = std::map<ValueId, std::vector<TensorId>>;
    void defineInputs(const std::map<std::string, std::string> &sizeNames);
    void translate(const Node &node);
    void noteEqual(const std::string &left, const std::string &right);
    Index derive(const std::string &name, const std::string &expression, std::int64_t captured);

    const Task &task_;
    const OperatorGraph &graph_;
    std::map<ValueId, TensorId> values_;
    std::map<std::int64_t, Index> sizesByValue_;

public:
    Lists lists; ///< of split and chunk: what prim::getitem takes from
};

/// Promotion of two element types as PyTorch has it for two tensors with dimensions.
DType promote(DType left, DType right);

/// exp(x − max) / Σ exp(x − max) over a dimension: subtracting the maximum changes nothing in exact
/// arithmetic and keeps exp from overflowing.
TensorId softmaxOf(Translator &translator, TensorId x, int dimension);

using Rule = std::function<void(Translator &, const Node &)>;
using Rules = std::map<std::string, Rule>;
const Rules &pointwiseRules();
const Rules &activationRules();
const Rules &viewRules();
const Rules &pieceRules();
const Rules &reductionRules();
const Rules &productRules();

} // namespace kernelwright::playbook
