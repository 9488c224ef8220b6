// SPDX-License-Identifier: GPL-3.0-or-later
#include "ops/matrix.h"

#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

constexpr int maximumElements = 4096; ///< of one operand: 16 × 256 bits

// ---- elements

inline float eightBitFloat(std::uint8_t bits, bool hasFourExponentBits)
{
    // Both are half-precision numbers with bits missing; four exponent bits have a bias that is smaller by 8.
    if (!hasFourExponentBits) return toFloat(Half{static_cast<std::uint16_t>(bits << 8)});
    const std::uint16_t sign = static_cast<std::uint16_t>((bits & 0x80u) << 8);
    const std::uint16_t magnitude = static_cast<std::uint16_t>((bits & 0x7fu) << 7);
    const float value = toFloat(Half{static_cast<std::uint16_t>(sign | magnitude)}) * 256.0f;
    return (bits & 0x7fu) == 0x7fu ? castBits<float>(canonicalNan32) : value;
}

/// TF32 operands are single-precision registers of which the low 13 bits are not looked at.
inline float truncatedToTf32(std::uint32_t bits)
{
    const bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
    return castBits<float>(isNan ? canonicalNan32 : bits & 0xffffe000u);
}

inline float floatElement(MatrixElement element, std::uint32_t bits, int part)
{
    switch (element) {
    case MatrixElement::F16:
        return toFloat(Half{static_cast<std::uint16_t>(bits >> (16 * part))});
    case MatrixElement::BF16:
        return toFloat(BFloat{static_cast<std::uint16_t>(bits >> (16 * part))});
    case MatrixElement::TF32:
        return truncatedToTf32(bits);
    case MatrixElement::E4M3:
    case MatrixElement::E5M2:
        return eightBitFloat(static_cast<std::uint8_t>(bits >> (8 * part)), element == MatrixElement::E4M3);
    default:
        return castBits<float>(bits);
    }
}

inline std::int32_t integerElement(MatrixElement element, std::uint32_t bits, int part)
{
    switch (element) {
    case MatrixElement::S8:
        return static_cast<std::int8_t>(bits >> (8 * part));
    case MatrixElement::U8:
        return static_cast<std::uint8_t>(bits >> (8 * part));
    case MatrixElement::S4:
        return static_cast<std::int32_t>((bits >> (4 * part)) << 28) >> 28;
    case MatrixElement::U4:
        return static_cast<std::int32_t>((bits >> (4 * part)) & 0xfu);
    case MatrixElement::B1:
        return static_cast<std::int32_t>((bits >> part) & 1u);
    default:
        return static_cast<std::int32_t>(bits);
    }
}

template <class Value, class Bits, class Read>
inline void gather(const FragmentView &view, Value *dense, Read read)
{
    const std::uint16_t *place = view.places;
    for (int index = 0; index < view.registers; ++index) {
        const auto *lanes = reinterpret_cast<const Bits *>(view.lanes[index]);
        for (int lane = 0; lane < warpSize; ++lane)
            for (int part = 0; part < view.elementsARegister; ++part)
                dense[*place++] = read(lanes[lane], part);
    }
}

inline void gatherFloats(const FragmentView &view, float *dense)
{
    const MatrixElement element = view.element;
    // The usual kinds with their element fixed, so that the loop is specialised.
    if (element == MatrixElement::F16)
        gather<float, std::uint32_t>(view, dense, [](std::uint32_t bits, int part) {
            return floatElement(MatrixElement::F16, bits, part);
        });
    else if (element == MatrixElement::BF16)
        gather<float, std::uint32_t>(view, dense, [](std::uint32_t bits, int part) {
            return floatElement(MatrixElement::BF16, bits, part);
        });
    else
        gather<float, std::uint32_t>(view, dense, [element](std::uint32_t bits, int part) {
            return floatElement(element, bits, part);
        });
}

// ---- floating point

/// Below every exponent of a product.
constexpr std::int32_t exponentOfZero = -20000;

struct FloatRules
{
    int fractionBits;
    std::int32_t smallestExponent; ///< of the element type's normal numbers: denormals are aligned by it
};

inline FloatRules rulesOf(MatrixElement element)
{
    switch (element) {
    case MatrixElement::F16:
        return {25, -14};
    case MatrixElement::E4M3:
        return {13, -6};
    case MatrixElement::E5M2:
        return {13, -14};
    default:
        return {25, -126};
    }
}

