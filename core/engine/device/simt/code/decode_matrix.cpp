// SPDX-License-Identifier: GPL-3.0-or-later
// mma, wmma, ldmatrix, stmatrix and movmatrix.
#include "function_decoder.h"

#include <charconv>

namespace kernelwright::simt
{

namespace
{

/// "m16n8k16" → its numbers.
std::optional<MatrixShape> shapeFromName(std::string_view word)
{
    MatrixShape shape;
    int *const numbers[] = {&shape.rows, &shape.columns, &shape.depth};
    for (int i = 0; i < 3; ++i) {
        if (word.empty() || word.front() != "mnk"[i]) return std::nullopt;
        const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), *numbers[i]);
        if (error != std::errc()) return std::nullopt;
        word.remove_prefix(static_cast<std::size_t>(end - word.data()));
    }
    return word.empty() ? std::optional(shape) : std::nullopt;
}

/// What an element may be accumulated in.
bool isAccumulator(MatrixElement element, MatrixElement accumulator)
{
    switch (element) {
    case MatrixElement::F64:
        return accumulator == MatrixElement::F64;
    case MatrixElement::F16:
    case MatrixElement::E4M3:
    case MatrixElement::E5M2:
        return accumulator == MatrixElement::F32 || accumulator == MatrixElement::F16;
    case MatrixElement::BF16:
    case MatrixElement::TF32:
        return accumulator == MatrixElement::F32;
    default:
        return accumulator == MatrixElement::S32;
    }
}

bool isOperandPair(MatrixElement a, MatrixElement b)
{
    const auto isEither = [](MatrixElement element, MatrixElement first, MatrixElement second) {
        return element == first || element == second;
    };
    return a == b ||
           (isEither(a, MatrixElement::S8, MatrixElement::U8) &&
            isEither(b, MatrixElement::S8, MatrixElement::U8)) ||
           (isEither(a, MatrixElement::S4, MatrixElement::U4) &&
            isEither(b, MatrixElement::S4, MatrixElement::U4)) ||
           (isEither(a, MatrixElement::E4M3, MatrixElement::E5M2) &&
            isEither(b, MatrixElement::E4M3, MatrixElement::E5M2));
}

/// The shapes of mma: a row of A is 128 or 256 bits long, or 4, 8 or 16 doubles.
bool isMmaShape(const MatrixShape &shape, MatrixElement element)
{
    if (shape.columns != 8) return false;
    if (element == MatrixElement::F64)
        return shape.rows == 8
                   ? shape.depth == 4
                   : shape.rows == 16 && (shape.depth == 4 || shape.depth == 8 || shape.depth == 16);
    const int rowBits = shape.depth * elementBits(element);
    const bool isInteger = elementBits(element) <= 8 && !isFloatElement(element);
    if (shape.rows == 8) return isInteger && rowBits == 128;
    return shape.rows == 16 && (rowBits == 128 || rowBits == 256);
}

bool isWmmaShape(const MatrixShape &shape, MatrixElement element)
{
    const auto is = [&](int rows, int columns, int depth) {
        return shape == MatrixShape{rows, columns, depth};
    };
    switch (element) {
    case MatrixElement::F16:
    case MatrixElement::BF16:
    case MatrixElement::S8:
    case MatrixElement::U8:
        return is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16);
    case MatrixElement::TF32:
        return is(16, 16, 8);
    case MatrixElement::F64:
        return is(8, 8, 4);
    case MatrixElement::S4:
    case MatrixElement::U4:
        return is(8, 8, 32);
    case MatrixElement::B1:
        return is(8, 8, 128);
    default:
        return false;
    }
}

/// Accumulators are loaded and stored without saying what was multiplied.
bool isWmmaAccumulatorShape(const MatrixShape &shape, MatrixElement element)
{
    for (const MatrixElement operand : {MatrixElement::F16, MatrixElement::S8, MatrixElement::TF32,
                                        MatrixElement::F64, MatrixElement::S4, MatrixElement::B1})
        if (isWmmaShape(shape, operand) && isAccumulator(operand, element)) return true;
    return isWmmaShape(shape, MatrixElement::TF32) && element == MatrixElement::F32;
}

} // namespace

