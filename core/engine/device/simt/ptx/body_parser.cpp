// SPDX-License-Identifier: GPL-3.0-or-later
#include "body_parser.h"

#include "base/text.h"
#include "declarations.h"

#include <charconv>

namespace kernelwright::simt
{

namespace
{

constexpr std::size_t maximumRegisters = 1 << 18;
constexpr std::size_t maximumScopes = 1 << 16;

} // namespace

void BodyParser::parse()
{
    tokens_.expectPunctuation('{');
    scopes_.push_back({0, {}, {}});
    while (!scopes_.empty()) {
        if (tokens_.atEnd()) tokens_.refuse("the body of '" + function_.name + "' is not closed");
        if (tokens_.takePunctuation('}'))
            scopes_.pop_back();
        else if (tokens_.takePunctuation('{'))
            openScope();
        else
            parseStatement();
    }
}

void BodyParser::openScope()
{
    if (scopes_.size() > 64 || function_.scopeParents.size() > maximumScopes)
        tokens_.refuse("too many nested scopes");
    const int id = static_cast<int>(function_.scopeParents.size());
    function_.scopeParents.push_back(scopes_.back().id);
    scopes_.push_back({id, {}, {}});
}

void BodyParser::parseStatement()
{
    if (tokens_.takePunctuation(';')) return;
    if (tokens_.peek().kind == TokenKind::Directive) return parseDirective();
    if (tokens_.peek().kind == TokenKind::Word && tokens_.isPunctuation(':', 1)) {
        const std::string label(tokens_.next().text);
        tokens_.next();
        if (tokens_.peek().kind == TokenKind::Directive) {
            const std::string_view next = tokens_.peek().text;
            if (next == ".branchtargets" || next == ".callprototype" || next == ".calltargets")
                return parseLabelledDirective(label);
        }
        function_.labels.push_back({label, scopes_.back().id, static_cast<int>(function_.statements.size())});
        return;
    }
    parseInstruction();
}

void BodyParser::parseDirective()
{
    const Token directive = tokens_.peek();
    if (directive.text == ".reg") return parseRegisters();
    if (directive.text == ".loc") return parseLocation();
    tokens_.next();
    const bool isExtern = directive.text == ".extern";
    const std::string_view word = isExtern ? tokens_.next().text : directive.text;
    if (const auto space = spaceFromDirective(word)) return declareVariables(*space, isExtern);
    if (word == ".pragma") {
        while (!tokens_.atEnd() && !tokens_.takePunctuation(';'))
            tokens_.next();
        return;
    }
    tokens_.refuse("the directive '" + std::string(word) + "' is not known in a function");
}

void BodyParser::declareVariables(Space space, bool isExtern)
{
    for (Variable &variable : parseVariables(tokens_, space, isExtern)) {
        const std::string written = variable.name;
        if (scopes_.back().id != 0) variable.name += "@" + std::to_string(scopes_.back().id);
        scopes_.back().variables[written] = variable.name;
        function_.variables.push_back(std::move(variable));
    }
}

void BodyParser::parseRegisters()
{
    tokens_.next();
    if (tokens_.peek().kind != TokenKind::Directive) tokens_.refuse("expected a register type");
    const auto type = typeFromName(tokens_.peek().text.substr(1));
    if (!type) tokens_.refuse("expected a register type");
    tokens_.next();
    do {
        RegisterRange range;
        range.first = static_cast<int>(function_.registers.size());
        const std::string name = tokens_.expectWord("a register name");
        if (tokens_.takePunctuation('<')) {
            const std::int64_t count = tokens_.expectInteger("a number of registers");
            if (count < 0 || count > static_cast<std::int64_t>(maximumRegisters))
                tokens_.refuse("too many registers");
            range.count = static_cast<int>(count);
            range.isRange = true;
            tokens_.expectPunctuation('>');
        }
        if (function_.registers.size() + static_cast<std::size_t>(range.count) > maximumRegisters)
            tokens_.refuse("too many registers");
        function_.registers.resize(function_.registers.size() + static_cast<std::size_t>(range.count), *type);
        scopes_.back().registers[name] = range;
        for (int i = 0; i < range.count; ++i)
            function_.registerNames.push_back(range.isRange ? name + std::to_string(i) : name);
    } while (tokens_.takePunctuation(','));
    tokens_.expectPunctuation(';');
}

/// ".loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN]". Code inlined from a
/// header is attributed to the call in the function's own file: that is the line its author can change.
void BodyParser::parseLocation()
{
    tokens_.next();
    const auto readPlace = [this] {
        SourceLocation place;
        place.file = static_cast<int>(tokens_.expectInteger("a file number"));
        place.line = static_cast<int>(tokens_.expectInteger("a line number"));
        if (tokens_.peek().kind == TokenKind::Integer)
            place.column = static_cast<int>(tokens_.expectInteger("a column number"));
        return place;
    };
    const SourceLocation own = readPlace();
    SourceLocation resolved = own;
    while (tokens_.takePunctuation(',')) {
        const std::string attribute = tokens_.expectWord("function_name or inlined_at");
        if (attribute != "inlined_at") {
            tokens_.expectWord("a label");
            if (tokens_.takePunctuation('+')) tokens_.expectInteger("an offset");
            continue;
        }
        const SourceLocation caller = readPlace();
        const auto found = inlined_.find({caller.file, caller.line, caller.column});
        const SourceLocation origin = found == inlined_.end() ? caller : found->second;
        if (own.file != mainFile_) resolved = origin;
        inlined_[{own.file, own.line, own.column}] = resolved;
    }
    if (mainFile_ == 0) mainFile_ = own.file;
    if (resolved.line != 0) location_ = resolved;
}

void BodyParser::parseLabelledDirective(const std::string &label)
{
    const std::string directive(tokens_.next().text);
    if (directive == ".branchtargets") {
        std::vector<std::string> &targets = function_.branchTables[label];
        do {
            targets.push_back(tokens_.expectWord("a label"));
        } while (tokens_.takePunctuation(','));
        return tokens_.expectPunctuation(';');
    }
    // Prototypes and target lists of indirect calls: the callee's own declaration says the same.
    while (!tokens_.atEnd() && !tokens_.takePunctuation(';'))
        tokens_.next();
}

void BodyParser::parseInstruction()
{
    Statement statement;
    statement.ptxLine = tokens_.peek().line;
    statement.location = location_;
    statement.scope = scopes_.back().id;
    if (tokens_.takePunctuation('@')) {
        statement.isGuardNegated = tokens_.takePunctuation('!');
        statement.guard = findRegister(tokens_.peek().text);
        if (statement.guard < 0 ||
            function_.registers[static_cast<std::size_t>(statement.guard)] != Type::Predicate)
            tokens_.refuse("expected a predicate register");
        tokens_.next();
    }
    for (const std::string &word : splitText(tokens_.expectWord("an instruction"), '.'))
        statement.words.push_back(word);
    if (statement.words[0] == "call")
        parseCall(statement);
    else if (!tokens_.isPunctuation(';'))
        statement.operands = parseOperandList();
    tokens_.expectPunctuation(';');
    function_.statements.push_back(std::move(statement));
}

/// "call.uni (results), callee, (arguments), prototype;", results, arguments and prototype being optional.
void BodyParser::parseCall(Statement &statement)
{
    if (tokens_.takePunctuation('(')) {
        statement.results = parseOperandList();
        tokens_.expectPunctuation(')');
        tokens_.expectPunctuation(',');
    }
    statement.operands.push_back(parseOperand());
    while (tokens_.takePunctuation(',')) {
        if (tokens_.takePunctuation('(')) {
            if (!tokens_.isPunctuation(')')) statement.arguments = parseOperandList();
            tokens_.expectPunctuation(')');
        } else {
            statement.operands.push_back(parseOperand());
        }
    }
}

std::vector<Operand> BodyParser::parseOperandList()
{
    std::vector<Operand> operands;
    do {
        operands.push_back(parseOperand());
        if (operands.size() > 256) tokens_.refuse("too many operands");
    } while (tokens_.takePunctuation(','));
    return operands;
}

Operand BodyParser::parseOperand(int depth)
{
    if (depth > 2) tokens_.refuse("operands are nested too deeply");
    Operand operand;
    if (tokens_.takePunctuation('{')) {
        operand.kind = Operand::Kind::Vector;
        do {
            operand.elements.push_back(parseOperand(depth + 1));
            if (operand.elements.size() > 256) tokens_.refuse("too many operands");
        } while (tokens_.takePunctuation(','));
        tokens_.expectPunctuation('}');
        return operand;
    }
    if (tokens_.takePunctuation('[')) return parseAddress();
    if (tokens_.takePunctuation('-')) return parseNumber(true);
    const bool isNegated = tokens_.takePunctuation('!');
    operand = tokens_.peek().kind == TokenKind::Word ? parseWordOperand() : parseNumber(false);
    operand.isNegated = isNegated;
    if (depth == 0 && tokens_.takePunctuation('|')) {
        Operand pair;
        pair.kind = Operand::Kind::Vector;
        pair.isPair = true;
        pair.elements = {operand, parseOperand(depth + 1)};
        return pair;
    }
    return operand;
}

Operand BodyParser::parseNumber(bool isNegative)
{
    const Token token = tokens_.peek();
    Operand operand;
    operand.bits = token.bits;
    switch (token.kind) {
    case TokenKind::Integer:
        operand.kind = Operand::Kind::Integer;
        if (isNegative) operand.bits = -operand.bits;
        break;
    case TokenKind::Float32:
        operand.kind = Operand::Kind::Float32;
        if (isNegative) operand.bits ^= 0x80000000u;
        break;
    case TokenKind::Float64:
        operand.kind = Operand::Kind::Float64;
        if (isNegative) operand.bits ^= std::uint64_t{1} << 63;
        break;
    default:
        tokens_.refuse("expected an operand");
    }
    tokens_.next();
    return operand;
}

Operand BodyParser::parseWordOperand()
{
    const std::string_view word = tokens_.peek().text;
    Operand operand;
    if (word == "_") {
        operand.kind = Operand::Kind::Sink;
        tokens_.next();
        return operand;
    }
    operand.registerIndex = findRegister(word);
    if (operand.registerIndex >= 0) {
        operand.kind = Operand::Kind::Register;
        tokens_.next();
        return operand;
    }
    operand.symbol = std::string(word);
    operand.kind = word[0] == '%' ? Operand::Kind::Special : Operand::Kind::Symbol;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        const auto found = scope->variables.find(word);
        if (found == scope->variables.end()) continue;
        operand.symbol = found->second;
        operand.kind = Operand::Kind::Symbol;
        break;
    }
    tokens_.next();
    if (tokens_.isPunctuation('+') && tokens_.peek(1).kind == TokenKind::Integer) {
        tokens_.next();
        operand.bits = tokens_.next().bits;
    }
    return operand;
}

