// SPDX-License-Identifier: GPL-3.0-or-later
// Copies that run beside the threads: cp.async and its groups.
#include "function_decoder.h"

namespace kernelwright::simt
{

bool FunctionDecoder::decodeAsync(OpcodeWords &words)
{
    if (words.root() == "mbarrier") {
        decodeMemoryBarrier(words);
        return true;
    }
    if (words.root() != "cp") return false;
    if (!words.take("async")) unsupported();
    if (words.take("bulk")) {
        if (words.isNext("commit_group") || words.isNext("wait_group"))
            decodeBulkGroup(words);
        else
            decodeBulkCopy(words);
        return true;
    }
    if (words.take("mbarrier")) {
        decodeCopyArrival(words);
        return true;
    }
    if (words.take("commit_group")) {
        requireNoRest(words);
        requireOperands(0, 0);
        emit(start(Kind::AsyncCommit, OpClass::Memory));
        return true;
    }
    const bool isAll = words.take("wait_all");
    if (isAll || words.take("wait_group")) {
        requireNoRest(words);
        requireOperands(isAll ? 0 : 1, isAll ? 0 : 1);
        Instruction instruction = start(Kind::AsyncWait, OpClass::Memory);
        instruction.immediate = -1;
        if (!isAll) {
            const Operand &groups = statement_->operands[0];
            if (groups.kind != Operand::Kind::Integer || groups.bits > 0x7fffffff)
                malformed("the number of groups has to be a number");
            instruction.immediate = static_cast<std::int64_t>(groups.bits);
        }
        emit(instruction);
        return true;
    }
    decodeAsyncCopy(words);
    return true;
}

/// "cp.async.cg.shared.global [to], [from], 16{, bytes read or predicate to ignore the source}{, cache
/// policy};"
void FunctionDecoder::decodeAsyncCopy(OpcodeWords &words)
{
    const bool hasPolicy = words.take("L2::cache_hint");
    const bool isBypassing = words.take("cg");
    if (!isBypassing && !words.take("ca")) unsupported();
    if (!words.take("shared") && !words.take("shared::cta")) unsupported();
    if (!words.take("global")) unsupported();
    words.takeCacheHints();
    requireNoRest(words);
    const std::vector<Operand> &operands = statement_->operands;
    const std::size_t most = operands.size() - (hasPolicy ? 1 : 0);
    if (operands.size() < (hasPolicy ? 4u : 3u) || most > 4) malformed("has the wrong number of operands");
    if (operands[2].kind != Operand::Kind::Integer) malformed("the size has to be a number");
    AsyncCopy copy;
    copy.bytes = static_cast<std::uint32_t>(operands[2].bits);
    const bool isSize =
        operands[2].bits == 16 || (!isBypassing && (operands[2].bits == 4 || operands[2].bits == 8));
    if (!isSize) malformed("copies 4, 8 or 16 bytes (.cg: 16)");
    Instruction instruction = start(Kind::AsyncCopy, OpClass::Memory);
    Instruction source;
    setAddress(source, operands[1], Space::Global, copy.isSource64Bit);
    setAddress(instruction, operands[0], Space::Shared, copy.isTarget64Bit);
    instruction.b = source.a;
    copy.sourceOffset = source.immediate;
    if (most == 4) {
        const Operand &last = operands[3];
        const bool isPredicate =
            last.kind == Operand::Kind::Register &&
            function_.registers[static_cast<std::size_t>(last.registerIndex)] == Type::Predicate;
        if (isPredicate)
            instruction.d = predicate(last, instruction.isDNegated);
        else
            instruction.c = operand(last, Type::U32);
    }
    instruction.details = static_cast<std::uint32_t>(context_.program.asyncCopies.size());
    context_.program.asyncCopies.push_back(copy);
    emit(instruction);
}

} // namespace kernelwright::simt
