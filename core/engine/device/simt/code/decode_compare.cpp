// SPDX-License-Identifier: GPL-3.0-or-later
#include "function_decoder.h"

namespace kernelwright::simt
{

namespace
{

constexpr std::pair<const char *, Compare> comparisons[] = {
    {"eq", Compare::Eq},      {"ne", Compare::Ne},         {"lt", Compare::Lt},   {"le", Compare::Le},
    {"gt", Compare::Gt},      {"ge", Compare::Ge},         {"lo", Compare::Lt},   {"ls", Compare::Le},
    {"hi", Compare::Gt},      {"hs", Compare::Ge},         {"equ", Compare::Equ}, {"neu", Compare::Neu},
    {"ltu", Compare::Ltu},    {"leu", Compare::Leu},       {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
    {"num", Compare::Number}, {"nan", Compare::NotNumber},
};
constexpr std::pair<const char *, Combine> combines[] = {
    {"and", Combine::And},
    {"or", Combine::Or},
    {"xor", Combine::Xor},
};

/// The bits that `set` writes for true, by result type.
std::int64_t trueBits(Type type)
{
    switch (type) {
    case Type::F32:
        return 0x3f800000;
    case Type::F16:
    case Type::F16x2:
        return 0x3c00;
    case Type::BF16:
    case Type::BF16x2:
        return 0x3f80;
    case Type::U16:
    case Type::S16:
        return 0xffff;
    default:
        return 0xffffffff;
    }
}

} // namespace

bool FunctionDecoder::decodeCompare(OpcodeWords &words)
{
    if (words.root() == "setp")
        decodeSetp(words);
    else if (words.root() == "set")
        decodeSet(words);
    else if (words.root() == "selp" || words.root() == "slct")
        decodeSelect(words);
    else
        return false;
    return true;
}

void FunctionDecoder::readComparison(OpcodeWords &words, Operation &operation) const
{
    operation.compare = words.takeOne(comparisons, Compare::None);
    if (operation.compare == Compare::None) malformed("has no comparison");
    operation.combine = words.takeOne(combines, Combine::None);
    operation.ftz = words.take("ftz");
}

void FunctionDecoder::readCombine(Instruction &instruction, const Operation &operation,
                                  std::size_t index) const
{
    const bool isCombined = operation.combine != Combine::None;
    requireOperands(index + isCombined, index + isCombined);
    if (isCombined) instruction.d = predicate(statement_->operands[index], instruction.isDNegated);
}

void FunctionDecoder::decodeSetp(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Setp;
    readComparison(words, operation);
    operation.source = words.takeType();
    requireNoRest(words);
    Instruction instruction = start(Kind::Compute, OpClass::Compare);
    readCombine(instruction, operation, 3);
    const std::vector<Operand> &operands = statement_->operands;
    bool isNegated = false;
    const bool isPair = operands[0].isPair;
    const Operand &first = isPair ? operands[0].elements[0] : operands[0];
    if (first.kind != Operand::Kind::Sink) instruction.destination = predicate(first, isNegated);
    if (isPair && operands[0].elements[1].kind != Operand::Kind::Sink)
        instruction.secondDestination = predicate(operands[0].elements[1], isNegated);
    instruction.a = operand(operands[1], operation.source);
    instruction.b = operand(operands[2], operation.source);
    compute(instruction, operation);
}

void FunctionDecoder::decodeSet(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Set;
    readComparison(words, operation);
    operation.type = words.takeType();
    operation.source = words.takeType();
    requireNoRest(words);
    Instruction instruction = start(Kind::Compute, OpClass::Compare);
    readCombine(instruction, operation, 3);
    const bool isPacked = operation.source == Type::F16x2 || operation.source == Type::BF16x2;
    instruction.immediate = isPacked && typeBytes(operation.type) == 4 && !isFloatingType(operation.type)
                                ? 0xffff
                                : trueBits(operation.type);
    instruction.destination = destination(statement_->operands[0], operation.type);
    instruction.a = operand(statement_->operands[1], operation.source);
    instruction.b = operand(statement_->operands[2], operation.source);
    compute(instruction, operation);
}

void FunctionDecoder::decodeSelect(OpcodeWords &words)
{
    Operation operation;
    const bool isSlct = words.root() == "slct";
    operation.op = isSlct ? Op::Slct : Op::Selp;
    words.take("ftz");
    operation.type = words.takeType();
    if (isSlct) operation.source = words.takeType();
    requireNoRest(words);
    if (typeBytes(operation.type) < 2) malformed("has no type");
    requireOperands(4, 4);
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Compute, OpClass::Compare);
    instruction.destination = destination(operands[0], operation.type);
    instruction.a = operand(operands[1], operation.type);
    instruction.b = operand(operands[2], operation.type);
    if (isSlct)
        instruction.c = operand(operands[3], operation.source);
    else
        instruction.d = predicate(operands[3], instruction.isDNegated);
    compute(instruction, operation);
}

} // namespace kernelwright::simt
