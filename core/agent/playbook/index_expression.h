// SPDX-License-Identifier: GPL-3.0-or-later
// Whole-number expressions of tensor sizes and loop coordinates: what a view does to coordinates, and how
// large its dimensions are. An expression is a polynomial with integer coefficients; its atoms are sizes
// ("x_size1"), coordinates and those quotients and remainders that could not be simplified away. Values,
// cheap to copy for the few terms that occur.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

class Index;

/// A factor of a term. Atoms are compared by their text, which is unique within a kernel.
struct IndexAtom
{
    enum class Kind { Size, Coordinate, Quotient, Remainder };
    Kind kind = Kind::Size;
    std::string text;                    ///< as written in C
    std::int64_t captured = 1;           ///< Size: its value in the captured case
    std::shared_ptr<const Index> first;  ///< Coordinate: its extent; Quotient, Remainder: the numerator
    std::shared_ptr<const Index> second; ///< Quotient, Remainder: the divisor
};
using AtomRef = std::shared_ptr<const IndexAtom>;

struct AtomLess
{
    bool operator()(const AtomRef &left, const AtomRef &right) const { return left->text < right->text; }
};

class Index
{
public:
    Index() = default;
    Index(std::int64_t constant); // NOLINT(google-explicit-constructor): numbers are expressions
    /// A size that the launch plan knows by this name.
    static Index size(const std::string &name, std::int64_t captured);
    /// A coordinate with values 0 … extent - 1.
    static Index coordinate(const std::string &name, const Index &extent);

    Index operator+(const Index &other) const;
    Index operator-(const Index &other) const;
    Index operator*(const Index &other) const;
    /// Rounded down; numerator and divisor are taken to be non-negative and positive.
    Index dividedBy(const Index &divisor) const;
    Index remainder(const Index &divisor) const;

    /// The same expression with other expressions in place of coordinates; quotients are simplified anew.
    Index substituted(const std::map<std::string, Index> &coordinates) const;

    /// The terms without and with any of these coordinates; their sum is this expression.
    std::pair<Index, Index> split(const std::set<std::string> &coordinates) const;

    /// The factors of coordinates in it, each once: what has to be a multiple for the whole to be one.
    std::vector<Index> steps() const;

    bool isConstant() const;
    std::int64_t constant() const; ///< of a constant expression
    /// The value for the captured sizes with every coordinate at 0.
    std::int64_t captured() const;
    /// Whether a coordinate with one of these names occurs anywhere in it.
    bool dependsOn(const std::set<std::string> &coordinates) const;
    void collect(std::set<std::string> &sizes, std::set<std::string> &coordinates) const;
    /// Its only term is a size with factor one: that size.
    AtomRef asSize() const;
    /// Largest value, as an expression of sizes, where it can be told.
    std::optional<Index> upperBound() const;
    /// Provably 0 ≤ value < limit.
    bool isBelow(const Index &limit) const;

    /// As written in C and in a launch plan; "quotient" and "remainder" print as / and %.
    std::string text() const;
    /// text(), in parentheses when it is a sum.
    std::string factorText() const;

    bool operator==(const Index &other) const;

private:
    struct MonomialLess
    {
        bool operator()(const std::vector<AtomRef> &left, const std::vector<AtomRef> &right) const;
    };
    using Monomial = std::vector<AtomRef>; ///< sorted by text, with repetitions
    std::map<Monomial, std::int64_t, MonomialLess> terms_;

    void addTerm(Monomial monomial, std::int64_t coefficient);
    static Index ofAtom(AtomRef atom);
    std::optional<Index> exactQuotient(const Monomial &divisor, std::int64_t coefficient, Index &rest) const;
    bool isNonNegative() const;
};

/// The product of extents[from …].
Index productFrom(const std::vector<Index> &extents, std::size_t from);

} // namespace kernelwright::playbook