/// "[base+offset]", "[base]" or "[offset]", the '[' being read.
Operand BodyParser::parseAddress()
{
    Operand address;
    address.kind = Operand::Kind::Address;
    if (tokens_.peek().kind == TokenKind::Word) {
        const Operand base = parseWordOperand();
        address.registerIndex = base.registerIndex;
        address.symbol = base.symbol;
        address.bits = base.bits;
        if (base.kind == Operand::Kind::Special || base.kind == Operand::Kind::Sink)
            tokens_.refuse("an address cannot start with this");
    } else {
        address.bits = static_cast<std::uint64_t>(tokens_.expectInteger("an address"));
    }
    if (tokens_.takePunctuation('+'))
        address.bits += static_cast<std::uint64_t>(tokens_.expectInteger("an offset"));
    else if (tokens_.isPunctuation('-'))
        address.bits += static_cast<std::uint64_t>(tokens_.expectInteger("an offset"));
    while (tokens_.takePunctuation(',')) {
        address.isAddressed = true;
        address.elements.push_back(parseOperand(1));
    }
    tokens_.expectPunctuation(']');
    return address;
}

int BodyParser::findRegister(std::string_view name) const
{
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const std::string_view prefix = name.substr(0, digits);
    int number = -1;
    if (digits < name.size()) {
        const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
        if (error != std::errc()) number = -1;
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        const auto exact = scope->registers.find(name);
        if (exact != scope->registers.end() && !exact->second.isRange) return exact->second.first;
        const auto range = scope->registers.find(prefix);
        if (range != scope->registers.end() && range->second.isRange && number >= 0 &&
            number < range->second.count)
            return range->second.first + number;
    }
    return -1;
}

} // namespace kernelwright::simt