inline std::int32_t exponentOf(float value, std::int32_t smallest)
{
    const auto bits = castBits<std::uint32_t>(value) & 0x7fffffffu;
    const auto exponent = static_cast<std::int32_t>(bits >> 23) - 127;
    const std::int32_t clamped = exponent < smallest ? smallest : exponent;
    return bits == 0 ? exponentOfZero : clamped;
}

/// Whether any value is an infinity or NaN.
inline bool exponentsOf(const float *values, int count, std::int32_t smallest, std::int32_t *exponents)
{
    std::int32_t largest = exponentOfZero;
    for (int i = 0; i < count; ++i) {
        const std::int32_t exponent = exponentOf(values[i], smallest);
        exponents[i] = exponent;
        largest = largest < exponent ? exponent : largest;
    }
    return largest >= 128;
}

inline double power(std::int32_t exponent)
{
    return castBits<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline float towardZero(double value)
{
    const auto nearest = static_cast<float>(value);
    if (value == 0 || std::fabs(static_cast<double>(nearest)) <= std::fabs(value)) return nearest;
    // What no single-precision number reaches overflows; below that the cut stays finite.
    if (std::fabs(value) >= 0x1p128) return nearest;
    return castBits<float>(castBits<std::uint32_t>(nearest) - 1u);
}

inline float finish(double value, bool isHalf)
{
    if (isHalf) return toFloat(roundedTo<Half>(roundToOdd(value)));
    return canonical(towardZero(value));
}

/// Sums with an infinity or NaN among the terms, and sums of nothing but zeros, whose sign matters.
inline float plainSum(const float *a, const float *b, int depth, float c, bool isHalf)
{
    double sum = c;
    for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(a[k]) * b[k];
    return finish(sum, isHalf);
}

template <int depth>
inline float alignedSum(const float *a, const float *b, const std::int32_t *aExponents,
                        const std::int32_t *bExponents, float c, int fractionBits, bool isHalf)
{
    std::int32_t top = exponentOf(c, -126);
    for (int k = 0; k < depth; ++k) {
        const std::int32_t exponent = aExponents[k] + bExponents[k];
        top = top < exponent ? exponent : top;
    }
    if (top < exponentOfZero / 2) return plainSum(a, b, depth, c, isHalf);
    const double scale = power(fractionBits - top);
    auto sum = static_cast<std::int64_t>(static_cast<double>(c) * scale);
    for (int k = 0; k < depth; ++k)
        sum += static_cast<std::int32_t>(static_cast<double>(a[k]) * static_cast<double>(b[k]) * scale);
    return finish(static_cast<double>(sum) * power(top - fractionBits), isHalf);
}

template <int depth>
void multiplyRows(const DenseWork &work)
{
    const FloatRules rules = rulesOf(work.element);
    const int rows = work.shape.rows, columns = work.shape.columns;
    constexpr int most = 256;
    std::int32_t bExponents[most * depth];
    bool isSpecialColumn[most];
    for (int column = 0; column < columns; ++column)
        isSpecialColumn[column] =
            exponentsOf(work.b + column * depth, depth, rules.smallestExponent, bExponents + column * depth);
    for (int row = 0; row < rows; ++row) {
        const float *a = work.a + row * depth;
        std::int32_t aExponents[depth];
        const bool isSpecialRow = exponentsOf(a, depth, rules.smallestExponent, aExponents);
        float *accumulators = work.accumulator + row * columns;
        for (int column = 0; column < columns; ++column) {
            const float *b = work.b + column * depth;
            const float c = accumulators[column];
            const bool isSpecial =
                isSpecialRow || isSpecialColumn[column] || !(std::fabs(c) <= 0x1.fffffep127f);
            accumulators[column] = isSpecial
                                       ? plainSum(a, b, depth, c, work.isHalf)
                                       : alignedSum<depth>(a, b, aExponents, bExponents + column * depth, c,
                                                           rules.fractionBits, work.isHalf);
        }
    }
}

inline void multiplyFloats(const DenseWork &work)
{
    switch (work.shape.depth) {
    case 4:
        return multiplyRows<4>(work);
    case 8:
        return multiplyRows<8>(work);
    case 16:
        return multiplyRows<16>(work);
    default:
        return multiplyRows<32>(work);
    }
}

void floatFragments(const MatrixWork &work)
{
    float a[1024], b[1024], sums[1024];
    gatherFloats(work.a, a);
    gatherFloats(work.b, b);
    gatherFloats(work.c, sums);
    const bool isHalf = work.d.element == MatrixElement::F16;
    multiplyFloats({work.a.element, work.shape, a, b, sums, isHalf});
    const std::uint16_t *place = work.d.places;
    for (int index = 0; index < work.d.registers; ++index) {
        auto *lanes = reinterpret_cast<std::uint32_t *>(work.d.lanes[index]);
        for (int lane = 0; lane < warpSize; ++lane) {
            if (!isHalf) {
                lanes[lane] = castBits<std::uint32_t>(sums[*place++]);
                continue;
            }
            const std::uint32_t low = roundedTo<Half>(sums[place[0]]).bits;
            lanes[lane] = low | (static_cast<std::uint32_t>(roundedTo<Half>(sums[place[1]]).bits) << 16);
            place += 2;
        }
    }
}

// ---- integers and doubles

inline std::int32_t clampSum(std::int64_t sum, bool saturates)
{
    if (!saturates) return static_cast<std::int32_t>(sum);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(), least = -most - 1;
    return static_cast<std::int32_t>(sum > most ? most : sum < least ? least : sum);
}

void integerFragments(const MatrixWork &work)
{
    std::int32_t a[maximumElements], b[maximumElements], sums[1024];
    const auto read = [](MatrixElement element) {
        return [element](std::uint32_t bits, int part) { return integerElement(element, bits, part); };
    };
    gather<std::int32_t, std::uint32_t>(work.a, a, read(work.a.element));
    gather<std::int32_t, std::uint32_t>(work.b, b, read(work.b.element));
    gather<std::int32_t, std::uint32_t>(work.c, sums, read(work.c.element));
    const int columns = work.shape.columns, depth = work.shape.depth;
    for (int row = 0; row < work.shape.rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const std::int32_t *x = a + row * depth, *y = b + column * depth;
            // 256 products of 8 bits each stay far below 32 bits.
            std::int32_t sum = 0;
            if (work.isXor)
                for (int k = 0; k < depth; ++k)
                    sum += x[k] ^ y[k];
            else
                for (int k = 0; k < depth; ++k)
                    sum += x[k] * y[k];
            std::int32_t &total = sums[row * columns + column];
            total = clampSum(std::int64_t{total} + sum, work.saturates);
        }
    const std::uint16_t *place = work.d.places;
    for (int index = 0; index < work.d.registers; ++index) {
        auto *lanes = reinterpret_cast<std::int32_t *>(work.d.lanes[index]);
        for (int lane = 0; lane < warpSize; ++lane)
            lanes[lane] = sums[*place++];
    }
}

void doubleFragments(const MatrixWork &work)
{
    double a[256], b[128], sums[128];
    const auto read = [](std::uint64_t bits, int) { return castBits<double>(bits); };
    gather<double, std::uint64_t>(work.a, a, read);
    gather<double, std::uint64_t>(work.b, b, read);
    gather<double, std::uint64_t>(work.c, sums, read);
    const int columns = work.shape.columns, depth = work.shape.depth;
    for (int row = 0; row < work.shape.rows; ++row)
        for (int column = 0; column < columns; ++column) {
            double &sum = sums[row * columns + column];
            for (int k = 0; k < depth; ++k)
                sum = std::fma(a[row * depth + k], b[column * depth + k], sum);
        }
    const std::uint16_t *place = work.d.places;
    for (int index = 0; index < work.d.registers; ++index) {
        auto *lanes = reinterpret_cast<std::uint64_t *>(work.d.lanes[index]);
        for (int lane = 0; lane < warpSize; ++lane)
            lanes[lane] = castBits<std::uint64_t>(sums[*place++]);
    }
}

} // namespace

void KERNELWRIGHT_LANE_VARIANT::multiplyMatrices(const MatrixWork &work)
{
    if (work.a.element == MatrixElement::F64) return doubleFragments(work);
    isFloatElement(work.a.element) ? floatFragments(work) : integerFragments(work);
}

void KERNELWRIGHT_LANE_VARIANT::multiplyDense(const DenseWork &work)
{
    multiplyFloats(work);
}

} // namespace kernelwright::simt
