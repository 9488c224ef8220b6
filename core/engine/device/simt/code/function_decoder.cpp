// SPDX-License-Identifier: GPL-3.0-or-later
#include "function_decoder.h"

#include "lane_functions.h"

#include <bit>
#include <cstring>

namespace kernelwright::simt
{

namespace
{

constexpr std::pair<const char *, Special> specialNames[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%dynamic_smem_size", Special::DynamicSharedBytes},
    {"%total_smem_size", Special::TotalSharedBytes},
    {"%gridid", Special::Zero},
    {"%cluster_ctarank", Special::Zero},
    {"%cluster_ctaid.x", Special::Zero},
    {"%cluster_ctaid.y", Special::Zero},
    {"%cluster_ctaid.z", Special::Zero},
    {"%cluster_nctarank", Special::One},
    {"%cluster_nctaid.x", Special::One},
    {"%cluster_nctaid.y", Special::One},
    {"%cluster_nctaid.z", Special::One},
    {"%clusterid.x", Special::CtaidX},
    {"%clusterid.y", Special::CtaidY},
    {"%clusterid.z", Special::CtaidZ},
    {"%nclusterid.x", Special::NctaidX},
    {"%nclusterid.y", Special::NctaidY},
    {"%nclusterid.z", Special::NctaidZ},
};

} // namespace

std::uint32_t DecodingContext::reserveConstants(std::uint32_t bytes)
{
    const auto offset = static_cast<std::uint32_t>(program.constants.size());
    if (offset + bytes > maximumBankBytes) throw DecodeError{true, "the module uses too many constants"};
    program.constants.resize(offset + bytes);
    return offset;
}

OperandReference DecodingContext::constant(std::uint64_t bits, bool is64Bit)
{
    const auto [entry, isNew] = constants.try_emplace({bits, is64Bit}, 0);
    if (isNew) {
        entry->second = reserveConstants(is64Bit ? laneBytes64 : laneBytes32);
        for (std::uint32_t lane = 0; lane < warpSize; ++lane) {
            const std::uint32_t size = is64Bit ? 8 : 4;
            std::memcpy(program.constants.data() + entry->second + lane * size, &bits, size);
        }
    }
    return makeReference(Bank::Constants, entry->second);
}

std::uint32_t DecodingContext::fragmentMap(FragmentMap map)
{
    auto &maps = program.fragmentMaps;
    for (std::size_t i = 0; i < maps.size(); ++i)
        if (maps[i].registers == map.registers && maps[i].bits == map.bits && maps[i].places == map.places)
            return static_cast<std::uint32_t>(i);
    maps.push_back(std::move(map));
    return static_cast<std::uint32_t>(maps.size() - 1);
}

FunctionDecoder::FunctionDecoder(DecodingContext &context, const Function &function, DecodedFunction &decoded)
    : context_(context)
    , function_(function)
    , decoded_(decoded)
{}

void FunctionDecoder::unsupported(const std::string &why) const
{
    throw DecodeError{true, "PTX line " + std::to_string(statement_->ptxLine) +
                                ": the simulator does not execute '" + statement_->opcode() + "'" +
                                (why.empty() ? "" : " (" + why + ")") + " in '" + function_.name + "'"};
}

void FunctionDecoder::malformed(const std::string &why) const
{
    const int line = statement_ ? statement_->ptxLine : function_.ptxLine;
    throw DecodeError{false, "PTX line " + std::to_string(line) + ", '" +
                                 (statement_ ? statement_->opcode() : function_.name) + "': " + why};
}

void FunctionDecoder::requireOperands(std::size_t least, std::size_t most) const
{
    const std::size_t count = statement_->operands.size();
    if (count < least || count > most) malformed("has the wrong number of operands");
}

void FunctionDecoder::requireNoRest(const OpcodeWords &words) const
{
    if (!words.rest().empty()) unsupported("modifier ." + words.rest().front());
}

RegisterReference FunctionDecoder::temporary(bool is64Bit)
{
    return {makeReference(Bank::Frame, reserveFrame(is64Bit ? laneBytes64 : laneBytes32)), is64Bit};
}

const FunctionDecoder::Symbol *FunctionDecoder::findSymbol(const std::string &name) const
{
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : &found->second;
}

RegisterReference FunctionDecoder::registerReference(int index) const
{
    return registers_.at(static_cast<std::size_t>(index));
}

std::uint64_t FunctionDecoder::immediateBits(const Operand &operand, Type type) const
{
    if (operand.kind == Operand::Kind::Float64 && typeBytes(type) == 4)
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
    if (operand.kind == Operand::Kind::Float32 && typeBytes(type) == 8)
        return std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
    switch (typeBytes(type)) {
    case 1:
        return operand.bits & 0xff;
    case 2:
        return operand.bits & 0xffff;
    case 4:
        return operand.bits & 0xffffffff;
    default:
        return operand.bits;
    }
}

OperandReference FunctionDecoder::operand(const Operand &operand, Type type)
{
    const bool is64Bit = typeBytes(type) == 8;
    switch (operand.kind) {
    case Operand::Kind::Register: {
        const auto index = static_cast<std::size_t>(operand.registerIndex);
        if (function_.registers[index] == Type::Predicate)
            malformed("a predicate stands where a value is expected");
        if (registers_[index].is64Bit != is64Bit) malformed("a register has the wrong width");
        return registers_[index].reference;
    }
    case Operand::Kind::Integer:
    case Operand::Kind::Float32:
    case Operand::Kind::Float64:
        return context_.constant(immediateBits(operand, type), is64Bit);
    case Operand::Kind::Special:
        return specialRegister(operand, is64Bit);
    case Operand::Kind::Symbol:
        if (operand.symbol == "WARP_SZ") return context_.constant(warpSize, is64Bit);
        return symbolAddress(operand, is64Bit);
    default:
        malformed("an operand of this form is not expected here");
    }
}

/// As operand(), but a register of the other width is taken too (cvt, ld, st).
RegisterReference FunctionDecoder::anyWidth(const Operand &value, int bytes)
{
    if (value.kind == Operand::Kind::Register) {
        if (function_.registers[static_cast<std::size_t>(value.registerIndex)] == Type::Predicate)
            malformed("a predicate stands where a value is expected");
        return registerReference(value.registerIndex);
    }
    const bool is64Bit = bytes == 8;
    return {operand(value, is64Bit ? Type::B64 : Type::B32), is64Bit};
}

OperandReference FunctionDecoder::destination(const Operand &value, Type type)
{
    if (value.kind == Operand::Kind::Sink) return temporary(typeBytes(type) == 8).reference;
    if (value.kind != Operand::Kind::Register) malformed("the result has to be a register");
    return operand(value, type);
}

OperandReference FunctionDecoder::predicate(const Operand &value, bool &isNegated) const
{
    isNegated = value.isNegated;
    if (value.kind == Operand::Kind::Register &&
        function_.registers[static_cast<std::size_t>(value.registerIndex)] == Type::Predicate)
        return registerReference(value.registerIndex).reference;
    if (value.kind == Operand::Kind::Integer) return context_.constant(value.bits ? fullMask : 0, false);
    malformed("expected a predicate register");
}

OperandReference FunctionDecoder::symbolAddress(const Operand &operand, bool is64Bit)
{
    if (const Symbol *symbol = findSymbol(operand.symbol)) {
        if (symbol->space == Space::Local) {
            Instruction instruction = start(Kind::LocalAddress, OpClass::Move);
            const RegisterReference result = temporary(is64Bit);
            instruction.destination = result.reference;
            instruction.immediate = static_cast<std::int64_t>(symbol->address + operand.bits);
            instruction.details = is64Bit;
            emit(instruction);
            return result.reference;
        }
        if (symbol->isKernelParameter)
            return context_.constant(parameterWindow + symbol->kernelParameter + operand.bits, is64Bit);
        if (symbol->laneVariable >= 0) unsupported("the address of a parameter of a called function");
        return context_.constant(symbol->address + operand.bits, is64Bit);
    }
    if (const auto found = context_.addresses.find(operand.symbol); found != context_.addresses.end())
        return context_.constant(found->second + operand.bits, is64Bit);
    if (const auto found = context_.functionIndex.find(operand.symbol); found != context_.functionIndex.end())
        return context_.constant(functionWindow + 16ull * found->second, is64Bit);
    malformed("'" + operand.symbol + "' is not declared");
}

OperandReference FunctionDecoder::specialRegister(const Operand &operand, bool is64Bit)
{
    for (const auto &[name, special] : specialNames) {
        if (operand.symbol != name) continue;
        const OperandReference reference =
            makeReference(Bank::Specials, static_cast<std::uint32_t>(special) * laneBytes32);
        return is64Bit ? widenAddress({reference, false}).reference : reference;
    }
    for (const char *known :
         {"%envreg", "%pm", "%reserved", "%is_explicit_cluster", "%aggr_smem", "%current_graph"})
        if (operand.symbol.starts_with(known)) unsupported("register " + operand.symbol);
    malformed("the register " + operand.symbol + " is not declared");
}

/// A 32-bit value as a 64-bit one.
RegisterReference FunctionDecoder::widenAddress(RegisterReference reference)
{
    if (reference.is64Bit) return reference;
    Operation operation;
    operation.op = Op::Cvt;
    operation.type = Type::U64;
    operation.source = Type::U32;
    Instruction instruction = start(Kind::Compute, OpClass::Conversion);
    const RegisterReference wide = temporary(true);
    instruction.destination = wide.reference;
    instruction.a = reference.reference;
    compute(instruction, operation);
    return wide;
}

Instruction FunctionDecoder::start(Kind kind, OpClass opClass) const
{
    Instruction instruction;
    instruction.kind = kind;
    instruction.opClass = opClass;
    instruction.sourceLine = static_cast<std::uint32_t>(statement_->location.line);
    instruction.ptxLine = static_cast<std::uint32_t>(statement_->ptxLine);
    if (statement_->guard >= 0) {
        instruction.guard = registerReference(statement_->guard).reference;
        instruction.isGuardNegated = statement_->isGuardNegated;
    }
    return instruction;
}

Instruction &FunctionDecoder::emit(const Instruction &instruction)
{
    context_.program.code.push_back(instruction);
    return context_.program.code.back();
}

void FunctionDecoder::compute(Instruction instruction, const Operation &operation)
{
    instruction.compute = selectLaneFunction(operation);
    if (!instruction.compute) unsupported();
    emit(instruction);
}

std::uint32_t FunctionDecoder::labelTarget(const std::string &name) const
{
    const auto statement = function_.findLabel(name, statement_->scope);
    if (!statement) malformed("the label '" + name + "' is not defined");
    return static_cast<std::uint32_t>(*statement);
}

void FunctionDecoder::decode()
{
    decoded_.first = static_cast<std::uint32_t>(context_.program.code.size());
    for (const Statement &statement : function_.statements) {
        statementStart_.push_back(static_cast<std::uint32_t>(context_.program.code.size()));
        statement_ = &statement;
        decodeStatement();
    }
    statementStart_.push_back(static_cast<std::uint32_t>(context_.program.code.size()));
    // Falling off the end returns.
    Instruction last;
    last.kind = function_.isEntry ? Kind::Exit : Kind::Return;
    last.opClass = OpClass::Control;
    emit(last);
    decoded_.end = static_cast<std::uint32_t>(context_.program.code.size());
    resolveTargets();
}

void FunctionDecoder::decodeStatement()
{
    OpcodeWords words(*statement_);
    if (decodeComposed(words) || decodeArithmetic(words) || decodeCompare(words) || decodeMove(words) ||
        decodeMemory(words) || decodeControl(words) || decodeWarpOperation(words) || decodeMatrix(words) ||
        decodeAsync(words))
        return;
    unsupported();
}

void FunctionDecoder::resolveTargets()
{
    for (const PendingTarget &pending : pending_)
        context_.program.code[pending.instruction].target =
            statementStart_[static_cast<std::size_t>(pending.statement)];
    for (const PendingTable &pending : pendingTables_)
        for (const int statement : pending.statements)
            context_.program.branchTables[pending.table].targets.push_back(
                statementStart_[static_cast<std::size_t>(statement)]);
}

} // namespace kernelwright::simt
