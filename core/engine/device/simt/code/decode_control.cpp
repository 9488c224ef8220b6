// SPDX-License-Identifier: GPL-3.0-or-later
// Branches, calls, barriers and the end of threads.
#include "function_decoder.h"

namespace kernelwright::simt
{

bool FunctionDecoder::decodeControl(OpcodeWords &words)
{
    const std::string &root = words.root();
    words.take("uni");
    if (root == "bra" || root == "brx") {
        decodeBranch(words);
    } else if (root == "call") {
        decodeCall(words);
    } else if (root == "ret" || root == "exit") {
        emit(start(root == "exit" || function_.isEntry ? Kind::Exit : Kind::Return, OpClass::Control));
    } else if (root == "trap" || root == "brkpt") {
        emit(start(root == "trap" ? Kind::Trap : Kind::NoOperation, OpClass::Control));
    } else if (root == "bar" || root == "barrier") {
        decodeBarrier(words);
    } else if (root == "nanosleep" || root == "pmevent" || root == "setmaxnreg" || root == "griddepcontrol") {
        emit(start(Kind::NoOperation, OpClass::Control));
    } else {
        return false;
    }
    return true;
}

void FunctionDecoder::decodeBranch(OpcodeWords &words)
{
    const bool isIndexed = words.root() == "brx";
    if (isIndexed) words.take("idx");
    requireNoRest(words);
    requireOperands(isIndexed ? 2 : 1, isIndexed ? 2 : 1);
    const Operand &last = statement_->operands.back();
    if (last.kind != Operand::Kind::Symbol) malformed("expected a label");
    Instruction instruction = start(isIndexed ? Kind::IndexedBranch : Kind::Branch, OpClass::Control);
    const auto position = static_cast<std::uint32_t>(context_.program.code.size());
    if (!isIndexed) {
        pending_.push_back({position, static_cast<int>(labelTarget(last.symbol))});
        emit(instruction);
        return;
    }
    const auto table = function_.branchTables.find(last.symbol);
    if (table == function_.branchTables.end())
        malformed("'" + last.symbol + "' is not a .branchtargets list");
    instruction.a = operand(statement_->operands[0], Type::U32);
    instruction.details = static_cast<std::uint32_t>(context_.program.branchTables.size());
    context_.program.branchTables.emplace_back();
    PendingTable pending{instruction.details, {}};
    for (const std::string &label : table->second)
        pending.statements.push_back(static_cast<int>(labelTarget(label)));
    pendingTables_.push_back(std::move(pending));
    emit(instruction);
}

void FunctionDecoder::decodeCall(OpcodeWords &words)
{
    requireNoRest(words);
    const Operand &callee = statement_->operands.at(0);
    CallSite site;
    const auto addVariables = [this](const std::vector<Operand> &operands,
                                     std::vector<LaneVariable> &variables) {
        for (const Operand &operand : operands) {
            const Symbol *symbol =
                operand.kind == Operand::Kind::Symbol ? findSymbol(operand.symbol) : nullptr;
            if (!symbol || symbol->laneVariable < 0) unsupported("only .param variables can be passed");
            variables.push_back(laneVariables_[static_cast<std::size_t>(symbol->laneVariable)]);
        }
    };
    addVariables(statement_->arguments, site.arguments);
    addVariables(statement_->results, site.results);
    const bool isIndirect = callee.kind == Operand::Kind::Register;
    Instruction instruction = start(isIndirect ? Kind::IndirectCall : Kind::Call, OpClass::Control);
    if (isIndirect) {
        instruction.a = operand(callee, Type::B64);
    } else if (callee.symbol == "vprintf" && site.arguments.size() == 2) {
        site.builtin = Builtin::Printf;
    } else if (callee.symbol == "__assertfail" && site.arguments.size() >= 4) {
        site.builtin = Builtin::AssertFail;
    } else {
        const auto found = context_.functionIndex.find(callee.symbol);
        if (found == context_.functionIndex.end()) malformed("'" + callee.symbol + "' is not declared");
        const Function *target = context_.module.findFunction(callee.symbol);
        if (!target->isDefined) unsupported("'" + callee.symbol + "' is not part of the module");
        if (target->isEntry) malformed("a kernel cannot be called");
        if (target->parameters.size() != site.arguments.size() ||
            target->results.size() < site.results.size())
            malformed("'" + callee.symbol + "' takes other parameters");
        site.function = found->second;
    }
    instruction.details = static_cast<std::uint32_t>(context_.program.calls.size());
    context_.program.calls.push_back(std::move(site));
    emit(instruction);
}

void FunctionDecoder::decodeBarrier(OpcodeWords &words)
{
    const bool isWarp = words.take("warp");
    const bool isSync = words.take("sync"), isArrive = words.take("arrive"), isReduce = words.take("red");
    if (words.isNext("cluster")) unsupported("thread block clusters");
    if (isWarp) {
        if (!isSync) unsupported();
        requireNoRest(words);
        requireOperands(1, 1);
        Instruction instruction = start(Kind::WarpBarrier, OpClass::Barrier);
        instruction.c = operand(statement_->operands[0], Type::B32);
        emit(instruction);
        return;
    }
    BarrierSite site;
    words.take("cta");
    site.isAligned = words.root() == "bar" || words.take("aligned");
    words.take("aligned");
    Instruction instruction = start(Kind::Barrier, OpClass::Barrier);
    std::size_t first = 0;
    if (isArrive) {
        site.kind = BarrierKind::Arrive;
    } else if (isReduce) {
        const bool isPopc = words.take("popc");
        site.kind = isPopc              ? BarrierKind::ReducePopc
                    : words.take("and") ? BarrierKind::ReduceAnd
                    : words.take("or")  ? BarrierKind::ReduceOr
                                        : BarrierKind::Sync;
        if (site.kind == BarrierKind::Sync) unsupported();
        words.takeType();
        requireOperands(3, 4);
        bool isNegated = false;
        instruction.destination = isPopc ? destination(statement_->operands[0], Type::U32)
                                         : predicate(statement_->operands[0], isNegated);
        instruction.d = predicate(statement_->operands.back(), instruction.isDNegated);
        first = 1;
    } else if (!isSync) {
        unsupported();
    }
    requireNoRest(words);
    const std::size_t last = statement_->operands.size() - (isReduce ? 1 : 0);
    if (last < first + 1 || last > first + 2) malformed("has the wrong number of operands");
    instruction.a = operand(statement_->operands[first], Type::U32);
    if (last == first + 2) instruction.b = operand(statement_->operands[first + 1], Type::U32);
    if (isArrive && instruction.b == noOperand) malformed("has to name the number of threads");
    instruction.details = static_cast<std::uint32_t>(context_.program.barriers.size());
    context_.program.barriers.push_back(site);
    emit(instruction);
}

} // namespace kernelwright::simt