bool FunctionDecoder::decodeMatrix(OpcodeWords &words)
{
    const std::string &root = words.root();
    if (root == "mma") {
        decodeMultiply(words, false);
    } else if (root == "wmma") {
        if (words.take("mma"))
            decodeMultiply(words, true);
        else
            decodeFragmentAccess(words);
    } else if (root == "ldmatrix" || root == "stmatrix") {
        decodeMatrixRows(words, root == "stmatrix");
    } else if (root == "movmatrix") {
        for (const char *word : {"sync", "aligned", "m8n8", "trans", "b16"})
            if (!words.take(word)) unsupported();
        requireNoRest(words);
        requireOperands(2, 2);
        Instruction instruction = startMatrix(Kind::MoveMatrix, OpClass::Warp);
        instruction.destination = destination(statement_->operands[0], Type::B32);
        instruction.a = operand(statement_->operands[1], Type::B32);
        emit(instruction);
    } else {
        return false;
    }
    return true;
}

/// All lanes of the warp come together for it, as for an operation that names them.
Instruction FunctionDecoder::startMatrix(Kind kind, OpClass opClass)
{
    Instruction instruction = start(kind, opClass);
    instruction.c = context_.constant(fullMask, false);
    return instruction;
}

MatrixShape FunctionDecoder::takeShape(OpcodeWords &words) const
{
    for (const std::string &word : words.rest())
        if (const auto shape = shapeFromName(word)) {
            words.take(std::string(word));
            return *shape;
        }
    malformed("names no matrix shape");
}

MatrixElement FunctionDecoder::takeElement(OpcodeWords &words) const
{
    for (const std::string &word : words.rest())
        if (const auto element = matrixElementFromName(word)) {
            words.take(std::string(word));
            return *element;
        }
    malformed("an element type is missing or not known");
}

MatrixFragment FunctionDecoder::fragment(const Operand &value, MatrixRole role, MatrixElement element,
                                         const MatrixShape &shape, bool isWmma, bool isResult)
{
    MatrixFragment result;
    result.element = element;
    int count = 0;
    FragmentMap map = isWmma ? wmmaFragment(role, element, shape, count) : mmaFragment(role, element, shape);
    if (!isWmma) count = map.registers;
    const bool isVector = value.kind == Operand::Kind::Vector && !value.isPair;
    const std::size_t given = isVector ? value.elements.size() : 1;
    if (given != static_cast<std::size_t>(count) || given > maximumFragmentRegisters)
        malformed("a fragment has " + std::to_string(given) + " registers instead of " +
                  std::to_string(count));
    result.count = static_cast<std::uint8_t>(count);
    const Type type = element == MatrixElement::F64 ? Type::B64 : Type::B32;
    for (std::size_t i = 0; i < given; ++i) {
        const Operand &part = isVector ? value.elements[i] : value;
        result.registers[i] = {isResult ? destination(part, type) : operand(part, type), type == Type::B64};
    }
    result.map = context_.fragmentMap(std::move(map));
    return result;
}

void FunctionDecoder::decodeMultiply(OpcodeWords &words, bool isWmma)
{
    if (!words.take("sync")) unsupported();
    words.take("aligned");
    MatrixMultiply multiply;
    multiply.shape = takeShape(words);
    const bool isRow = words.take("row"), isColumn = words.take("col");
    // wmma's fragments know nothing of the layout they were loaded with; mma takes rows of A and columns of
    // B.
    if (isWmma) {
        words.take("row");
        words.take("col");
    } else if (!isRow || !isColumn) {
        unsupported("only .row.col");
    }
    words.take("kind::f8f6f4");
    multiply.saturates = words.take("satfinite");
    words.take("rn");
    multiply.isXor = words.take("xor");
    const bool combinesBits = words.take("and") || multiply.isXor;
    if (combinesBits && !words.take("popc")) unsupported();
    std::vector<MatrixElement> types;
    while (!words.rest().empty() && types.size() < 4)
        types.push_back(takeElement(words));
    requireNoRest(words);
    requireOperands(4, 4);
    // wmma on half precision names only what it accumulates in.
    if (types.size() == 2) types = {types[0], MatrixElement::F16, MatrixElement::F16, types[1]};
    if (types.size() != 4) malformed("names a wrong number of element types");
    if (!isOperandPair(types[1], types[2]) || !isAccumulator(types[1], types[0]) ||
        !isAccumulator(types[1], types[3]))
        unsupported("these element types");
    if (combinesBits != (types[1] == MatrixElement::B1))
        malformed("only one-bit elements are combined by bits");
    if (!(isWmma ? isWmmaShape(multiply.shape, types[1]) : isMmaShape(multiply.shape, types[1])))
        unsupported("this shape with these element types");
    const auto &operands = statement_->operands;
    const auto read = [&](std::size_t index, MatrixRole role) {
        return fragment(operands[index], role, types[index], multiply.shape, isWmma, index == 0);
    };
    multiply.d = read(0, MatrixRole::Accumulator);
    multiply.a = read(1, MatrixRole::A);
    multiply.b = read(2, MatrixRole::B);
    multiply.c = read(3, MatrixRole::Accumulator);
    Instruction instruction = startMatrix(Kind::MultiplyMatrices, OpClass::Tensor);
    instruction.details = static_cast<std::uint32_t>(context_.program.matrixMultiplies.size());
    context_.program.matrixMultiplies.push_back(multiply);
    emit(instruction);
}

