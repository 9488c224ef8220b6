// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "opcode_words.h"
#include "operation.h"
#include "program.h"

#include <map>
#include <string>

namespace kernelwright::simt
{

/// Offsets in a bank have 30 bits; a frame this large would be no kernel.
constexpr std::uint32_t maximumBankBytes = 1u << 28;

/// Where the decoder of the whole module keeps what its functions share.
struct DecodingContext
{
    const Module &module;
    const std::map<std::string, std::uint64_t> &addresses;
    Program &program;
    std::map<std::pair<std::uint64_t, bool>, std::uint32_t>
        constants; ///< (bits, 64-bit) → offset in the bank
    std::map<std::string, std::uint32_t> functionIndex;
    /// Index of an equal map in the program; instructions of one shape share theirs.
    std::uint32_t fragmentMap(FragmentMap map);

    /// A value in all 32 lanes of the constant bank.
    OperandReference constant(std::uint64_t bits, bool is64Bit);
    std::uint32_t reserveConstants(std::uint32_t bytes);
};

/// Decodes the statements of one function.
class FunctionDecoder
{
public:
    FunctionDecoder(DecodingContext &context, const Function &function, DecodedFunction &decoded);
    /// Lays out registers and variables; everything a caller has to know.
    void declare();
    void decode();

private:
    struct Symbol
    {
        Space space = Space::Global;
        std::uint64_t address =
            0;                 ///< shared and local: offset; global, constant: address; parameter: see below
        int laneVariable = -1; ///< parameter of a called function, or a `.param` variable
        std::uint32_t kernelParameter = 0; ///< offset in the parameter block
        bool isKernelParameter = false;
    };

    // function_decoder.cpp: frame, operands, emission
    void layOutRegisters();
    void layOutVariables();
    void declareParameters();
    LaneVariable addLaneVariable(const Variable &variable);
    std::uint32_t reserveFrame(std::uint32_t bytes);
    RegisterReference temporary(bool is64Bit);
    RegisterReference registerReference(int index) const;
    OperandReference operand(const Operand &operand, Type type);
    OperandReference predicate(const Operand &operand, bool &isNegated) const;
    RegisterReference anyWidth(const Operand &operand, int bytes);
    OperandReference destination(const Operand &operand, Type type);
    OperandReference symbolAddress(const Operand &operand, bool is64Bit);
    OperandReference specialRegister(const Operand &operand, bool is64Bit);
    std::uint64_t immediateBits(const Operand &operand, Type type) const;
    const Symbol *findSymbol(const std::string &name) const;
    Instruction start(Kind kind, OpClass opClass) const;
    Instruction &emit(const Instruction &instruction);
    void compute(Instruction instruction, const Operation &operation);
    RegisterReference widenAddress(RegisterReference reference);
    void requireOperands(std::size_t least, std::size_t most) const;
    void requireNoRest(const OpcodeWords &words) const;
    [[noreturn]] void unsupported(const std::string &why = {}) const;
    [[noreturn]] void malformed(const std::string &why) const;
    std::uint32_t labelTarget(const std::string &name) const;

    // decode_arithmetic.cpp
    bool decodeArithmetic(OpcodeWords &words);
    void readFlags(OpcodeWords &words, Operation &operation) const;
    void emitArithmetic(const Operation &operation, OpClass opClass);
    bool decodeBitField(OpcodeWords &words, Operation &operation);
    OpClass classOf(const Operation &operation) const;

    // decode_composed.cpp
    bool decodeComposed(OpcodeWords &words);
    bool decodeRare();
    OperandReference apply(const Operation &operation, OpClass opClass, OperandReference a,
                           OperandReference b = noOperand, OperandReference c = noOperand);
    void moveTo(const Operand &to, Type type, OperandReference from);
    void decodeThreeExtremes(OpcodeWords &words);
    void decodeLogicWithPredicate(OpcodeWords &words);
    void decodeSinglePair(OpcodeWords &words);
    void decodeMixedPrecision(OpcodeWords &words);
    void clampSources(Operation &operation, Instruction &instruction);

