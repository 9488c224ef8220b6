// SPDX-License-Identifier: GPL-3.0-or-later
// Activations, by the formulas of PyTorch's documentation.
#include "translator.h"

#include <cmath>

namespace kernelwright::playbook
{

namespace
{

// x, floating, as an activation takes it.
TensorId activationInput(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const char *name = t.argument(node, "self") ? "self" : "input";
    return t.convert(t.tensor(node, name), type);
}

TensorId scalar(Translator &t, TensorId like, double value)
{
    return isWhole(t.at(like).dtype) ? t.whole(static_cast<std::int64_t>(value), t.at(like).dtype)
                                     : t.literal(value, t.at(like).dtype);
}

void silu(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    t.define(node, 0, t.binary(Op::Multiply, x, t.unary(Op::Sigmoid, x)));
}

void gelu(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    const TensorId half = t.binary(Op::Multiply, scalar(t, x, 0.5), x);
    TensorId inner;
    if (t.text(node, "approximate") == "tanh") {
        const TensorId cube = t.binary(Op::Multiply, t.square(x), x);
        const TensorId bent = t.binary(Op::Add, x, t.binary(Op::Multiply, scalar(t, x, 0.044715), cube));
        inner = t.unary(Op::Tanh, t.binary(Op::Multiply, scalar(t, x, std::sqrt(2 / M_PI)), bent));
    } else {
        inner = t.unary(Op::Erf, t.binary(Op::Multiply, x, scalar(t, x, M_SQRT1_2)));
    }
    t.define(node, 0, t.binary(Op::Multiply, half, t.binary(Op::Add, scalar(t, x, 1), inner)));
}

// Where x is NaN every comparison is false: the operand that carries it stands in the branch taken then.
void relu(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    t.define(node, 0, t.select(t.binary(Op::LessEqual, x, scalar(t, x, 0)), scalar(t, x, 0), x));
}

void leakyRelu(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    const TensorId slope = scalar(t, x, t.number(node, "negative_slope", 0.01));
    t.define(node, 0,
             t.select(t.binary(Op::Greater, x, scalar(t, x, 0)), x, t.binary(Op::Multiply, x, slope)));
}

TensorId eluOf(Translator &t, TensorId x, double alpha, double scale, double inputScale)
{
    const TensorId bent = t.binary(
        Op::Multiply, scalar(t, x, alpha * scale),
        t.unary(Op::Expm1, inputScale == 1 ? x : t.binary(Op::Multiply, x, scalar(t, x, inputScale))));
    const TensorId straight = scale == 1 ? x : t.binary(Op::Multiply, x, scalar(t, x, scale));
    return t.select(t.binary(Op::LessEqual, x, scalar(t, x, 0)), bent, straight);
}

void elu(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    if (node.op == "aten::selu")
        return t.define(node, 0,
                        eluOf(t, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1));
    if (node.op == "aten::celu") {
        const double alpha = t.number(node, "alpha", 1);
        return t.define(node, 0, eluOf(t, x, alpha, 1, 1 / alpha));
    }
    t.define(node, 0,
             eluOf(t, x, t.number(node, "alpha", 1), t.number(node, "scale", 1),
                   t.number(node, "input_scale", 1)));
}

TensorId softplusOf(Translator &t, TensorId x, double beta, double threshold)
{
    const TensorId scaled = beta == 1 ? x : t.binary(Op::Multiply, x, scalar(t, x, beta));
    TensorId soft = t.unary(Op::Log1p, t.unary(Op::Exp, scaled));
    if (beta != 1) soft = t.binary(Op::Divide, soft, scalar(t, x, beta));
    return t.select(t.binary(Op::Greater, scaled, scalar(t, x, threshold)), x, soft);
}

void softplus(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    t.define(node, 0, softplusOf(t, x, t.number(node, "beta", 1), t.number(node, "threshold", 20)));
}

void mish(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    t.define(node, 0, t.binary(Op::Multiply, x, t.unary(Op::Tanh, softplusOf(t, x, 1, 20))));
}

void logSigmoid(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node); // min(x, 0) - log1p(exp(-|x|))
    const TensorId tail = t.unary(Op::Log1p, t.unary(Op::Exp, t.unary(Op::Negate, t.unary(Op::Absolute, x))));
    t.define(node, 0, t.binary(Op::Subtract, t.binary(Op::Minimum, scalar(t, x, 0), x), tail));
}

TensorId between(Translator &t, TensorId x, double low, double high)
{
    return t.binary(Op::Minimum, t.binary(Op::Maximum, x, scalar(t, x, low)), scalar(t, x, high));
}

void hardSwish(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    const TensorId gate = between(t, t.binary(Op::Add, x, scalar(t, x, 3)), 0, 6);
    t.define(node, 0, t.binary(Op::Divide, t.binary(Op::Multiply, x, gate), scalar(t, x, 6)));
}

void hardSigmoid(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    const TensorId gate = between(t, t.binary(Op::Add, x, scalar(t, x, 3)), 0, 6);
    t.define(node, 0, t.binary(Op::Divide, gate, scalar(t, x, 6)));
}

void hardTanh(Translator &t, const Node &node)
{
    const TensorId x = activationInput(t, node);
    const bool isRelu6 = node.op == "aten::relu6";
    t.define(node, 0,
             between(t, x, isRelu6 ? 0 : t.number(node, "min_val", -1),
                     isRelu6 ? 6 : t.number(node, "max_val", 1)));
}

} // namespace

const Rules &activationRules()
{
    static const Rules rules = {
        {"aten::silu", silu},
        {"aten::gelu", gelu},
        {"aten::relu", relu},
        {"aten::leaky_relu", leakyRelu},
        {"aten::elu", elu},
        {"aten::selu", elu},
        {"aten::celu", elu},
        {"aten::softplus", softplus},
        {"aten::mish", mish},
        {"aten::log_sigmoid", logSigmoid},
        {"aten::hardswish", hardSwish},
        {"aten::hardsigmoid", hardSigmoid},
        {"aten::hardtanh", hardTanh},
        {"aten::relu6", hardTanh},
    };
    return rules;
}

} // namespace kernelwright::playbook
