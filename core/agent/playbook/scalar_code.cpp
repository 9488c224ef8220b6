// SPDX-License-Identifier: GPL-3.0-or-later
#include "scalar_code.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

constexpr std::size_t longestInline = 56; // an expression longer than this gets a name, for people to read

std::string indentation(int depth)
{
    return std::string(static_cast<std::size_t>(depth) * 4, ' ');
}

ValueKey keyOf(TensorId id, const std::vector<Index> &coordinates)
{
    std::string at;
    for (const Index &coordinate : coordinates)
        at += coordinate.text() + ",";
    return {id, at};
}

bool isIdentifier(const std::string &text)
{
    return toIdentifier(text) == text;
}

std::string parenthesised(const Fragment &fragment, int least)
{
    return fragment.precedence >= least ? fragment.text : "(" + fragment.text + ")";
}

} // namespace

ScalarWriter::ScalarWriter(const TensorProgram &program, const Schedule &schedule, AccessPlanner &planner,
                           NameScope &names)
    : program_(program)
    , schedule_(schedule)
    , planner_(planner)
    , names_(names)
    , usesPacks_(usesPacks(schedule))
    , uses_(program.useCounts())
{}

Lines &ScalarWriter::linesFor(int level)
{
    if (branch_) return *branch_;
    return level >= 2 ? elementLines_ : rowLines_;
}

bool usesPacks(const Schedule &schedule)
{
    return schedule.vector > 1 || schedule.streaming || schedule.keep != Keep::Nothing;
}

void ScalarWriter::endPass()
{
    elementMemo_.clear();
    streams_.clear();
    for (const std::string &name : elementNames_)
        names_.release(name);
    elementNames_.clear();
}

std::set<ValueKey> ScalarWriter::costlyValuesOfPass() const
{
    std::set<ValueKey> keys;
    for (const auto &[key, fragment] : elementMemo_)
        if (isCostly(program_.node(key.first).op)) keys.insert(key);
    return keys;
}

std::optional<std::string> ScalarWriter::nameInPass(const ValueKey &key) const
{
    const auto it = elementMemo_.find(key);
    if (it == elementMemo_.end() || !isIdentifier(it->second.text)) return std::nullopt;
    return it->second.text;
}

Lines ScalarWriter::takeRowLines()
{
    return std::exchange(rowLines_, {});
}
Lines ScalarWriter::takeElementLines()
{
    return std::exchange(elementLines_, {});
}

std::string ScalarWriter::hintFor(const TensorNode &node) const
{
    if (!node.name.empty()) return node.op == Op::Load ? node.name + "_value" : node.name;
    switch (node.op) {
    case Op::Exp:
        return "power";
    case Op::Subtract:
        return "difference";
    case Op::Multiply:
        return "product";
    case Op::Add:
        return "sum";
    case Op::Divide:
        return "quotient";
    case Op::Rsqrt:
    case Op::Reciprocal:
        return "scale";
    case Op::Reduce:
        return "row_value";
    default:
        return "part";
    }
}

Fragment ScalarWriter::named(const Fragment &fragment, Number number, const std::string &hint)
{
    if (fragment.level == 0) return fragment;
    const bool isName = fragment.precedence == 3 && isIdentifier(fragment.text);
    if (isName && !fragment.isDouble) return fragment;
    const std::string name = names_.unique(hint);
    if (fragment.level >= 2) elementNames_.push_back(name);
    // Naming is where a value held in double becomes the float that it stands for.
    const std::string value =
        fragment.isDouble ? std::string("static_cast<float>(") + fragment.text + ")" : fragment.text;
    linesFor(fragment.level)
        .push_back(indentation(branchDepth_) + "const " + numberName(number) + " " + name + " = " + value +
                   ";");
    return {name, 3, fragment.level};
}

Fragment ScalarWriter::value(TensorId id, const std::vector<Index> &coordinates)
{
    const TensorNode &node = program_.node(id);
    const ValueKey key = keyOf(id, coordinates);
    for (const auto *memo : {&elementMemo_, &rowMemo_})
        if (const auto it = memo->find(key); it != memo->end()) return it->second;
    Fragment fragment = compute(id, node, coordinates);
    const bool isShared = uses_[static_cast<std::size_t>(id)] > 1;
    const bool isView = node.op == Op::Reindex;
    const auto array = branch_ ? kept_.end() : kept_.find(key);
    if (array != kept_.end())
        fragment = {"kept ? " + array->second + "[item].at[k] : " + parenthesised(fragment, 1), 0, 2};
    const bool needsName = isShared || array != kept_.end() || toName_.count(key) > 0;
    if (!isView && (needsName || fragment.text.size() > longestInline) && !fragment.isDouble)
        fragment = named(fragment, numberOf(node.dtype), hintFor(node));
    (fragment.level >= 2 ? elementMemo_ : rowMemo_)[key] = fragment;
    return fragment;
}