    // decode_compare.cpp
    bool decodeCompare(OpcodeWords &words);
    void decodeSetp(OpcodeWords &words);
    void decodeSet(OpcodeWords &words);
    void decodeSelect(OpcodeWords &words);
    void readComparison(OpcodeWords &words, Operation &operation) const;
    void readCombine(Instruction &instruction, const Operation &operation, std::size_t index) const;

    // decode_moves.cpp
    bool decodeMove(OpcodeWords &words);
    void decodeMov(OpcodeWords &words);
    void pack(const Operand &to, const Operand &pieces, Type type);
    void unpack(const Operand &pieces, const Operand &from, Type type);
    bool decodeClock(const Operand &to, const Operand &from);
    void decodeConvert(OpcodeWords &words);
    void decodeConvertAddress(OpcodeWords &words);
    void decodeSpaceTest(OpcodeWords &words);

    // decode_memory.cpp
    bool decodeMemory(OpcodeWords &words);
    void decodeLoadStore(OpcodeWords &words, bool isLoad);
    void decodeAtomic(OpcodeWords &words, bool isReduction);
    void decodeVectorAtomic(const AtomicAccess &access, std::uint8_t count, bool isReduction);
    /// Drops the cache policy that ".L2::cache_hint" adds; the number of operands without it.
    std::size_t operandsBeforePolicy(bool hasPolicy) const;
    void decodeParameterAccess(const Operand &address, const MemoryAccess &access, const Symbol &symbol,
                               bool isLoad);
    void loadKernelParameter(const MemoryAccess &access, std::uint32_t offset);
    void setAddress(Instruction &instruction, const Operand &address, Space space, bool &is64Bit);
    void readRegisters(const Operand &value, RegisterReference *registers, std::uint8_t count, int bytes,
                       bool isLoad);

    // decode_matrix.cpp
    bool decodeMatrix(OpcodeWords &words);
    Instruction startMatrix(Kind kind, OpClass opClass);
    MatrixShape takeShape(OpcodeWords &words) const;
    MatrixElement takeElement(OpcodeWords &words) const;
    MatrixFragment fragment(const Operand &value, MatrixRole role, MatrixElement element,
                            const MatrixShape &shape, bool isWmma, bool isResult);
    void decodeMultiply(OpcodeWords &words, bool isWmma);
    void decodeFragmentAccess(OpcodeWords &words);
    void decodeMatrixRows(OpcodeWords &words, bool isStore);

    // decode_async.cpp
    bool decodeAsync(OpcodeWords &words);
    void decodeAsyncCopy(OpcodeWords &words);
    // decode_bulk.cpp
    void decodeMemoryBarrier(OpcodeWords &words);
    void decodeCopyArrival(OpcodeWords &words);
    void decodeBulkGroup(OpcodeWords &words);
    void decodeBulkCopy(OpcodeWords &words);
    void readTensorAddress(const Operand &operand, BulkCopy &copy);
    std::uint32_t addMemoryBarrier(const MemoryBarrierAccess &access);

    // decode_control.cpp
    bool decodeControl(OpcodeWords &words);
    void decodeBranch(OpcodeWords &words);
    void decodeCall(OpcodeWords &words);
    void decodeBarrier(OpcodeWords &words);
    bool decodeWarpOperation(OpcodeWords &words);
    void decodeShuffle(OpcodeWords &words);
    void decodeVote(OpcodeWords &words);
    void decodeMatch(OpcodeWords &words);
    void decodeReduce(OpcodeWords &words);

    void decodeStatement();
    void resolveTargets();

    DecodingContext &context_;
    const Function &function_;
    DecodedFunction &decoded_;
    const Statement *statement_ = nullptr;
    std::vector<RegisterReference> registers_; ///< by register index; predicates: the mask
    OperandReference carry_ = noOperand;
    std::vector<LaneVariable> laneVariables_;
    std::map<std::string, Symbol> symbols_;
    std::vector<std::uint32_t> statementStart_; ///< statement index → instruction
    struct PendingTarget
    {
        std::uint32_t instruction = 0;
        int statement = 0;
    };
    std::vector<PendingTarget> pending_;
    struct PendingTable
    {
        std::uint32_t table = 0;
        std::vector<int> statements;
    };
    std::vector<PendingTable> pendingTables_;
};

} // namespace kernelwright::simt
