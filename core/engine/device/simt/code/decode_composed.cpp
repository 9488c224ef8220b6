// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions that are made of simpler ones, and those found by their whole spelling.
#include "function_decoder.h"
#include "rare_functions.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

Operation plain(Op op, Type type, Type source = Type::None)
{
    Operation operation;
    operation.op = op;
    operation.type = type;
    operation.source = source;
    return operation;
}

} // namespace

/// Emits an operation whose result goes into a register of its own.
OperandReference FunctionDecoder::apply(const Operation &operation, OpClass opClass, OperandReference a,
                                        OperandReference b, OperandReference c)
{
    Instruction instruction = start(Kind::Compute, opClass);
    instruction.destination = temporary(typeBytes(operation.type) == 8).reference;
    instruction.a = a;
    instruction.b = b;
    instruction.c = c;
    compute(instruction, operation);
    return instruction.destination;
}

void FunctionDecoder::moveTo(const Operand &to, Type type, OperandReference from)
{
    Instruction instruction = start(Kind::Compute, OpClass::Move);
    instruction.destination = destination(to, type);
    instruction.a = from;
    compute(instruction, plain(Op::Mov, typeBytes(type) == 8 ? Type::B64 : Type::B32));
}

bool FunctionDecoder::decodeRare()
{
    const RareFunction *function = findRareFunction(statement_->opcode());
    if (!function) return false;
    requireOperands(static_cast<std::size_t>(function->sourceCount) + 1,
                    static_cast<std::size_t>(function->sourceCount) + 1);
    Instruction instruction = start(Kind::Compute, OpClass::Integer);
    if (statement_->words[0] == "cvt") instruction.opClass = OpClass::Conversion;
    instruction.compute = function->compute;
    instruction.destination = destination(statement_->operands[0], function->result);
    OperandReference *const sources[] = {&instruction.a, &instruction.b, &instruction.c, &instruction.d};
    for (int i = 0; i < function->sourceCount; ++i)
        *sources[i] = operand(statement_->operands[static_cast<std::size_t>(i) + 1], function->sources[i]);
    emit(instruction);
    return true;
}

bool FunctionDecoder::decodeComposed(OpcodeWords &words)
{
    if (decodeRare()) return true;
    const std::string &root = words.root();
    const auto has = [&](const char *word) {
        const auto &all = statement_->words;
        return std::find(all.begin(), all.end(), word) != all.end();
    };
    const std::size_t count = statement_->operands.size();
    if ((root == "min" || root == "max") && count == 4 && has("f32"))
        decodeThreeExtremes(words);
    else if (root == "lop3" && (has("or") || has("and")))
        decodeLogicWithPredicate(words);
    else if (has("f32x2"))
        decodeSinglePair(words);
    else if ((root == "add" || root == "sub" || root == "fma") && has("f32") && (has("f16") || has("bf16")))
        decodeMixedPrecision(words);
    else if (root == "createpolicy")
        moveTo(statement_->operands.at(0), Type::B64, context_.constant(0, true));
    else
        return false;
    return true;
}

/// min and max of three: of the first two, then of that and the third.
void FunctionDecoder::decodeThreeExtremes(OpcodeWords &words)
{
    Operation operation = plain(words.root() == "min" ? Op::Min : Op::Max, Type::F32);
    operation.ftz = words.take("ftz");
    operation.propagatesNan = words.take("NaN");
    const bool isAbsolute = words.take("abs");
    words.take("f32");
    requireNoRest(words);
    OperandReference sources[3];
    for (std::size_t i = 0; i < 3; ++i) {
        sources[i] = operand(statement_->operands[i + 1], Type::F32);
        if (isAbsolute) sources[i] = apply(plain(Op::Abs, Type::F32), OpClass::Float32, sources[i]);
    }
    const OperandReference first = apply(operation, OpClass::Float32, sources[0], sources[1]);
    moveTo(statement_->operands[0], Type::F32, apply(operation, OpClass::Float32, first, sources[2]));
}

/// "lop3.or.b32 d|p, a, b, c, table, q": p = (d != 0) or q.
void FunctionDecoder::decodeLogicWithPredicate(OpcodeWords &words)
{
    const Combine combine = words.take("or") ? Combine::Or : Combine::And;
    words.take("and");
    words.take("b32");
    requireNoRest(words);
    requireOperands(6, 6);
    const auto &operands = statement_->operands;
    if (!operands[0].isPair) malformed("has two results");
    if (operands[4].kind != Operand::Kind::Integer) malformed("the lookup table has to be a number");
    Instruction logic = start(Kind::Compute, OpClass::Integer);
    logic.destination = temporary(false).reference;
    logic.a = operand(operands[1], Type::B32);
    logic.b = operand(operands[2], Type::B32);
    logic.c = operand(operands[3], Type::B32);
    logic.immediate = static_cast<std::int64_t>(operands[4].bits & 0xff);
    compute(logic, plain(Op::Lop3, Type::B32));
    Operation test = plain(Op::Setp, Type::Predicate, Type::U32);
    test.compare = Compare::Ne;
    test.combine = combine;
    Instruction instruction = start(Kind::Compute, OpClass::Compare);
    bool isNegated = false;
    instruction.destination = predicate(operands[0].elements[1], isNegated);
    instruction.a = logic.destination;
    instruction.b = context_.constant(0, false);
    instruction.d = predicate(operands[5], instruction.isDNegated);
    compute(instruction, test);
    if (operands[0].elements[0].kind != Operand::Kind::Sink)
        moveTo(operands[0].elements[0], Type::B32, logic.destination);
}