Fragment ScalarWriter::compute(TensorId id, const TensorNode &node, const std::vector<Index> &coordinates)
{
    switch (node.op) {
    case Op::Load:
        return load(node, coordinates);
    case Op::Literal:
        return {isWhole(node.dtype) ? literalText(node.integer, numberOf(node.dtype))
                                    : literalText(node.number, numberOf(node.dtype)),
                3, 0};
    case Op::Position:
        return position(node, coordinates[0]);
    case Op::SizeValue:
        return {std::string("static_cast<") + numberName(numberOf(node.dtype)) + ">(" +
                    planner_.text(node.source[0]) + ")",
                3, 1};
    case Op::Reduce:
        return reductions_.at(id);
    case Op::Reindex: {
        std::vector<Index> own;
        for (const Index &source : node.source)
            own.push_back(source.substituted(placeholderValues(coordinates)));
        return value(node.operands[0], own);
    }
    case Op::Concatenate:
        return concatenated(node, coordinates);
    default:
        break;
    }
    std::vector<Fragment> operands;
    int level = 0;
    for (const TensorId operandId : node.operands) {
        const TensorNode &operand = program_.node(operandId);
        operands.push_back(value(operandId, operandCoordinates(node, operand, coordinates)));
        level = std::max(level, operands.back().level);
    }
    // What is the same for the whole row is computed before the loop, not in it.
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (level == 2 && operands[i].level == 1 && !branch_) {
            const TensorNode &operand = program_.node(node.operands[i]);
            operands[i] = named(operands[i], numberOf(operand.dtype), hintFor(operand));
        }
    const bool isDouble =
        level < 2 && numberOf(node.dtype) == Number::Float32 &&
        std::any_of(operands.begin(), operands.end(), [](const Fragment &f) { return f.isDouble; });
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const TensorId operandId = node.operands[i];
        if (isDouble)
            operands[i] = inDouble(operandId, operands[i]);
        else if (operands[i].isDouble)
            operands[i] = named(operands[i], Number::Float32, hintFor(program_.node(operandId)));
    }
    const bool dividesByRow = node.op == Op::Divide && schedule_.reciprocal && !isWhole(node.dtype) &&
                              !branch_ && operands[0].level == 2 && operands[1].level < 2;
    Fragment result = dividesByRow ? timesReciprocal(node, operands) : arithmetic(node, operands);
    result.level = level;
    result.isDouble = isDouble;
    return result;
}

// Constants lose their float suffix next to values in double; everything else is converted by C's own rules.
Fragment ScalarWriter::inDouble(TensorId id, const Fragment &fragment) const
{
    const TensorNode &node = program_.node(id);
    if (node.op == Op::Literal && !isWhole(node.dtype))
        return {literalText(node.number, Number::Float64), 3, 0};
    if (fragment.isDouble || numberOf(node.dtype) != Number::Float32) return fragment;
    return {"static_cast<double>(" + fragment.text + ")", 3, fragment.level};
}

std::string ScalarWriter::summand(TensorId id, const std::vector<Index> &coordinates)
{
    const TensorNode &node = program_.node(id);
    const bool isProduct = node.op == Op::Multiply && uses_[static_cast<std::size_t>(id)] == 1;
    if (!isProduct) return value(id, coordinates).text;
    std::vector<Fragment> factors;
    for (const TensorId operandId : node.operands)
        factors.push_back(value(operandId, operandCoordinates(node, program_.node(operandId), coordinates)));
    return infix({"static_cast<double>(" + factors[0].text + ")", 3, 0}, "*", factors[1], 2).text;
}

// x / r for every x of a row as x * (1 / r): one division per row and one more rounding per element.
Fragment ScalarWriter::timesReciprocal(const TensorNode &node, const std::vector<Fragment> &operands)
{
    const Number number = numberOf(node.dtype);
    Fragment inverse = infix({literalText(1.0, number), 3, 0}, "/", operands[1], 2);
    inverse.level = 1;
    return infix(operands[0], "*", named(inverse, number, "inverse"), 2);
}

