// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "syntax.h"
#include "token_stream.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace kernelwright::simt
{

/// Reads a function's body, from '{' through '}', into `function`; names are resolved by scope.
class BodyParser
{
public:
    BodyParser(TokenStream &tokens, Function &function)
        : tokens_(tokens)
        , function_(function)
    {}
    void parse();

private:
    struct RegisterRange
    {
        int first = 0;
        int count = 1;
        bool isRange = false; ///< declared "%r<10>": the names are %r0 … %r9
    };
    struct Scope
    {
        int id = 0;
        std::map<std::string, RegisterRange, std::less<>> registers;
        std::map<std::string, std::string, std::less<>> variables; ///< name as written → unique name
    };

    void parseStatement();
    void parseDirective();
    void parseRegisters();
    void parseLocation();
    void parseLabelledDirective(const std::string &label);
    void parseInstruction();
    void parseCall(Statement &statement);
    std::vector<Operand> parseOperandList();
    Operand parseOperand(int depth = 0);
    Operand parseAddress();
    Operand parseWordOperand();
    Operand parseNumber(bool isNegative);
    int findRegister(std::string_view name) const;
    void openScope();
    void declareVariables(Space space, bool isExtern);

    TokenStream &tokens_;
    Function &function_;
    std::vector<Scope> scopes_;
    SourceLocation location_;
    int mainFile_ = 0; ///< the file the function itself stands in
    std::map<std::tuple<int, int, int>, SourceLocation>
        inlined_; ///< place of an inlined call → place it came from
};

} // namespace kernelwright::simt