/// Two single-precision numbers in one 64-bit register: each half by itself.
void FunctionDecoder::decodeSinglePair(OpcodeWords &words)
{
    static constexpr std::pair<const char *, Op> ops[] = {
        {"add", Op::Add}, {"sub", Op::Sub}, {"mul", Op::Mul}, {"fma", Op::Fma}};
    static constexpr std::pair<const char *, Rounding> roundings[] = {
        {"rn", Rounding::NearestEven}, {"rz", Rounding::Zero}, {"rm", Rounding::Down}, {"rp", Rounding::Up}};
    Operation operation = plain(Op::None, Type::F32);
    for (const auto &[name, op] : ops)
        if (words.root() == name) operation.op = op;
    if (operation.op == Op::None) unsupported();
    operation.rounding = words.takeOne(roundings, Rounding::None);
    operation.ftz = words.take("ftz");
    words.take("f32x2");
    requireNoRest(words);
    const std::size_t sources = operation.op == Op::Fma ? 3 : 2;
    requireOperands(sources + 1, sources + 1);
    OperandReference halves[2][3] = {{noOperand, noOperand, noOperand}, {noOperand, noOperand, noOperand}};
    for (std::size_t i = 0; i < sources; ++i) {
        const OperandReference whole = operand(statement_->operands[i + 1], Type::B64);
        for (int half = 0; half < 2; ++half) {
            Instruction extract = start(Kind::Compute, OpClass::Move);
            extract.destination = halves[half][i] = temporary(false).reference;
            extract.a = whole;
            extract.immediate = 32 * half;
            compute(extract, plain(Op::Shr, Type::B32, Type::B64));
        }
    }
    OperandReference packed = context_.constant(0, true);
    for (int half = 0; half < 2; ++half) {
        Instruction insert = start(Kind::Compute, OpClass::Move);
        insert.a = apply(operation, OpClass::Float32, halves[half][0], halves[half][1], halves[half][2]);
        insert.b = packed;
        insert.immediate = 32 * half;
        insert.destination = packed = temporary(true).reference;
        compute(insert, plain(Op::Bfi, Type::B64, Type::B32));
    }
    moveTo(statement_->operands[0], Type::B64, packed);
}

/// "add.f32.f16 d, a, c", "fma.rn.f32.bf16 d, a, b, c": the factors widened, which is exact.
void FunctionDecoder::decodeMixedPrecision(OpcodeWords &words)
{
    static constexpr std::pair<const char *, Rounding> roundings[] = {
        {"rn", Rounding::NearestEven}, {"rz", Rounding::Zero}, {"rm", Rounding::Down}, {"rp", Rounding::Up}};
    Operation operation = plain(words.root() == "add"   ? Op::Add
                                : words.root() == "sub" ? Op::Sub
                                                        : Op::Fma,
                                Type::F32);
    operation.rounding = words.takeOne(roundings, Rounding::None);
    operation.saturate = words.take("sat");
    words.take("f32");
    const Type narrow = words.takeType();
    requireNoRest(words);
    const std::size_t sources = operation.op == Op::Fma ? 3 : 2;
    requireOperands(sources + 1, sources + 1);
    OperandReference values[3] = {noOperand, noOperand, noOperand};
    for (std::size_t i = 0; i < sources; ++i) {
        const bool isNarrow = i + 1 < sources;
        values[i] = operand(statement_->operands[i + 1], isNarrow ? narrow : Type::F32);
        if (isNarrow) values[i] = apply(plain(Op::Cvt, Type::F32, narrow), OpClass::Conversion, values[i]);
    }
    moveTo(statement_->operands[0], Type::F32,
           apply(operation, OpClass::Float32, values[0], values[1], values[2]));
}

/// Conversions with .relu and .satfinite for which there is no function of their own: the sources are clamped
/// first, which gives what clamping the result would.
void FunctionDecoder::clampSources(Operation &operation, Instruction &instruction)
{
    const bool isHalf = operation.type == Type::F16 || operation.type == Type::F16x2;
    const bool isBFloat = operation.type == Type::BF16 || operation.type == Type::BF16x2;
    if (operation.source != Type::F32) return;
    Operation least = plain(Op::Max, Type::F32), most = plain(Op::Min, Type::F32);
    least.propagatesNan = most.propagatesNan = true;
    const auto clamp = [&](const Operation &extreme, std::uint32_t bound) {
        const OperandReference limit = context_.constant(bound, false);
        instruction.a = apply(extreme, OpClass::Conversion, instruction.a, limit);
        if (instruction.b != noOperand)
            instruction.b = apply(extreme, OpClass::Conversion, instruction.b, limit);
    };
    if (operation.satFinite && (isHalf || isBFloat)) {
        const std::uint32_t largest = isHalf ? 0x477fe000u : 0x7f7f0000u;
        clamp(most, largest);
        clamp(least, largest | 0x80000000u);
        operation.satFinite = false;
    }
    const bool hasOwnRelu = operation.op == Op::PackedCvt && (isHalf || isBFloat);
    if (operation.relu && !hasOwnRelu) {
        clamp(least, 0);
        operation.relu = false;
    }
}

} // namespace kernelwright::simt
