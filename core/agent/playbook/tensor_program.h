// SPDX-License-Identifier: GPL-3.0-or-later
// The task's operators in a small language: loads, constants, element-wise functions, re-indexings and
// reductions, each over whole tensors whose sizes are expressions of the inputs' sizes. Softmax is here what
// it is: a maximum, an exponential, a sum and a quotient. Nodes are shared, so that what is computed twice is
// written once.
#pragma once

#include "graph/tensor_type.h"
#include "index_expression.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

enum class Op {
    // leaves
    Load,
    Literal,
    Position,
    SizeValue,
    // one operand
    Convert,
    Negate,
    Absolute,
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Log1p,
    Expm1,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    Sign,
    Not,
    IsNan,
    IsInfinite,
    Sigmoid,
    TanhSoftplus,
    // two operands
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Minimum,
    Maximum,
    Remainder,
    Atan2,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Xor,
    // three operands: condition, then, else; a * b + c with one rounding
    Select,
    MultiplyAdd,
    // shape
    Reindex,
    Concatenate,
    // whole dimensions into one value
    Reduce,
};

enum class Reduction { Sum, Product, Maximum, Minimum, Any, All, ArgMaximum, ArgMinimum };

using TensorId = int;

struct TensorNode
{
    Op op = Op::Literal;
    DType dtype = DType::Float32; ///< as PyTorch has it
    std::vector<Index> extents;
    std::vector<TensorId> operands;
    std::string name; ///< of the value in the model, as an identifier; a hint for people, not unique

    int input = -1;           ///< Load: index into Task::inputs
    double number = 0;        ///< Literal; Position: the step
    std::int64_t integer = 0; ///< Literal of whole type; Position: the start, or the dimension below
    int dimension = 0;        ///< Position, Concatenate: which dimension

    /// Reindex: the operand's coordinates from this tensor's ("$0", "$1" …), and back where that is one to
    /// one.
    std::vector<Index> source; ///< SizeValue: the one size expression whose value it is
    std::vector<Index> inverse;

    Reduction reduction = Reduction::Sum;
    std::vector<int> reduced; ///< dimensions of the operand, ascending
    bool keepsDimensions = false;
};

/// "$2": the placeholder of dimension 2, with its extent.
Index placeholder(std::size_t dimension, const Index &extent);
std::map<std::string, Index> placeholderValues(const std::vector<Index> &coordinates);

class TensorProgram
{
public:
    TensorId add(TensorNode node); ///< returns an equal node's id where there is one
    const TensorNode &node(TensorId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    int count() const { return static_cast<int>(nodes_.size()); }
    void setName(TensorId id, const std::string &name);

    std::vector<TensorId> outputs; ///< in the order of Task::outputs

    /// Sizes that are no input's own but computed in the launch plan: name and expression.
    std::map<std::string, std::string> derivedSizes;

    /// The nodes that the outputs need, operands before users.
    std::vector<TensorId> reachable() const;
    /// How often each node is an operand of a reachable node.
    std::vector<int> useCounts() const;

private:
    std::vector<TensorNode> nodes_;
    std::map<std::string, TensorId> known_;
};

bool isPointwise(Op op);   ///< element by element over equal (broadcast) coordinates
bool isWhole(DType dtype); ///< integers and bool
bool isCostly(Op op);      ///< a function of many instructions, better kept than computed twice

/// The coordinates of an operand of a pointwise node: broadcast from the right.
std::vector<Index> operandCoordinates(const TensorNode &node, const TensorNode &operand,
                                      const std::vector<Index> &coordinates);

} // namespace kernelwright::playbook