void FunctionDecoder::decodeFragmentAccess(OpcodeWords &words)
{
    FragmentAccess access;
    access.isStore = words.take("store");
    if (!access.isStore && !words.take("load")) unsupported();
    static constexpr std::pair<const char *, MatrixRole> roles[] = {{"a", MatrixRole::A},
                                                                    {"b", MatrixRole::B},
                                                                    {"c", MatrixRole::Accumulator},
                                                                    {"d", MatrixRole::Accumulator}};
    const MatrixRole role = words.takeOne(roles, MatrixRole::Accumulator);
    if (!words.take("sync")) unsupported();
    words.take("aligned");
    const MatrixShape shape = takeShape(words);
    const bool isColumn = words.take("col");
    if (!isColumn && !words.take("row")) malformed("names no layout");
    access.space = words.takeSpace().value_or(Space::Generic);
    const MatrixElement element = takeElement(words);
    requireNoRest(words);
    const bool isKnown = role == MatrixRole::Accumulator ? isWmmaAccumulatorShape(shape, element)
                                                         : isWmmaShape(shape, element);
    if (!isKnown) unsupported("this shape with this element type");
    // B is kept by columns.
    access.isTransposed = (role == MatrixRole::B) != isColumn;
    if (access.isTransposed && elementBits(element) < 8) unsupported("this layout of elements below 8 bits");
    access.rowLength =
        static_cast<std::uint32_t>(role == MatrixRole::Accumulator ? shape.columns : shape.depth);
    requireOperands(2, 3);
    const auto &operands = statement_->operands;
    access.fragment = fragment(operands[access.isStore ? 1 : 0], role, element, shape, true, !access.isStore);
    Instruction instruction =
        startMatrix(Kind::AccessFragment, access.space == Space::Shared ? OpClass::Shared : OpClass::Memory);
    setAddress(instruction, operands[access.isStore ? 0 : 1], access.space, access.isAddress64Bit);
    const int outer = role == MatrixRole::B ? shape.columns : shape.rows;
    const auto packed =
        access.isTransposed ? static_cast<std::uint64_t>(outer) : std::uint64_t{access.rowLength};
    instruction.b = operands.size() == 3 ? operand(operands[2], Type::B32) : context_.constant(packed, false);
    instruction.details = static_cast<std::uint32_t>(context_.program.fragmentAccesses.size());
    context_.program.fragmentAccesses.push_back(access);
    emit(instruction);
}

void FunctionDecoder::decodeMatrixRows(OpcodeWords &words, bool isStore)
{
    static constexpr std::pair<const char *, std::uint8_t> counts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}};
    MatrixRows rows;
    rows.isStore = isStore;
    if (!words.take("sync")) unsupported();
    words.take("aligned");
    if (!words.take("m8n8")) unsupported("only 8 x 8 matrices of 16-bit elements");
    rows.count = words.takeOne(counts, std::uint8_t{0});
    if (rows.count == 0) malformed("names no number of matrices");
    rows.isTransposed = words.take("trans");
    rows.space = words.takeSpace().value_or(Space::Generic);
    if (!words.take("b16")) unsupported("only 8 x 8 matrices of 16-bit elements");
    requireNoRest(words);
    requireOperands(2, 2);
    const Operand &value = statement_->operands[isStore ? 1 : 0];
    const bool isVector = value.kind == Operand::Kind::Vector && !value.isPair;
    if ((isVector ? value.elements.size() : 1) != rows.count) malformed("moves a wrong number of values");
    for (std::size_t i = 0; i < rows.count; ++i) {
        const Operand &part = isVector ? value.elements[i] : value;
        rows.registers[i] = {isStore ? operand(part, Type::B32) : destination(part, Type::B32), false};
    }
    Instruction instruction = startMatrix(Kind::AccessMatrixRows, OpClass::Shared);
    setAddress(instruction, statement_->operands[isStore ? 0 : 1], rows.space, rows.isAddress64Bit);
    instruction.details = static_cast<std::uint32_t>(context_.program.matrixRows.size());
    context_.program.matrixRows.push_back(rows);
    emit(instruction);
}

} // namespace kernelwright::simt
