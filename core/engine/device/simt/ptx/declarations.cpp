// SPDX-License-Identifier: GPL-3.0-or-later
#include "declarations.h"

#include <bit>
#include <cstring>

namespace kernelwright::simt
{

namespace
{

/// More than any GPU has; keeps a hostile module from asking for the host's memory.
constexpr std::int64_t maximumVariableBytes = std::int64_t{1} << 30;

struct Layout
{
    Type type = Type::None;
    int vectorLength = 1;
    int alignment = 0;
};

/// The directives between the state space and the name: alignment, type, vector length, pointer attributes.
Layout parseLayout(TokenStream &tokens)
{
    Layout layout;
    while (tokens.peek().kind == TokenKind::Directive) {
        const std::string_view word = tokens.peek().text.substr(1);
        const auto type = typeFromName(word);
        tokens.next();
        if (word == "align") {
            const std::int64_t alignment = tokens.expectInteger("an alignment");
            if (alignment < 1 || alignment > 4096 ||
                !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
                tokens.refuse("an alignment has to be a power of two up to 4096");
            // Behind ".ptr" the alignment is that of the memory pointed at, not of the parameter.
            if (layout.type == Type::None) layout.alignment = static_cast<int>(alignment);
        } else if (word == "v2" || word == "v4" || word == "v8") {
            layout.vectorLength = word[1] - '0';
        } else if (word == "attribute") {
            tokens.expectPunctuation('(');
            while (!tokens.atEnd() && !tokens.takePunctuation(')'))
                tokens.next();
        } else if (type) {
            layout.type = *type;
        } else if (word != "ptr" && word != "global" && word != "shared" && word != "const" &&
                   word != "local") {
            tokens.refuse("the directive before this is not known in a declaration");
        }
    }
    if (layout.type == Type::None || layout.type == Type::Predicate) tokens.refuse("expected a type");
    return layout;
}

/// Reads "[4][2]" and returns the number of elements; "[]" sets isOpen.
std::int64_t parseDimensions(TokenStream &tokens, bool &isOpen)
{
    std::int64_t count = 1;
    while (tokens.takePunctuation('[')) {
        if (tokens.takePunctuation(']')) {
            isOpen = true;
            continue;
        }
        const std::int64_t size = tokens.expectInteger("an array size");
        if (size < 0 || size > maximumVariableBytes ||
            count * std::max<std::int64_t>(size, 1) > maximumVariableBytes)
            tokens.refuse("an array is too large");
        count *= size;
        tokens.expectPunctuation(']');
    }
    return count;
}

class InitializerReader
{
public:
    InitializerReader(TokenStream &tokens, Variable &variable)
        : tokens_(tokens)
        , variable_(variable)
    {}

    void read(int depth = 0)
    {
        if (depth > 8) tokens_.refuse("an initializer is nested too deeply");
        if (!tokens_.takePunctuation('{')) return readValue();
        while (!tokens_.takePunctuation('}')) {
            read(depth + 1);
            if (!tokens_.takePunctuation(',') && !tokens_.isPunctuation('}'))
                tokens_.refuse("expected ',' or '}'");
        }
    }

private:
    void append(std::uint64_t bits)
    {
        const auto size = static_cast<std::size_t>(typeBytes(variable_.type));
        std::uint8_t bytes[8];
        std::memcpy(bytes, &bits, sizeof bytes);
        variable_.initial.insert(variable_.initial.end(), bytes, bytes + std::min<std::size_t>(size, 8));
        if (static_cast<std::int64_t>(variable_.initial.size()) > maximumVariableBytes)
            tokens_.refuse("an initializer is too long");
    }

    void readValue()
    {
        const bool isNegative = tokens_.takePunctuation('-');
        const Token token = tokens_.peek();
        switch (token.kind) {
        case TokenKind::Integer:
            tokens_.next();
            return append(isNegative ? -token.bits : token.bits);
        case TokenKind::Float32:
        case TokenKind::Float64: {
            tokens_.next();
            const std::uint64_t sign = variable_.type == Type::F32 ? 0x80000000ull : 1ull << 63;
            const bool isNarrowed = token.kind == TokenKind::Float64 && variable_.type == Type::F32;
            const std::uint64_t bits =
                isNarrowed
                    ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(token.bits)))
                    : token.bits;
            return append(isNegative ? bits ^ sign : bits);
        }
        case TokenKind::Word:
            return readSymbol();
        default:
            tokens_.refuse("expected a value");
        }
    }

