// SPDX-License-Identifier: GPL-3.0-or-later
// mbarrier, and copies of whole blocks of memory: cp.async.bulk with and without a tensor map.
#include "function_decoder.h"

namespace kernelwright::simt
{

std::uint32_t FunctionDecoder::addMemoryBarrier(const MemoryBarrierAccess &access)
{
    context_.program.memoryBarriers.push_back(access);
    return static_cast<std::uint32_t>(context_.program.memoryBarriers.size() - 1);
}

void FunctionDecoder::decodeMemoryBarrier(OpcodeWords &words)
{
    using Kind_ = MemoryBarrierAccess::Kind;
    static constexpr std::pair<const char *, Kind_> kinds[] = {
        {"init", Kind_::Initialise},
        {"inval", Kind_::Invalidate},
        {"arrive", Kind_::Arrive},
        {"arrive_drop", Kind_::ArriveAndDrop},
        {"complete_tx", Kind_::CompleteBytes},
        {"test_wait", Kind_::Test},
        {"try_wait", Kind_::Test},
    };
    if (words.isNext("pending_count")) {
        requireOperands(2, 2);
        // The state is the barrier's word; its low 20 bits are the arrivals that are missing.
        Operation low;
        low.op = Op::Shr;
        low.type = Type::B32;
        low.source = Type::B64;
        const OperandReference word = apply(low, OpClass::Move, operand(statement_->operands[1], Type::B64));
        Operation mask;
        mask.op = Op::And;
        mask.type = Type::B32;
        return moveTo(statement_->operands[0], Type::B32,
                      apply(mask, OpClass::Integer, word, context_.constant(0xfffff, false)));
    }
    MemoryBarrierAccess access;
    const bool isExpecting = words.take("expect_tx");
    access.kind = words.takeOne(kinds, Kind_::ExpectBytes);
    if (access.kind == Kind_::ExpectBytes && !isExpecting) unsupported();
    access.expectsBytes = isExpecting && access.kind != Kind_::ExpectBytes;
    words.take("noComplete");
    access.isParity = words.take("parity");
    words.takeMemoryOrder();
    const bool isCluster = words.take("shared::cluster");
    access.space = isCluster ? Space::Shared : words.takeSpace().value_or(Space::Generic);
    words.take("b64");
    requireNoRest(words);
    const bool hasResult =
        access.kind == Kind_::Arrive || access.kind == Kind_::ArriveAndDrop || access.kind == Kind_::Test;
    requireOperands(1 + hasResult, 3 + (access.kind == Kind_::Test));
    const auto &operands = statement_->operands;
    Instruction instruction = start(Kind::MemoryBarrier, OpClass::Barrier);
    setAddress(instruction, operands[hasResult], access.space, access.isAddress64Bit);
    const std::size_t count = static_cast<std::size_t>(hasResult) + 1;
    const bool hasCount = operands.size() > count;
    if (access.kind == Kind_::Test) {
        bool isNegated = false;
        instruction.destination = predicate(operands[0], isNegated);
        if (!hasCount) malformed("names no state");
        instruction.b = operand(operands[count], access.isParity ? Type::B32 : Type::B64);
    } else {
        if (hasResult && operands[0].kind != Operand::Kind::Sink)
            instruction.destination = destination(operands[0], Type::B64);
        if (hasCount) instruction.b = operand(operands[count], Type::B32);
        const bool needsCount = access.expectsBytes || (!hasResult && access.kind != Kind_::Invalidate);
        if (needsCount && !hasCount) malformed("has the wrong number of operands");
    }
    instruction.details = addMemoryBarrier(access);
    emit(instruction);
}

/// cp.async.mbarrier.arrive: arrives when the thread's copies are there. Without .noinc the arrival is not
/// one of those the barrier was told to expect.
void FunctionDecoder::decodeCopyArrival(OpcodeWords &words)
{
    if (!words.take("arrive")) unsupported();
    MemoryBarrierAccess access;
    access.waitsForCopies = true;
    access.expectsBytes = !words.take("noinc");
    access.space = words.takeSpace().value_or(Space::Generic);
    words.take("b64");
    requireNoRest(words);
    requireOperands(1, 1);
    Instruction instruction = start(Kind::MemoryBarrier, OpClass::Barrier);
    setAddress(instruction, statement_->operands[0], access.space, access.isAddress64Bit);
    instruction.details = addMemoryBarrier(access);
    emit(instruction);
}

void FunctionDecoder::decodeBulkGroup(OpcodeWords &words)
{
    const bool isCommit = words.take("commit_group");
    if (!isCommit) words.take("wait_group");
    words.take("read");
    requireNoRest(words);
    requireOperands(isCommit ? 0 : 1, isCommit ? 0 : 1);
    emit(start(isCommit ? Kind::BulkCommit : Kind::BulkWait, OpClass::Memory));
}

/// "[map, {x, y}]"
void FunctionDecoder::readTensorAddress(const Operand &value, BulkCopy &copy)
{
    if (value.kind != Operand::Kind::Address || value.elements.size() != 1 ||
        value.elements[0].kind != Operand::Kind::Vector ||
        value.elements[0].elements.size() != copy.dimensions)
        malformed("expected a tensor map and its coordinates");
    for (std::size_t i = 0; i < copy.dimensions; ++i)
        copy.coordinates[i] = operand(value.elements[0].elements[i], Type::B32);
}

void FunctionDecoder::decodeBulkCopy(OpcodeWords &words)
{
    if (words.take("prefetch")) {
        emit(start(Kind::NoOperation, OpClass::Memory));
        return;
    }
    BulkCopy copy;
    const bool isTensor = words.take("tensor");
    static constexpr std::pair<const char *, std::uint8_t> dimensions[] = {
        {"1d", 1}, {"2d", 2}, {"3d", 3}, {"4d", 4}, {"5d", 5}};
    if (isTensor) {
        copy.dimensions = words.takeOne(dimensions, std::uint8_t{0});
        if (copy.dimensions == 0) malformed("names no number of dimensions");
        words.take("tile");
    }
    const bool hasPolicy = words.take("L2::cache_hint");
    copy.isToShared = !words.rest().empty() && words.rest().front().starts_with("shared");
    const bool isFromGlobal = copy.isToShared && (words.take("shared::cluster") || words.take("shared::cta"));
    const bool isKnown =
        words.take("global") && (isFromGlobal ? words.take("mbarrier::complete_tx::bytes")
                                              : words.take("shared::cta") && words.take("bulk_group"));
    if (!isKnown) unsupported();
    requireNoRest(words);
    const auto &operands = statement_->operands;
    const std::size_t expected = isTensor ? (copy.isToShared ? 3 : 2) : (copy.isToShared ? 4 : 3);
    if (operandsBeforePolicy(hasPolicy) != expected) malformed("has the wrong number of operands");
    Instruction instruction = start(Kind::BulkCopy, OpClass::Memory);
    const auto address = [this](Operand value, Space space, OperandReference &reference, std::int64_t &offset,
                                bool &is64Bit) {
        value.isAddressed = false;
        Instruction part;
        setAddress(part, value, space, is64Bit);
        reference = part.a;
        offset = part.immediate;
    };
    const Space target = copy.isToShared ? Space::Shared : Space::Global,
                source = copy.isToShared ? Space::Global : Space::Shared;
    if (isTensor) {
        // The map takes the place of the address in global memory; a is always the side in shared memory.
        const std::size_t map = copy.isToShared ? 1 : 0, inShared = copy.isToShared ? 0 : 1;
        readTensorAddress(operands[map], copy);
        address(operands[inShared], Space::Shared, instruction.a, instruction.immediate, copy.isTarget64Bit);
        address(operands[map], Space::Generic, instruction.b, copy.sourceOffset, copy.isSource64Bit);
    } else {
        address(operands[0], target, instruction.a, instruction.immediate, copy.isTarget64Bit);
        address(operands[1], source, instruction.b, copy.sourceOffset, copy.isSource64Bit);
        instruction.c = operand(operands[2], Type::B32);
    }
    if (copy.isToShared)
        address(operands[expected - 1], Space::Shared, instruction.d, copy.barrierOffset,
                copy.isBarrier64Bit);
    instruction.details = static_cast<std::uint32_t>(context_.program.bulkCopies.size());
    context_.program.bulkCopies.push_back(copy);
    emit(instruction);
}

} // namespace kernelwright::simt
