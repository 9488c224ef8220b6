// SPDX-License-Identifier: GPL-3.0-or-later
#include "input_checks.h"

namespace kernelwright
{

namespace
{

class InputChecker
{
public:
    InputChecker(const OperatorGraph &graph, const std::vector<HostTensor> &inputs, bool anyFloatingType)
        : graph_(graph)
        , inputs_(inputs)
        , anyFloatingType_(anyFloatingType)
    {}

    Result<SymbolValues> run()
    {
        if (inputs_.size() != graph_.inputs.size())
            return fail(ErrorCode::BadInput, "the model takes " + std::to_string(graph_.inputs.size()) +
                                                 " inputs (" + listInputs() + ") but was given " +
                                                 std::to_string(inputs_.size()));
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (const Result<void> fits = checkType(i); !fits) return forward(fits.error());
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (const Result<void> fits = checkExpressions(i); !fits) return forward(fits.error());
        return std::move(symbols_);
    }

private:
    const Value &inputValue(std::size_t index) const { return graph_.value(graph_.inputs[index]); }

    std::string listInputs() const
    {
        std::string names;
        for (const ValueId id : graph_.inputs)
            names += (names.empty() ? "" : ", ") + graph_.value(id).name;
        return names.empty() ? "none" : names;
    }

    static std::string expectation(const TensorType &type)
    {
        std::string sizes;
        for (std::size_t i = 0; i < type.sizes.size(); ++i) {
            const bool symbolic = !type.symbols.empty() && !type.symbols[i].empty();
            sizes += (i ? ", " : "") + (symbolic ? type.symbols[i] : std::to_string(type.sizes[i]));
        }
        return std::string(dtypeName(type.dtype)) + "[" + sizes + "]";
    }

    tl::unexpected<Error> refuse(std::size_t index, const std::string &why) const
    {
        const Value &value = inputValue(index);
        return fail(ErrorCode::BadInput, "input '" + value.name + "' is " + describe(inputs_[index].type) +
                                             ", but the model takes " + expectation(value.type) + ": " + why);
    }

    Result<void> checkType(std::size_t index)
    {
        const TensorType &given = inputs_[index].type;
        const Value &value = inputValue(index);
        if (!inputs_[index].isDefined())
            return fail(ErrorCode::BadInput, "input '" + value.name + "' has no bytes");
        if (value.kind != ValueKind::Tensor) {
            if (given.elementCount() == 1) return {};
            return fail(ErrorCode::BadInput,
                        "input '" + value.name + "' is a single number, but was given as " + describe(given));
        }
        const TensorType &wanted = value.type;
        if (wanted.dtype == DType::Unknown) return {};
        const bool sameType = given.dtype == wanted.dtype ||
                              (anyFloatingType_ && isFloating(given.dtype) && isFloating(wanted.dtype));
        if (!sameType) return refuse(index, "the element types differ");
        if (given.sizes.size() != wanted.sizes.size())
            return refuse(index, "the numbers of dimensions differ");
        for (std::size_t i = 0; i < wanted.sizes.size(); ++i)
            if (const Result<void> fits = checkSize(index, i); !fits) return fits;
        return {};
    }

    Result<void> checkSize(std::size_t index, std::size_t dimension)
    {
        const TensorType &wanted = inputValue(index).type;
        const std::int64_t size = inputs_[index].type.sizes[dimension];
        const std::string symbol = wanted.symbols.empty() ? std::string() : wanted.symbols[dimension];
        if (symbol.empty()) {
            if (size == wanted.sizes[dimension]) return {};
            return refuse(index, "dimension " + std::to_string(dimension) + " must be " +
                                     std::to_string(wanted.sizes[dimension]));
        }
        const auto range = graph_.symbols.find(symbol);
        if (range == graph_.symbols.end()) return {}; // an expression: compared once all symbols are known
        const auto [known, isNew] = symbols_.emplace(symbol, size);
        if (!isNew && known->second != size)
            return refuse(index, symbol + " cannot be both " + std::to_string(known->second) + " and " +
                                     std::to_string(size));
        if (size >= range->second.minimum && size <= range->second.maximum) return {};
        const bool unbounded = range->second.maximum == std::numeric_limits<std::int64_t>::max();
        return refuse(index, symbol + " must be at least " + std::to_string(range->second.minimum) +
                                 (unbounded ? "" : " and at most " + std::to_string(range->second.maximum)));
    }

    Result<void> checkExpressions(std::size_t index) const
    {
        const TensorType &wanted = inputValue(index).type;
        for (std::size_t i = 0; i < wanted.symbols.size(); ++i) {
            const std::string &expression = wanted.symbols[i];
            if (expression.empty() || symbols_.contains(expression)) continue;
            const std::optional<std::int64_t> value = evaluateSymbols(expression, symbols_);
            if (value && *value != inputs_[index].type.sizes[i])
                return refuse(index, "dimension " + std::to_string(i) + " must be " + expression + " = " +
                                         std::to_string(*value));
        }
        return {};
    }

    const OperatorGraph &graph_;
    const std::vector<HostTensor> &inputs_;
    bool anyFloatingType_;
    SymbolValues symbols_;
};

} // namespace

Result<SymbolValues> checkInputs(const OperatorGraph &graph, const std::vector<HostTensor> &inputs,
                                 bool anyFloatingType)
{
    return InputChecker(graph, inputs, anyFloatingType).run();
}

} // namespace kernelwright
