// SPDX-License-Identifier: GPL-3.0-or-later
// ld, ldu, st, atom, red, fences and prefetches.
#include "function_decoder.h"

namespace kernelwright::simt
{

namespace
{

constexpr std::pair<const char *, AtomicKind> atomicKinds[] = {
    {"add", AtomicKind::Add},       {"and", AtomicKind::And},       {"or", AtomicKind::Or},
    {"xor", AtomicKind::Xor},       {"exch", AtomicKind::Exchange}, {"cas", AtomicKind::CompareAndSwap},
    {"inc", AtomicKind::Increment}, {"dec", AtomicKind::Decrement}, {"min", AtomicKind::Min},
    {"max", AtomicKind::Max},
};

constexpr std::pair<const char *, std::uint8_t> vectorLengths[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};

bool isAtomicSupported(AtomicKind kind, Type type)
{
    const bool isInteger = type == Type::U32 || type == Type::S32 || type == Type::U64 || type == Type::S64;
    const bool isBits = type == Type::B32 || type == Type::B64;
    switch (kind) {
    case AtomicKind::Add:
        return isInteger || isFloatingType(type);
    case AtomicKind::Min:
    case AtomicKind::Max:
        return isInteger;
    case AtomicKind::Increment:
    case AtomicKind::Decrement:
        return type == Type::U32;
    case AtomicKind::CompareAndSwap:
        return isBits || type == Type::B16 || isInteger;
    default:
        return isBits || isInteger;
    }
}

} // namespace

bool FunctionDecoder::decodeMemory(OpcodeWords &words)
{
    const std::string &root = words.root();
    if (root == "ld" || root == "ldu" || root == "st") {
        decodeLoadStore(words, root != "st");
    } else if (root == "atom" || root == "red") {
        decodeAtomic(words, root == "red");
    } else if (root == "membar" || root == "fence") {
        words.takeMemoryOrder();
        // All proxies see memory alike here, so that a fence between them is a fence.
        for (const char *word : {"proxy", "alias", "async", "async::generic", "tensormap::generic",
                                 "mbarrier_init", "global", "shared::cta", "shared::cluster", "shared",
                                 "sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
            words.take(word);
        requireNoRest(words);
        emit(start(Kind::Fence, OpClass::Memory));
    } else if (root == "prefetch" || root == "prefetchu" || root == "discard" || root == "applypriority") {
        emit(start(Kind::NoOperation, OpClass::Memory));
    } else {
        return false;
    }
    return true;
}

void FunctionDecoder::setAddress(Instruction &instruction, const Operand &address, Space space, bool &is64Bit)
{
    if (address.kind != Operand::Kind::Address || address.isAddressed)
        malformed("expected an address in brackets");
    if (address.registerIndex >= 0) {
        const RegisterReference base = registerReference(address.registerIndex);
        if (function_.registers[static_cast<std::size_t>(address.registerIndex)] == Type::Predicate)
            malformed("a predicate stands where an address is expected");
        instruction.a = base.reference;
        is64Bit = base.is64Bit;
        instruction.immediate = static_cast<std::int64_t>(address.bits);
        return;
    }
    is64Bit = true;
    Operand base = address;
    base.kind = address.symbol.empty() ? Operand::Kind::Integer : Operand::Kind::Symbol;
    if (const Symbol *symbol = findSymbol(address.symbol)) {
        const bool isWindow = symbol->space == Space::Shared || symbol->space == Space::Local;
        if (isWindow && space != symbol->space)
            malformed("'" + address.symbol + "' lies in another state space");
    }
    instruction.a = operand(base, Type::B64);
    instruction.immediate = 0;
}

void FunctionDecoder::readRegisters(const Operand &value, RegisterReference *registers, std::uint8_t count,
                                    int bytes, bool isLoad)
{
    const bool isVector = value.kind == Operand::Kind::Vector && !value.isPair;
    if (isVector != (count > 1) || (isVector && value.elements.size() != count))
        malformed("moves a wrong number of values");
    for (std::uint8_t i = 0; i < count; ++i) {
        const Operand &element = isVector ? value.elements[i] : value;
        if (element.kind == Operand::Kind::Sink && isLoad) continue;
        if (isLoad && element.kind != Operand::Kind::Register) malformed("the result has to be a register");
        registers[i] = anyWidth(element, bytes);
        if (bytes == 8 && !registers[i].is64Bit) malformed("a register has the wrong width");
    }
}

void FunctionDecoder::decodeLoadStore(OpcodeWords &words, bool isLoad)
{
    MemoryAccess access;
    access.isSynchronising = words.takeMemoryOrder();
    access.space = words.takeSpace().value_or(Space::Generic);
    const bool hasPolicy = words.take("L2::cache_hint");
    words.takeCacheHints();
    words.take("unified");
    access.count = words.takeOne(vectorLengths, std::uint8_t{1});
    const Type type = words.takeType();
    requireNoRest(words);
    if (typeBytes(type) == 0 || typeBytes(type) > 8) unsupported();
    access.elementBytes = static_cast<std::uint8_t>(typeBytes(type));
    access.isSignExtended = isSignedInteger(type);
    if (operandsBeforePolicy(hasPolicy) != 2) malformed("has the wrong number of operands");
    const Operand &address = statement_->operands[isLoad ? 1 : 0];
    readRegisters(statement_->operands[isLoad ? 0 : 1], access.registers, access.count, access.elementBytes,
                  isLoad);

    if (access.space == Space::Parameter) {
        const Symbol *symbol = findSymbol(address.symbol);
        if (symbol && symbol->laneVariable >= 0)
            return decodeParameterAccess(address, access, *symbol, isLoad);
        if (!isLoad) malformed("kernel parameters cannot be written");
        if (symbol && symbol->isKernelParameter)
            return loadKernelParameter(access,
                                       symbol->kernelParameter + static_cast<std::uint32_t>(address.bits));
        // A computed address: the parameter block has addresses of its own.
        access.space = Space::Generic;
    }
    Instruction instruction = start(isLoad ? Kind::Load : Kind::Store,
                                    access.space == Space::Shared ? OpClass::Shared : OpClass::Memory);
    setAddress(instruction, address, access.space, access.isAddress64Bit);
    instruction.details = static_cast<std::uint32_t>(context_.program.accesses.size());
    context_.program.accesses.push_back(access);
    emit(instruction);
}

void FunctionDecoder::loadKernelParameter(const MemoryAccess &access, std::uint32_t offset)
{
    for (std::uint8_t i = 0; i < access.count; ++i, offset += access.elementBytes) {
        if (offset + access.elementBytes > decoded_.kernelParameterBytes)
            malformed("reads past the kernel's parameters");
        const RegisterReference target = access.registers[i];
        if (target.reference == noOperand) continue;
        ParameterSlot slot;
        slot.parameterOffset = offset;
        slot.bytes = access.elementBytes;
        slot.isSignExtended = access.isSignExtended;
        slot.is64Bit = target.is64Bit;
        slot.constantOffset = context_.reserveConstants(slot.is64Bit ? laneBytes64 : laneBytes32);
        decoded_.slots.push_back(slot);
        Operation move;
        move.op = Op::Mov;
        move.type = slot.is64Bit ? Type::B64 : Type::B32;
        Instruction instruction = start(Kind::Compute, OpClass::Move);
        instruction.destination = target.reference;
        instruction.a = makeReference(Bank::Constants, slot.constantOffset);
        compute(instruction, move);
    }
}

void FunctionDecoder::decodeParameterAccess(const Operand &address, const MemoryAccess &access,
                                            const Symbol &symbol, bool isLoad)
{
    ParameterAccess parameter;
    parameter.variable = laneVariables_[static_cast<std::size_t>(symbol.laneVariable)];
    parameter.elementBytes = access.elementBytes;
    parameter.count = access.count;
    parameter.isSignExtended = access.isSignExtended;
    std::copy(access.registers, access.registers + access.count, parameter.registers);
    const std::uint64_t end = address.bits + std::uint64_t{access.elementBytes} * access.count;
    if (address.registerIndex >= 0 || address.bits > parameter.variable.stride ||
        end > parameter.variable.stride)
        malformed("reaches outside '" + address.symbol + "'");
    Instruction instruction = start(isLoad ? Kind::LoadParameter : Kind::StoreParameter, OpClass::Move);
    instruction.immediate = static_cast<std::int64_t>(address.bits);
    instruction.details = static_cast<std::uint32_t>(context_.program.parameterAccesses.size());
    context_.program.parameterAccesses.push_back(parameter);
    emit(instruction);
}

std::size_t FunctionDecoder::operandsBeforePolicy(bool hasPolicy) const
{
    const std::size_t count = statement_->operands.size();
    return hasPolicy && count > 0 ? count - 1 : count;
}

/// Each element is atomic by itself, so that a vector is so many single ones.
void FunctionDecoder::decodeVectorAtomic(const AtomicAccess &access, std::uint8_t count, bool isReduction)
{
    const std::vector<Operand> &operands = statement_->operands;
    const Operand &values = operands[isReduction ? 1 : 2];
    const auto isVector = [count](const Operand &operand) {
        return operand.kind == Operand::Kind::Vector && !operand.isPair && operand.elements.size() == count;
    };
    if (access.kind != AtomicKind::Add || access.space != Space::Global || !isFloatingType(access.type))
        unsupported();
    if (!isVector(values) || (!isReduction && !isVector(operands[0])))
        malformed("moves a wrong number of values");
    for (std::uint8_t i = 0; i < count; ++i) {
        AtomicAccess element = access;
        Instruction instruction = start(Kind::Atomic, OpClass::Atomic);
        setAddress(instruction, operands[isReduction ? 0 : 1], access.space, element.isAddress64Bit);
        instruction.immediate += std::int64_t{i} * typeBytes(access.type);
        if (!isReduction) instruction.destination = destination(operands[0].elements[i], access.type);
        instruction.b = operand(values.elements[i], access.type);
        instruction.details = static_cast<std::uint32_t>(context_.program.atomics.size());
        context_.program.atomics.push_back(element);
        emit(instruction);
    }
}

void FunctionDecoder::decodeAtomic(OpcodeWords &words, bool isReduction)
{
    AtomicAccess access;
    words.takeMemoryOrder();
    access.space = words.takeSpace().value_or(Space::Generic);
    const bool hasPolicy = words.take("L2::cache_hint");
    words.takeCacheHints();
    const std::uint8_t count = words.takeOne(vectorLengths, std::uint8_t{1});
    words.take("noftz");
    access.type = words.takeType();
    constexpr auto noKind = static_cast<AtomicKind>(255);
    access.kind = words.takeOne(atomicKinds, noKind);
    requireNoRest(words);
    if (access.kind == noKind || !isAtomicSupported(access.kind, access.type)) unsupported();
    if (access.space == Space::Local || access.space == Space::Constant || access.space == Space::Parameter)
        malformed("atomics work on global and shared memory");
    const bool isSwap = access.kind == AtomicKind::CompareAndSwap;
    const std::size_t first = isReduction ? 0 : 1;
    if (operandsBeforePolicy(hasPolicy) != first + 2 + isSwap) malformed("has the wrong number of operands");
    if (count > 1) return decodeVectorAtomic(access, count, isReduction);
    const std::vector<Operand> &operands = statement_->operands;
    Instruction instruction = start(Kind::Atomic, OpClass::Atomic);
    setAddress(instruction, operands[first], access.space, access.isAddress64Bit);
    if (!isReduction && operands[0].kind != Operand::Kind::Sink)
        instruction.destination = destination(operands[0], access.type);
    instruction.b = operand(operands[first + 1], access.type);
    if (isSwap) instruction.c = operand(operands[first + 2], access.type);
    instruction.details = static_cast<std::uint32_t>(context_.program.atomics.size());
    context_.program.atomics.push_back(access);
    emit(instruction);
}

} // namespace kernelwright::simt
