// SPDX-License-Identifier: GPL-3.0-or-later
// Operations among the lanes of a warp.
#include "function_decoder.h"

namespace kernelwright::simt
{

bool FunctionDecoder::decodeWarpOperation(OpcodeWords &words)
{
    const std::string &root = words.root();
    if (root == "shfl") {
        decodeShuffle(words);
    } else if (root == "vote") {
        decodeVote(words);
    } else if (root == "match") {
        decodeMatch(words);
    } else if (root == "redux") {
        decodeReduce(words);
    } else if (root == "activemask") {
        words.takeType();
        requireNoRest(words);
        requireOperands(1, 1);
        Instruction instruction = start(Kind::ActiveMask, OpClass::Warp);
        instruction.destination = destination(statement_->operands[0], Type::B32);
        emit(instruction);
    } else if (root == "elect") {
        if (!words.take("sync")) unsupported();
        requireNoRest(words);
        requireOperands(2, 2);
        const Operand &pair = statement_->operands[0];
        if (!pair.isPair) malformed("has two results");
        Instruction instruction = start(Kind::Elect, OpClass::Warp);
        bool isNegated = false;
        instruction.destination = destination(pair.elements[0], Type::B32);
        instruction.secondDestination = predicate(pair.elements[1], isNegated);
        instruction.c = operand(statement_->operands[1], Type::B32);
        emit(instruction);
    } else {
        return false;
    }
    return true;
}

void FunctionDecoder::decodeShuffle(OpcodeWords &words)
{
    static constexpr std::pair<const char *, ShuffleKind> kinds[] = {
        {"up", ShuffleKind::Up},
        {"down", ShuffleKind::Down},
        {"bfly", ShuffleKind::Butterfly},
        {"idx", ShuffleKind::Index},
    };
    if (!words.take("sync")) unsupported("without .sync it does not exist on this architecture");
    WarpOperation operation;
    operation.shuffle = words.takeOne(kinds, ShuffleKind::Index);
    const Type type = words.takeType();
    requireNoRest(words);
    if (typeBytes(type) != 4) unsupported();
    requireOperands(5, 5);
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Shuffle, OpClass::Warp);
    const Operand &to = operands[0].isPair ? operands[0].elements[0] : operands[0];
    instruction.destination = destination(to, Type::B32);
    bool isNegated = false;
    if (operands[0].isPair && operands[0].elements[1].kind != Operand::Kind::Sink)
        instruction.secondDestination = predicate(operands[0].elements[1], isNegated);
    instruction.a = operand(operands[1], Type::B32);
    instruction.b = operand(operands[2], Type::B32);
    instruction.d = operand(operands[3], Type::B32);
    instruction.c = operand(operands[4], Type::B32);
    instruction.details = static_cast<std::uint32_t>(context_.program.warpOperations.size());
    context_.program.warpOperations.push_back(operation);
    emit(instruction);
}

void FunctionDecoder::decodeVote(OpcodeWords &words)
{
    static constexpr std::pair<const char *, VoteKind> kinds[] = {
        {"all", VoteKind::All},
        {"any", VoteKind::Any},
        {"uni", VoteKind::Uniform},
        {"ballot", VoteKind::Ballot},
    };
    if (!words.take("sync")) unsupported("without .sync it does not exist on this architecture");
    WarpOperation operation;
    // decodeControl has already taken a ".uni".
    operation.vote = words.takeOne(kinds, VoteKind::Uniform);
    words.takeType();
    requireNoRest(words);
    requireOperands(3, 3);
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Vote, OpClass::Warp);
    bool isNegated = false;
    instruction.destination = operation.vote == VoteKind::Ballot ? destination(operands[0], Type::B32)
                                                                 : predicate(operands[0], isNegated);
    instruction.d = predicate(operands[1], instruction.isDNegated);
    instruction.c = operand(operands[2], Type::B32);
    instruction.details = static_cast<std::uint32_t>(context_.program.warpOperations.size());
    context_.program.warpOperations.push_back(operation);
    emit(instruction);
}

void FunctionDecoder::decodeMatch(OpcodeWords &words)
{
    WarpOperation operation;
    operation.isAll = words.take("all");
    if (!operation.isAll && !words.take("any")) unsupported();
    if (!words.take("sync")) unsupported();
    const Type type = words.takeType();
    requireNoRest(words);
    requireOperands(3, 3);
    if (typeBytes(type) < 4) unsupported();
    operation.is64Bit = typeBytes(type) == 8;
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Match, OpClass::Warp);
    const Operand &to = operands[0].isPair ? operands[0].elements[0] : operands[0];
    instruction.destination = destination(to, Type::B32);
    bool isNegated = false;
    if (operands[0].isPair && operands[0].elements[1].kind != Operand::Kind::Sink)
        instruction.secondDestination = predicate(operands[0].elements[1], isNegated);
    instruction.a = operand(operands[1], type);
    instruction.c = operand(operands[2], Type::B32);
    instruction.details = static_cast<std::uint32_t>(context_.program.warpOperations.size());
    context_.program.warpOperations.push_back(operation);
    emit(instruction);
}

void FunctionDecoder::decodeReduce(OpcodeWords &words)
{
    static constexpr std::pair<const char *, ReduceKind> kinds[] = {
        {"add", ReduceKind::Add}, {"min", ReduceKind::Min}, {"max", ReduceKind::Max},
        {"and", ReduceKind::And}, {"or", ReduceKind::Or},   {"xor", ReduceKind::Xor},
    };
    if (!words.take("sync")) unsupported();
    WarpOperation operation;
    operation.reduce = words.takeOne(kinds, ReduceKind::Add);
    const Type type = words.takeType();
    requireNoRest(words);
    if (type != Type::U32 && type != Type::S32 && type != Type::B32) unsupported();
    operation.isSigned = type == Type::S32;
    requireOperands(3, 3);
    Instruction instruction = start(Kind::Reduce, OpClass::Warp);
    instruction.destination = destination(statement_->operands[0], Type::B32);
    instruction.a = operand(statement_->operands[1], Type::B32);
    instruction.c = operand(statement_->operands[2], Type::B32);
    instruction.details = static_cast<std::uint32_t>(context_.program.warpOperations.size());
    context_.program.warpOperations.push_back(operation);
    emit(instruction);
}

} // namespace kernelwright::simt
