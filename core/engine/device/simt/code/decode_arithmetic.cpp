// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic, logic, bit fields and special functions.
#include "function_decoder.h"

namespace kernelwright::simt
{

namespace
{

struct RootRow
{
    const char *name;
    Op op;
    std::size_t sources;
};

constexpr RootRow roots[] = {
    {"add", Op::Add, 2},     {"sub", Op::Sub, 2},           {"mul", Op::Mul, 2},     {"mad", Op::Mad, 3},
    {"addc", Op::Add, 2},    {"subc", Op::Sub, 2},          {"madc", Op::Mad, 3},    {"div", Op::Div, 2},
    {"rem", Op::Rem, 2},     {"abs", Op::Abs, 1},           {"neg", Op::Neg, 1},     {"min", Op::Min, 2},
    {"max", Op::Max, 2},     {"sad", Op::Sad, 3},           {"popc", Op::Popc, 1},   {"clz", Op::Clz, 1},
    {"bfind", Op::Bfind, 1}, {"bfe", Op::Bfe, 3},           {"bfi", Op::Bfi, 4},     {"brev", Op::Brev, 1},
    {"dp4a", Op::Dp4a, 3},   {"and", Op::And, 2},           {"or", Op::Or, 2},       {"xor", Op::Xor, 2},
    {"not", Op::Not, 1},     {"cnot", Op::Cnot, 1},         {"lop3", Op::Lop3, 3},   {"shl", Op::Shl, 2},
    {"shr", Op::Shr, 2},     {"shf", Op::Shf, 3},           {"prmt", Op::Prmt, 3},   {"fma", Op::Fma, 3},
    {"rcp", Op::Rcp, 1},     {"sqrt", Op::Sqrt, 1},         {"rsqrt", Op::Rsqrt, 1}, {"ex2", Op::Ex2, 1},
    {"lg2", Op::Lg2, 1},     {"sin", Op::Sin, 1},           {"cos", Op::Cos, 1},     {"tanh", Op::Tanh, 1},
    {"testp", Op::Testp, 1}, {"copysign", Op::Copysign, 2},
};

const RootRow *findRoot(const std::string &name)
{
    for (const RootRow &row : roots)
        if (name == row.name) return &row;
    return nullptr;
}

constexpr std::pair<const char *, Rounding> roundings[] = {
    {"rn", Rounding::NearestEven},
    {"rz", Rounding::Zero},
    {"rm", Rounding::Down},
    {"rp", Rounding::Up},
};
constexpr std::pair<const char *, Part> parts[] = {
    {"lo", Part::Low}, {"hi", Part::High}, {"wide", Part::Wide}};
constexpr std::pair<const char *, PermuteMode> permutes[] = {
    {"f4e", PermuteMode::F4e}, {"b4e", PermuteMode::B4e}, {"rc8", PermuteMode::Rc8},
    {"ecl", PermuteMode::Ecl}, {"ecr", PermuteMode::Ecr}, {"rc16", PermuteMode::Rc16},
};
constexpr std::pair<const char *, FloatClass> floatClasses[] = {
    {"finite", FloatClass::Finite}, {"infinite", FloatClass::Infinite},
    {"number", FloatClass::Number}, {"notanumber", FloatClass::NotNumber},
    {"normal", FloatClass::Normal}, {"subnormal", FloatClass::Subnormal},
};

bool isSpecialFunction(Op op)
{
    return op == Op::Rsqrt || op == Op::Ex2 || op == Op::Lg2 || op == Op::Sin || op == Op::Cos ||
           op == Op::Tanh;
}

} // namespace

void FunctionDecoder::readFlags(OpcodeWords &words, Operation &operation) const
{
    operation.rounding = words.takeOne(roundings, Rounding::None);
    operation.ftz = words.take("ftz");
    operation.saturate = words.take("sat");
    operation.relu = words.take("relu");
    operation.propagatesNan = words.take("NaN");
    operation.approximate = words.take("approx") || words.take("full");
    if (operation.op == Op::Min || operation.op == Op::Max) {
        operation.xorSign = words.take("xorsign");
        if (operation.xorSign && !words.take("abs")) unsupported("xorsign without abs");
    }
    if (operation.op == Op::Mul || operation.op == Op::Mad) operation.part = words.takeOne(parts, Part::None);
    if (operation.op == Op::Testp) operation.floatClass = words.takeOne(floatClasses, FloatClass::None);
    if (operation.op == Op::Bfind) operation.shiftAmount = words.take("shiftamt");
    if (operation.op == Op::Shf) {
        operation.left = words.take("l");
        if (!operation.left && !words.take("r")) unsupported("a direction is missing");
        operation.wrap = words.take("wrap");
        words.take("clamp");
    }
}

OpClass FunctionDecoder::classOf(const Operation &operation) const
{
    if (isSpecialFunction(operation.op) || operation.approximate) return OpClass::Special;
    switch (operation.type) {
    case Type::F64:
        return OpClass::Float64;
    case Type::F32:
        return operation.op == Op::Div || operation.op == Op::Rcp || operation.op == Op::Sqrt
                   ? OpClass::Special
                   : OpClass::Float32;
    case Type::F16:
    case Type::F16x2:
    case Type::BF16:
    case Type::BF16x2:
        return OpClass::Half;
    default:
        break;
    }
    switch (operation.op) {
    case Op::Mul:
    case Op::Mad:
    case Op::Dp4a:
        return OpClass::IntegerMultiply;
    case Op::Div:
    case Op::Rem:
    case Op::Popc:
    case Op::Clz:
    case Op::Bfind:
    case Op::Brev:
        return OpClass::Special;
    default:
        return OpClass::Integer;
    }
}

bool FunctionDecoder::decodeArithmetic(OpcodeWords &words)
{
    const RootRow *row = findRoot(words.root());
    if (!row) return false;
    Operation operation;
    operation.op = row->op;
    readFlags(words, operation);
    const bool takesCarry = words.root() == "addc" || words.root() == "subc" || words.root() == "madc";
    const bool givesCarry = words.take("cc");
    operation.carry = takesCarry   ? (givesCarry ? Carry::InOut : Carry::In)
                      : givesCarry ? Carry::Out
                                   : Carry::None;
    operation.type = words.takeType();
    if (operation.type == Type::None) malformed("has no type");
    if (operation.op == Op::Dp4a) operation.source = words.takeType();
    if (operation.op == Op::Prmt) operation.permute = words.takeOne(permutes, PermuteMode::Default);
    // What has only an approximate form is spelled with or without the word.
    if (operation.op == Op::Tanh || operation.op == Op::Ex2) operation.approximate = true;
    requireNoRest(words);
    const bool isLop3 = operation.op == Op::Lop3;
    requireOperands(row->sources + 1 + isLop3, row->sources + 1 + isLop3);
    emitArithmetic(operation, classOf(operation));
    return true;
}

void FunctionDecoder::emitArithmetic(const Operation &operation, OpClass opClass)
{
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Compute, opClass);
    if (operation.type == Type::Predicate) {
        bool isNegated = false;
        instruction.destination = predicate(operands[0], isNegated);
        instruction.a = predicate(operands[1], instruction.isANegated);
        if (operands.size() > 2) instruction.b = predicate(operands[2], instruction.isBNegated);
        return compute(instruction, operation);
    }
    const Op op = operation.op;
    const bool isWide = operation.part == Part::Wide;
    const Type wideType = typeBytes(operation.type) == 4 ? Type::B64 : Type::B32;
    const bool isCount = op == Op::Popc || op == Op::Clz || op == Op::Bfind;
    if (op == Op::Testp) {
        bool isNegated = false;
        instruction.destination = predicate(operands[0], isNegated);
    } else {
        instruction.destination = destination(operands[0], isWide    ? wideType
                                                           : isCount ? Type::U32
                                                                     : operation.type);
    }
    const bool hasAmount = op == Op::Shl || op == Op::Shr || op == Op::Bfe;
    instruction.a = operand(operands[1], operation.type);
    if (operands.size() > 2) instruction.b = operand(operands[2], hasAmount ? Type::U32 : operation.type);
    if (operands.size() > 3)
        instruction.c = operand(operands[3], isWide                       ? wideType
                                             : hasAmount || op == Op::Bfi ? Type::U32
                                                                          : operation.type);
    if (op == Op::Bfi) instruction.d = operand(operands[4], Type::U32);
    if (op == Op::Lop3) {
        if (operands[4].kind != Operand::Kind::Integer) malformed("the lookup table has to be a number");
        instruction.immediate = static_cast<std::int64_t>(operands[4].bits & 0xff);
    }
    if (operation.carry == Carry::Out || operation.carry == Carry::InOut)
        instruction.secondDestination = carry_;
    if (operation.carry == Carry::In || operation.carry == Carry::InOut) instruction.d = carry_;
    compute(instruction, operation);
}

} // namespace kernelwright::simt
