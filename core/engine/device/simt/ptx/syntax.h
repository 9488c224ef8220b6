// SPDX-License-Identifier: GPL-3.0-or-later
// A PTX module as written: what the parser makes and the decoder turns into executable instructions.
#pragma once

#include "types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright::simt
{

enum class Space : std::uint8_t { Generic, Register, Global, Shared, Local, Constant, Parameter };
const char *spaceName(Space space);

/// A place in the CUDA source, from `.loc`.
struct SourceLocation
{
    int file = 0; ///< index of `.file`, 0 = unknown
    int line = 0; ///< 1-based
    int column = 0;
};

/// A variable in memory: module scope (global, constant, shared) or function scope (shared, local,
/// parameter).
struct Variable
{
    std::string name;
    Space space = Space::Global;
    Type type = Type::B8;
    std::int64_t byteCount = 0;
    int alignment = 1;
    bool isExternArray = false;        ///< `.extern .shared x[]`: as long as the launch says
    std::vector<std::uint8_t> initial; ///< at most byteCount; the rest is zero
    /// Addresses of other symbols inside the initial bytes.
    struct SymbolReference
    {
        std::int64_t offset = 0;
        std::string symbol;
        std::int64_t addend = 0;
        bool isGeneric = false;
    };
    std::vector<SymbolReference> references;
    int ptxLine = 0;
};

struct Operand
{
    enum class Kind : std::uint8_t {
        Register,
        Special,
        Integer,
        Float32,
        Float64,
        Symbol,
        Address,
        Vector,
        Label,
        Sink
    };
    Kind kind = Kind::Integer;
    int registerIndex = -1;        ///< Register, or the base of an Address (-1: none)
    std::string symbol;            ///< Symbol, Special ("%tid.x"), Label, or the base of an Address
    std::uint64_t bits = 0;        ///< numbers; the offset of an Address
    bool isNegated = false;        ///< "!%p1"
    bool isAddressed = false;      ///< a Vector inside [] (tensor coordinates)
    std::vector<Operand> elements; ///< Vector; an operand written "a|b" is a Vector of two with isPair
    bool isPair = false;
};

struct Statement
{
    int guard = -1; ///< register index of the predicate, -1: none
    bool isGuardNegated = false;
    std::vector<std::string> words; ///< the opcode split at its dots: {"add", "s32"}
    std::vector<Operand> operands;
    /// `call` only: where results go, what is called, its arguments.
    std::vector<Operand> results, arguments;
    int ptxLine = 0;
    SourceLocation location;
    int scope = 0; ///< for labels

    std::string opcode() const; ///< "add.s32"
};

struct Function
{
    std::string name;
    bool isEntry = false;
    bool isDefined = false;
    std::vector<Variable> parameters, results;
    std::vector<Type> registers;     ///< by register index
    std::vector<std::string> registerNames; ///< likewise
    std::vector<Variable> variables; ///< shared, local, parameter; names made unique by scope
    std::vector<Statement> statements;
    struct Label
    {
        std::string name;
        int scope = 0;
        int statement = 0; ///< index of the statement it stands before
    };
    std::vector<Label> labels;
    std::vector<int> scopeParents{-1};                            ///< per scope its parent
    std::map<std::string, std::vector<std::string>> branchTables; ///< .branchtargets
    std::int64_t maxThreads = 0;                                  ///< .maxntid, product; 0: not given
    std::int64_t requiredThreads[3] = {0, 0, 0};                  ///< .reqntid
    int ptxLine = 0;

    /// The statement a label names as seen from a scope; nullopt when there is none.
    std::optional<int> findLabel(const std::string &name, int scope) const;
};

struct Module
{
    std::string target; ///< "sm_90"
    std::map<int, std::string> files;
    std::vector<Variable> variables;
    std::vector<Function> functions;

    const Function *findFunction(const std::string &name) const;
    const Variable *findVariable(const std::string &name) const;
};

} // namespace kernelwright::simt
