// SPDX-License-Identifier: GPL-3.0-or-later
#include "parser.h"

#include "base/text.h"
#include "body_parser.h"
#include "declarations.h"

namespace kernelwright::simt
{

namespace
{

/// Module scope: everything but the bodies of functions.
class ModuleParser
{
public:
    explicit ModuleParser(TokenStream tokens)
        : tokens_(std::move(tokens))
    {}

    Module parse()
    {
        while (!tokens_.atEnd())
            parseItem();
        if (module_.target.empty()) tokens_.refuse("expected .version and .target: this is not a PTX module");
        return std::move(module_);
    }

private:
    void parseItem()
    {
        const Token token = tokens_.peek();
        if (token.kind != TokenKind::Directive) tokens_.refuse("expected a directive");
        tokens_.next();
        const std::string_view word = token.text;
        if (word == ".version") {
            tokens_.next();
        } else if (word == ".target") {
            parseTarget();
        } else if (word == ".address_size") {
            if (tokens_.expectInteger("an address size") != 64)
                tokens_.refuse("only 64-bit addresses are supported");
        } else if (word == ".file") {
            parseFile();
        } else if (word == ".section") {
            skipSection();
        } else if (word == ".pragma" || word == ".alias") {
            skipToSemicolon();
        } else if (word == ".loc") {
            tokens_.refuse("a .loc stands outside a function");
        } else {
            parseDefinition(word);
        }
    }

    void parseTarget()
    {
        module_.target = tokens_.expectWord("a target architecture");
        while (tokens_.takePunctuation(','))
            tokens_.expectWord("a target option");
    }

    void parseFile()
    {
        const auto index = static_cast<int>(tokens_.expectInteger("a file number"));
        if (tokens_.peek().kind != TokenKind::String) tokens_.refuse("expected a file name");
        const std::string_view quoted = tokens_.next().text;
        module_.files[index] = std::string(quoted.substr(1, quoted.size() - 2));
        while (tokens_.takePunctuation(','))
            tokens_.next();
    }

    void skipToSemicolon()
    {
        while (!tokens_.atEnd() && !tokens_.takePunctuation(';'))
            tokens_.next();
    }

    void skipSection()
    {
        while (!tokens_.atEnd() && !tokens_.isPunctuation('{'))
            tokens_.next();
        while (!tokens_.atEnd() && !tokens_.takePunctuation('}'))
            tokens_.next();
    }

    void parseDefinition(std::string_view word)
    {
        bool isExtern = false;
        while (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common") {
            isExtern = isExtern || word == ".extern";
            word = tokens_.next().text;
        }
        if (word == ".entry" || word == ".func") return parseFunction(word == ".entry");
        const auto space = spaceFromDirective(word);
        if (!space || *space == Space::Parameter)
            tokens_.refuse("the directive '" + std::string(word) + "' is not known here");
        for (Variable &variable : parseVariables(tokens_, *space, isExtern))
            module_.variables.push_back(std::move(variable));
    }

    std::vector<Variable> parseParameters()
    {
        std::vector<Variable> parameters;
        tokens_.expectPunctuation('(');
        while (!tokens_.takePunctuation(')')) {
            parameters.push_back(parseParameter(tokens_));
            if (!tokens_.takePunctuation(',') && !tokens_.isPunctuation(')'))
                tokens_.refuse("expected ',' or ')'");
        }
        return parameters;
    }

    void parseFunction(bool isEntry)
    {
        Function function;
        function.isEntry = isEntry;
        function.ptxLine = tokens_.peek().line;
        while (tokens_.takeDirective(".noreturn")) {
        }
        if (tokens_.isPunctuation('(')) function.results = parseParameters();
        function.name = tokens_.expectWord("a function name");
        if (tokens_.isPunctuation('(')) function.parameters = parseParameters();
        parseFunctionDirectives(function);
        if (!tokens_.takePunctuation(';')) {
            const Function *known = module_.findFunction(function.name);
            if (known && known->isDefined)
                tokens_.refuse("the function '" + function.name + "' is defined twice");
            function.isDefined = true;
            BodyParser(tokens_, function).parse();
        }
        module_.functions.push_back(std::move(function));
    }

    void parseFunctionDirectives(Function &function)
    {
        while (tokens_.peek().kind == TokenKind::Directive) {
            const std::string_view word = tokens_.next().text;
            std::vector<std::int64_t> values;
            while (tokens_.peek().kind == TokenKind::Integer) {
                values.push_back(tokens_.expectInteger("a number"));
                if (!tokens_.takePunctuation(',')) break;
            }
            if (word == ".maxntid" || word == ".reqntid")
                setThreadLimit(function, word == ".reqntid", values);
            if (word == ".pragma") skipToSemicolon();
            if (word == ".requiredcluster" || word == ".reqnctapercluster" || word == ".explicitcluster")
                tokens_.refuse("thread block clusters are not supported by the simulator");
        }
    }

    void setThreadLimit(Function &function, bool isRequired, const std::vector<std::int64_t> &values)
    {
        std::int64_t product = 1;
        for (std::size_t i = 0; i < 3; ++i) {
            const std::int64_t size = i < values.size() ? values[i] : 1;
            if (size < 1 || size > 1024) tokens_.refuse("a thread limit has to be within 1 and 1024");
            product *= size;
            if (isRequired) function.requiredThreads[i] = size;
        }
        function.maxThreads = product;
    }

    TokenStream tokens_;
    Module module_;
};

} // namespace

Result<Module> parsePtx(std::string_view text)
{
    auto tokens = tokenizePtx(text);
    if (!tokens) return forward(tokens.error());
    try {
        return ModuleParser(TokenStream(std::move(*tokens))).parse();
    } catch (const SyntaxError &error) {
        return fail(ErrorCode::BadInput, error.message);
    }
}

} // namespace kernelwright::simt