Fragment ScalarWriter::load(const TensorNode &node, const std::vector<Index> &coordinates)
{
    const ValueKey key = keyOf(node.input, coordinates);
    auto it = accessIndex_.find(key);
    if (it == accessIndex_.end()) {
        Access access = planner_.input(node.input, coordinates);
        access.name = names_.uniqueStem(access.pointer);
        accesses_.push_back(std::move(access));
        it = accessIndex_.emplace(key, accesses_.size() - 1).first;
    }
    const Access &access = accesses_[it->second];
    const bool dependsOnElement = access.moves;
    if (access.streams && !branch_) {
        if (std::find(streams_.begin(), streams_.end(), it->second) == streams_.end())
            streams_.push_back(it->second);
        const std::string element =
            usesPacks_ ? access.name + "_pack.at[k]" : access.pointer + "[" + access.name + "_at]";
        return {loadedText(element, node.dtype), 3, 2};
    }
    std::string offset = access.baseText;
    if (access.moves) offset = offset == "0" ? access.movingText : "(" + offset + ") + " + access.movingText;
    return {loadedText(access.pointer + "[" + offset + "]", node.dtype), 3, dependsOnElement ? 2 : 1};
}

Fragment ScalarWriter::position(const TensorNode &node, const Index &coordinate)
{
    const Index at = Index(node.integer) + coordinate * static_cast<std::int64_t>(node.number);
    std::string text = planner_.text(at);
    // Unsigned coordinates must not wrap around at a negative start.
    if (!coordinate.isConstant()) {
        const Index wide = planner_.linear(coordinate);
        text = "static_cast<long long>(" + planner_.text(wide) + ")";
        if (node.number != 1) text += " * " + std::to_string(static_cast<std::int64_t>(node.number));
        if (node.integer != 0) text += " + " + std::to_string(node.integer);
    }
    const int level = planner_.dependsOnColumn(coordinate) ? 2 : 1;
    return {std::string("static_cast<") + numberName(numberOf(node.dtype)) + ">(" + text + ")", 3, level};
}

// One piece or another, by where the coordinate lies: a branch, since the other piece has no element there to
// load.
Fragment ScalarWriter::concatenated(const TensorNode &node, const std::vector<Index> &coordinates)
{
    const auto dimension = static_cast<std::size_t>(node.dimension);
    int level = 1;
    for (const Index &coordinate : coordinates)
        if (planner_.dependsOnColumn(coordinate)) level = 2;
    const std::string name = names_.unique(hintFor(node));
    Lines &lines = linesFor(level);
    const std::string indent = indentation(branchDepth_);
    lines.push_back(indent + numberName(numberOf(node.dtype)) + " " + name + ";");
    Index begin;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const Index end = begin + program_.node(node.operands[i]).extents[dimension];
        const bool isLast = i + 1 == node.operands.size();
        const std::string condition =
            "if (" + planner_.text(coordinates[dimension]) + " < " + planner_.text(end) + ") {";
        lines.push_back(indent + (i == 0 ? "" : "} else ") + (isLast ? (i == 0 ? "{" : "{") : condition));
        std::vector<Index> own = coordinates;
        own[dimension] = own[dimension] - begin;
        const auto rowMemo = rowMemo_, elementMemo = elementMemo_;
        Lines inner, *outer = std::exchange(branch_, nullptr);
        branch_ = &inner;
        ++branchDepth_;
        const Fragment piece = value(node.operands[i], own);
        inner.push_back(indentation(branchDepth_) + name + " = " + piece.text + ";");
        --branchDepth_;
        branch_ = outer;
        rowMemo_ = rowMemo;
        elementMemo_ = elementMemo;
        Lines &target = linesFor(level);
        target.insert(target.end(), inner.begin(), inner.end());
        begin = end;
    }
    linesFor(level).push_back(indent + "}");
    return {name, 3, level};
}

Fragment ScalarWriter::call(const std::string &function, const std::vector<Fragment> &arguments) const
{
    std::string text = function + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)
        text += (i ? ", " : "") + arguments[i].text;
    return {text + ")", 3, 0};
}

Fragment ScalarWriter::infix(const Fragment &left, const char *symbol, const Fragment &right,
                             int precedence) const
{
    return {parenthesised(left, precedence) + " " + symbol + " " + parenthesised(right, precedence + 1),
            precedence, 0};
}

} // namespace kernelwright::playbook
