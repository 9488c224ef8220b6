// SPDX-License-Identifier: GPL-3.0-or-later
// Rewrites that save operations without giving up precision. Each holds for every input, infinities and NaN
// included.
#include "kernel_source.h"

#include <cmath>

namespace kernelwright::playbook
{

namespace
{

class Simplifier
{
public:
    explicit Simplifier(const TensorProgram &from)
        : from_(from)
    {
        to_.derivedSizes = from.derivedSizes;
    }

    TensorProgram run()
    {
        std::map<TensorId, TensorId> moved;
        for (const TensorId id : from_.reachable()) {
            TensorNode node = from_.node(id);
            for (TensorId &operand : node.operands)
                operand = moved.at(operand);
            const std::string name = node.name;
            const TensorId rewritten = rewrite(node);
            moved[id] = rewritten;
            to_.setName(rewritten, name);
        }
        for (const TensorId output : from_.outputs)
            to_.outputs.push_back(moved.at(output));
        return std::move(to_);
    }
    int changes() const { return changes_; }

private:
    const TensorNode &at(TensorId id) const { return to_.node(id); }
    bool isNumber(TensorId id, double value) const
    {
        return at(id).op == Op::Literal && !isWhole(at(id).dtype) && at(id).number == value;
    }

    TensorId number(double value, DType dtype)
    {
        TensorNode node;
        node.op = Op::Literal;
        node.dtype = dtype;
        node.number = value;
        return to_.add(node);
    }

    TensorId apply(Op op, std::vector<TensorId> operands, const TensorNode &like)
    {
        TensorNode node;
        node.op = op;
        node.dtype = like.dtype;
        node.extents = like.extents;
        node.operands = std::move(operands);
        return to_.add(node);
    }

    TensorId rewrite(const TensorNode &node)
    {
        const TensorId result = tryRewrite(node);
        if (result >= 0) {
            ++changes_;
            return result;
        }
        return to_.add(node);
    }

    TensorId tryRewrite(const TensorNode &node)
    {
        switch (node.op) {
        case Op::Tanh:
            return tanhOfSoftplus(node);
        case Op::Add:
            return onePlusTanh(node);
        case Op::Divide:
            return divisionByNumber(node);
        case Op::Multiply:
            return multiplicationByOne(node);
        default:
            return -1;
        }
    }

    // select(x > threshold, x, log1p(exp(x))): softplus as the translation writes it.
    TensorId softplusInput(TensorId id) const
    {
        const TensorNode &select = at(id);
        if (select.op != Op::Select) return -1;
        const TensorId x = select.operands[1];
        const TensorNode &condition = at(select.operands[0]), &soft = at(select.operands[2]);
        const bool isCondition = condition.op == Op::Greater && condition.operands[0] == x &&
                                 at(condition.operands[1]).op == Op::Literal &&
                                 at(condition.operands[1]).number >= 20;
        const bool isSoft = soft.op == Op::Log1p && at(soft.operands[0]).op == Op::Exp &&
                            at(soft.operands[0]).operands[0] == x;
        return isCondition && isSoft ? x : -1;
    }

    // tanh(softplus(x)) needs one exponential and one quotient instead of two exponentials, a logarithm and a
    // quotient.
    TensorId tanhOfSoftplus(const TensorNode &node)
    {
        const TensorId x = softplusInput(node.operands[0]);
        return x < 0 ? -1 : apply(Op::TanhSoftplus, {x}, node);
    }

    // 1 + tanh(u) = 2 sigmoid(2u): one exponential, and no cancellation for negative u.
    TensorId onePlusTanh(const TensorNode &node)
    {
        for (const int tanhAt : {0, 1}) {
            const TensorId tanh = node.operands[static_cast<std::size_t>(tanhAt)];
            const TensorId one = node.operands[static_cast<std::size_t>(1 - tanhAt)];
            if (at(tanh).op != Op::Tanh || !isNumber(one, 1)) continue;
            const TensorId two = number(2, node.dtype);
            const TensorNode like = at(tanh);
            const TensorId doubled = apply(Op::Multiply, {two, like.operands[0]}, like);
            return apply(Op::Multiply, {two, apply(Op::Sigmoid, {doubled}, like)}, node);
        }
        return -1;
    }

    // Dividing by a power of two is multiplying by another, without any rounding.
    TensorId divisionByNumber(const TensorNode &node)
    {
        const TensorNode &divisor = at(node.operands[1]);
        if (divisor.op != Op::Literal || isWhole(node.dtype) || divisor.number == 0) return -1;
        int exponent = 0;
        const double mantissa = std::frexp(divisor.number, &exponent);
        if (std::fabs(mantissa) != 0.5 || std::abs(exponent) > 60) return -1;
        return apply(Op::Multiply, {node.operands[0], number(1 / divisor.number, node.dtype)}, node);
    }

    TensorId multiplicationByOne(const TensorNode &node)
    {
        for (const std::size_t oneAt : {std::size_t{0}, std::size_t{1}}) {
            const TensorId other = node.operands[1 - oneAt];
            if (isNumber(node.operands[oneAt], 1) && at(other).extents == node.extents) return other;
        }
        return -1;
    }

    const TensorProgram &from_;
    TensorProgram to_;
    int changes_ = 0;
};

} // namespace

TensorProgram simplified(const TensorProgram &program)
{
    return Simplifier(program).run();
}

bool canSimplify(const TensorProgram &program)
{
    Simplifier simplifier(program);
    simplifier.run();
    return simplifier.changes() > 0;
}

} // namespace kernelwright::playbook