    void readSymbol()
    {
        Variable::SymbolReference reference;
        reference.offset = static_cast<std::int64_t>(variable_.initial.size());
        reference.symbol = tokens_.expectWord("a symbol");
        if (reference.symbol == "generic" && tokens_.takePunctuation('(')) {
            reference.isGeneric = true;
            reference.symbol = tokens_.expectWord("a symbol");
            tokens_.expectPunctuation(')');
        }
        if (tokens_.takePunctuation('+')) reference.addend = tokens_.expectInteger("an offset");
        if (typeBytes(variable_.type) != 8) tokens_.refuse("only 64-bit variables can hold an address");
        variable_.references.push_back(reference);
        append(0);
    }

    TokenStream &tokens_;
    Variable &variable_;
};

} // namespace

std::optional<Space> spaceFromDirective(std::string_view directive)
{
    if (directive == ".global") return Space::Global;
    if (directive == ".const") return Space::Constant;
    if (directive == ".shared") return Space::Shared;
    if (directive == ".local") return Space::Local;
    if (directive == ".param") return Space::Parameter;
    return std::nullopt;
}

std::vector<Variable> parseVariables(TokenStream &tokens, Space space, bool isExtern)
{
    const Layout layout = parseLayout(tokens);
    std::vector<Variable> variables;
    do {
        Variable variable;
        variable.ptxLine = tokens.peek().line;
        variable.space = space;
        variable.type = layout.type;
        variable.name = tokens.expectWord("a variable name");
        bool isOpen = false;
        const std::int64_t count = parseDimensions(tokens, isOpen) * layout.vectorLength;
        const int elementBytes = typeBytes(layout.type);
        variable.alignment = std::max(layout.alignment, elementBytes * layout.vectorLength);
        if (layout.alignment != 0) variable.alignment = layout.alignment;
        if (tokens.takePunctuation('=')) InitializerReader(tokens, variable).read();
        variable.isExternArray = isOpen && variable.initial.empty();
        variable.byteCount =
            isOpen ? static_cast<std::int64_t>(variable.initial.size()) : count * elementBytes;
        if (variable.byteCount > maximumVariableBytes) tokens.refuse("a variable is too large");
        if (static_cast<std::int64_t>(variable.initial.size()) > variable.byteCount)
            tokens.refuse("an initializer is longer than its variable");
        if (isOpen && variable.initial.empty() && !(isExtern && space == Space::Shared))
            tokens.refuse("an array without a size has to be extern shared memory");
        variables.push_back(std::move(variable));
    } while (tokens.takePunctuation(','));
    tokens.expectPunctuation(';');
    return variables;
}

Variable parseParameter(TokenStream &tokens)
{
    Variable parameter;
    parameter.ptxLine = tokens.peek().line;
    if (!tokens.takeDirective(".param")) tokens.refuse("expected .param");
    const Layout layout = parseLayout(tokens);
    parameter.space = Space::Parameter;
    parameter.type = layout.type;
    parameter.name = tokens.expectWord("a parameter name");
    bool isOpen = false;
    const std::int64_t count = parseDimensions(tokens, isOpen);
    if (isOpen) tokens.refuse("variadic parameters are not supported");
    parameter.byteCount = count * layout.vectorLength * typeBytes(layout.type);
    parameter.alignment = layout.alignment ? layout.alignment : typeBytes(layout.type);
    if (parameter.byteCount > 32764)
        tokens.refuse("a parameter is larger than the 32764 bytes a launch can pass");
    return parameter;
}

} // namespace kernelwright::simt
