// SPDX-License-Identifier: GPL-3.0-or-later
// mov with packing and special registers, cvt, cvta, isspacep.
#include "function_decoder.h"

namespace kernelwright::simt
{

namespace
{

constexpr std::pair<const char *, Rounding> floatRoundings[] = {
    {"rn", Rounding::NearestEven}, {"rz", Rounding::Zero},         {"rm", Rounding::Down},
    {"rp", Rounding::Up},          {"rna", Rounding::NearestAway},
};
constexpr std::pair<const char *, Rounding> wholeRoundings[] = {
    {"rni", Rounding::NearestEven},
    {"rzi", Rounding::Zero},
    {"rmi", Rounding::Down},
    {"rpi", Rounding::Up},
};

Type bitsType(int bytes)
{
    return bytes == 8 ? Type::B64 : bytes == 4 ? Type::B32 : bytes == 2 ? Type::B16 : Type::B8;
}

} // namespace

bool FunctionDecoder::decodeMove(OpcodeWords &words)
{
    if (words.root() == "mov")
        decodeMov(words);
    else if (words.root() == "cvt")
        decodeConvert(words);
    else if (words.root() == "cvta")
        decodeConvertAddress(words);
    else if (words.root() == "isspacep")
        decodeSpaceTest(words);
    else
        return false;
    return true;
}

void FunctionDecoder::decodeMov(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Mov;
    operation.type = words.takeType();
    requireNoRest(words);
    requireOperands(2, 2);
    const Operand &to = statement_->operands[0], &from = statement_->operands[1];
    if (operation.type == Type::None || operation.type == Type::B128) unsupported();
    if (to.kind == Operand::Kind::Vector) return unpack(to, from, operation.type);
    if (from.kind == Operand::Kind::Vector) return pack(to, from, operation.type);
    if (decodeClock(to, from)) return;
    Instruction instruction = start(Kind::Compute, OpClass::Move);
    if (operation.type == Type::Predicate) {
        bool isNegated = false;
        instruction.destination = predicate(to, isNegated);
        instruction.a = predicate(from, instruction.isANegated);
        if (to.kind != Operand::Kind::Register) malformed("the result has to be a register");
    } else {
        instruction.destination = destination(to, operation.type);
        instruction.a = operand(from, operation.type);
    }
    compute(instruction, operation);
}

bool FunctionDecoder::decodeClock(const Operand &to, const Operand &from)
{
    if (from.kind != Operand::Kind::Special) return false;
    const std::string &name = from.symbol;
    if (name != "%clock" && name != "%clock_hi" && name != "%clock64" && !name.starts_with("%globaltimer"))
        return false;
    Instruction instruction = start(Kind::Clock, OpClass::Move);
    const RegisterReference result = anyWidth(to, 4);
    instruction.destination = result.reference;
    // Bit 0: the register has 64 bits; bit 1: its upper half is wanted.
    instruction.details = result.is64Bit | (name.ends_with("_hi") ? 2u : 0u);
    emit(instruction);
    return true;
}

/// Pieces go into a temporary first, since the target may be among the sources.
void FunctionDecoder::pack(const Operand &to, const Operand &pieces, Type type)
{
    const int wholeBytes = typeBytes(type);
    const int count = static_cast<int>(pieces.elements.size());
    if (count < 1 || wholeBytes % count != 0) malformed("packs a wrong number of values");
    Operation operation;
    operation.op = Op::Bfi;
    operation.type = bitsType(wholeBytes);
    operation.source = bitsType(wholeBytes / count);
    const OperandReference target = destination(to, operation.type);
    OperandReference before = context_.constant(0, wholeBytes == 8);
    const OperandReference scratch = temporary(wholeBytes == 8).reference;
    for (int i = 0; i < count; ++i) {
        Instruction instruction = start(Kind::Compute, OpClass::Move);
        instruction.a = operand(pieces.elements[static_cast<std::size_t>(i)], operation.source);
        instruction.b = before;
        instruction.immediate = std::int64_t{8} * (wholeBytes / count) * i;
        instruction.destination = before = i + 1 == count ? target : scratch;
        compute(instruction, operation);
    }
}

void FunctionDecoder::unpack(const Operand &pieces, const Operand &from, Type type)
{
    const int wholeBytes = typeBytes(type);
    const int count = static_cast<int>(pieces.elements.size());
    if (count < 1 || wholeBytes % count != 0) malformed("unpacks a wrong number of values");
    Operation operation;
    operation.op = Op::Shr;
    operation.source = bitsType(wholeBytes);
    operation.type = bitsType(wholeBytes / count);
    const OperandReference whole = operand(from, operation.source);
    for (int i = 0; i < count; ++i) {
        const Operand &piece = pieces.elements[static_cast<std::size_t>(i)];
        if (piece.kind == Operand::Kind::Sink) continue;
        Instruction instruction = start(Kind::Compute, OpClass::Move);
        instruction.a = whole;
        instruction.immediate = std::int64_t{8} * (wholeBytes / count) * i;
        instruction.destination = destination(piece, operation.type);
        compute(instruction, operation);
    }
}

void FunctionDecoder::decodeConvert(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Cvt;
    operation.rounding = words.takeOne(floatRoundings, Rounding::None);
    if (operation.rounding == Rounding::None) {
        operation.rounding = words.takeOne(wholeRoundings, Rounding::None);
        operation.roundsToInteger = operation.rounding != Rounding::None;
    }
    operation.ftz = words.take("ftz");
    operation.saturate = words.take("sat");
    operation.satFinite = words.take("satfinite");
    operation.relu = words.take("relu");
    operation.type = words.takeType();
    operation.source = words.takeType();
    requireNoRest(words);
    if (operation.type == Type::None || operation.source == Type::None) malformed("has no types");
    const auto isPacked = [](Type type) {
        return type == Type::F16x2 || type == Type::BF16x2 || type >= Type::TF32;
    };
    if (isPacked(operation.type) || isPacked(operation.source)) operation.op = Op::PackedCvt;
    requireOperands(2, 3);
    const std::vector<Operand> &operands = statement_->operands;

    Instruction instruction = start(Kind::Compute, OpClass::Conversion);
    RegisterReference source = anyWidth(operands[1], typeBytes(operation.source));
    if (source.is64Bit && typeBytes(operation.source) < 8) {
        // A wide register whose low bits are meant.
        Operation truncate;
        truncate.op = Op::Shr;
        truncate.type = Type::B32;
        truncate.source = Type::B64;
        Instruction cut = start(Kind::Compute, OpClass::Move);
        cut.a = source.reference;
        source = temporary(false);
        cut.destination = source.reference;
        compute(cut, truncate);
    } else if (!source.is64Bit && typeBytes(operation.source) == 8) {
        malformed("a register has the wrong width");
    }
    instruction.a = source.reference;
    if (operands.size() == 3) {
        if (operation.op != Op::PackedCvt || operation.source != Type::F32)
            malformed("has the wrong number of operands");
        instruction.b = operand(operands[2], operation.source);
    } else if (operation.op == Op::PackedCvt && operation.source == Type::F32 &&
               operation.type != Type::TF32) {
        malformed("has the wrong number of operands");
    }
    clampSources(operation, instruction);
    const auto positive = [this](OperandReference halves) {
        Operation maximum;
        maximum.op = Op::Max;
        maximum.type = Type::F16x2;
        maximum.propagatesNan = true;
        return apply(maximum, OpClass::Conversion, halves, context_.constant(0, false));
    };
    if (operation.relu && operation.source == Type::F16x2) {
        instruction.a = positive(instruction.a);
        operation.relu = false;
    } else if (operation.relu && (operation.source == Type::E4M3x2 || operation.source == Type::E5M2x2)) {
        operation.relu = false;
        const OperandReference halves = apply(operation, OpClass::Conversion, instruction.a);
        return moveTo(operands[0], Type::B32, positive(halves));
    }
    if (operation.relu && operation.op == Op::Cvt) unsupported("relu");
    const RegisterReference result = anyWidth(operands[0], typeBytes(operation.type));
    if (operands[0].kind != Operand::Kind::Register) malformed("the result has to be a register");
    const bool isWidened = result.is64Bit && typeBytes(operation.type) < 8;
    if (!result.is64Bit && typeBytes(operation.type) == 8) malformed("a register has the wrong width");
    instruction.destination = isWidened ? temporary(false).reference : result.reference;
    compute(instruction, operation);
    if (!isWidened) return;
    Operation extend;
    extend.op = Op::Cvt;
    extend.type = Type::S64;
    extend.source = isSignedInteger(operation.type) ? Type::S32 : Type::U32;
    Instruction widen = start(Kind::Compute, OpClass::Move);
    widen.a = instruction.destination;
    widen.destination = result.reference;
    compute(widen, extend);
}

void FunctionDecoder::decodeConvertAddress(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Cvta;
    const bool isTo = words.take("to");
    const auto space = words.takeSpace();
    operation.type = words.takeType();
    requireNoRest(words);
    requireOperands(2, 2);
    if (!space || typeBytes(operation.type) < 4) malformed("names no state space or type");
    Instruction instruction = start(Kind::Compute, OpClass::Move);
    instruction.destination = destination(statement_->operands[0], operation.type);
    instruction.a = operand(statement_->operands[1], operation.type);
    const std::uint64_t window = *space == Space::Shared  ? sharedWindow
                                 : *space == Space::Local ? localWindow
                                                          : std::uint64_t{0};
    instruction.immediate = static_cast<std::int64_t>(isTo ? -window : window);
    compute(instruction, operation);
}

void FunctionDecoder::decodeSpaceTest(OpcodeWords &words)
{
    Operation operation;
    operation.op = Op::Isspacep;
    const auto space = words.takeSpace();
    requireNoRest(words);
    requireOperands(2, 2);
    if (!space || *space == Space::Constant || *space == Space::Parameter) unsupported();
    Instruction instruction = start(Kind::Compute, OpClass::Compare);
    bool isNegated = false;
    instruction.destination = predicate(statement_->operands[0], isNegated);
    const RegisterReference address = anyWidth(statement_->operands[1], 8);
    operation.type = address.is64Bit ? Type::B64 : Type::B32;
    instruction.a = address.reference;
    instruction.immediate = static_cast<std::int64_t>(*space == Space::Shared  ? sharedWindow
                                                      : *space == Space::Local ? localWindow
                                                                               : std::uint64_t{0});
    compute(instruction, operation);
}

} // namespace kernelwright::simt
