// SPDX-License-Identifier: GPL-3.0-or-later
#include "index_expression.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

AtomRef makeAtom(IndexAtom atom)
{
    return std::make_shared<const IndexAtom>(std::move(atom));
}

} // namespace

bool Index::MonomialLess::operator()(const Monomial &left, const Monomial &right) const
{
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(), AtomLess());
}

Index::Index(std::int64_t constant)
{
    addTerm({}, constant);
}

Index Index::ofAtom(AtomRef atom)
{
    Index index;
    index.addTerm({std::move(atom)}, 1);
    return index;
}

Index Index::size(const std::string &name, std::int64_t captured)
{
    return ofAtom(makeAtom({IndexAtom::Kind::Size, name, captured, nullptr, nullptr}));
}

Index Index::coordinate(const std::string &name, const Index &extent)
{
    return ofAtom(
        makeAtom({IndexAtom::Kind::Coordinate, name, 0, std::make_shared<const Index>(extent), nullptr}));
}

void Index::addTerm(Monomial monomial, std::int64_t coefficient)
{
    if (coefficient == 0) return;
    const auto [it, isNew] = terms_.try_emplace(std::move(monomial), coefficient);
    if (isNew) return;
    it->second += coefficient;
    if (it->second == 0) terms_.erase(it);
}

Index Index::operator+(const Index &other) const
{
    Index sum = *this;
    for (const auto &[monomial, coefficient] : other.terms_)
        sum.addTerm(monomial, coefficient);
    return sum;
}

Index Index::operator-(const Index &other) const
{
    Index difference = *this;
    for (const auto &[monomial, coefficient] : other.terms_)
        difference.addTerm(monomial, -coefficient);
    return difference;
}

Index Index::operator*(const Index &other) const
{
    Index product;
    for (const auto &[left, leftFactor] : terms_)
        for (const auto &[right, rightFactor] : other.terms_) {
            Monomial monomial;
            std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(monomial),
                       AtomLess());
            product.addTerm(std::move(monomial), leftFactor * rightFactor);
        }
    return product;
}

// The terms that `coefficient * divisor` divides exactly, divided; the others go to `rest`.
std::optional<Index> Index::exactQuotient(const Monomial &divisor, std::int64_t coefficient,
                                          Index &rest) const
{
    Index quotient;
    for (const auto &[monomial, factor] : terms_) {
        const bool divides =
            factor % coefficient == 0 &&
            std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(), AtomLess());
        if (!divides) {
            rest.addTerm(monomial, factor);
            continue;
        }
        Monomial left;
        std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                            std::back_inserter(left), AtomLess());
        quotient.addTerm(std::move(left), factor / coefficient);
    }
    return quotient;
}

Index Index::dividedBy(const Index &divisor) const
{
    if (divisor == Index(1) || terms_.empty()) return *this;
    if (isBelow(divisor)) return 0;
    if (divisor.terms_.size() == 1) {
        const auto &[monomial, coefficient] = *divisor.terms_.begin();
        Index rest;
        const std::optional<Index> quotient = exactQuotient(monomial, coefficient, rest);
        // floor((q * d + r) / d) = q + floor(r / d) for whole q; only worth writing so when the last part
        // vanishes.
        if (quotient && rest.isBelow(divisor)) return *quotient;
    }
    if (isConstant() && divisor.isConstant()) return constant() / divisor.constant();
    return ofAtom(makeAtom({IndexAtom::Kind::Quotient, factorText() + " / " + divisor.factorText(), 1,
                            std::make_shared<const Index>(*this), std::make_shared<const Index>(divisor)}));
}

Index Index::remainder(const Index &divisor) const
{
    if (divisor == Index(1)) return 0;
    if (isBelow(divisor)) return *this;
    Index numerator = *this;
    if (divisor.terms_.size() == 1) {
        const auto &[monomial, coefficient] = *divisor.terms_.begin();
        Index rest;
        if (exactQuotient(monomial, coefficient, rest)) {
            if (rest.isBelow(divisor)) return rest;
            if (rest.isNonNegative()) numerator = rest;
        }
    }
    if (numerator.isConstant() && divisor.isConstant()) return numerator.constant() % divisor.constant();
    return ofAtom(
        makeAtom({IndexAtom::Kind::Remainder, numerator.factorText() + " % " + divisor.factorText(), 1,
                  std::make_shared<const Index>(numerator), std::make_shared<const Index>(divisor)}));
}

Index Index::substituted(const std::map<std::string, Index> &coordinates) const
{
    Index result;
    for (const auto &[monomial, coefficient] : terms_) {
        Index term(coefficient);
        for (const AtomRef &atom : monomial) {
            switch (atom->kind) {
            case IndexAtom::Kind::Size:
                term = term * ofAtom(atom);
                break;
            case IndexAtom::Kind::Coordinate: {
                const auto it = coordinates.find(atom->text);
                term = term * (it == coordinates.end() ? ofAtom(atom) : it->second);
                break;
            }
            case IndexAtom::Kind::Quotient:
                term =
                    term *
                    atom->first->substituted(coordinates).dividedBy(atom->second->substituted(coordinates));
                break;
            case IndexAtom::Kind::Remainder:
                term =
                    term *
                    atom->first->substituted(coordinates).remainder(atom->second->substituted(coordinates));
                break;
            }
        }
        result = result + term;
    }
    return result;
}

std::pair<Index, Index> Index::split(const std::set<std::string> &coordinates) const
{
    std::pair<Index, Index> parts;
    for (const auto &[monomial, coefficient] : terms_) {
        Index term;
        term.addTerm(monomial, coefficient);
        Index &part = term.dependsOn(coordinates) ? parts.second : parts.first;
        part.addTerm(monomial, coefficient);
    }
    return parts;
}

std::vector<Index> Index::steps() const
{
    std::vector<Index> found;
    for (const auto &[monomial, coefficient] : terms_) {
        Monomial sizes;
        for (const AtomRef &atom : monomial)
            if (atom->kind == IndexAtom::Kind::Size) sizes.push_back(atom);
        Index step;
        step.addTerm(std::move(sizes), coefficient);
        if (std::find(found.begin(), found.end(), step) == found.end()) found.push_back(step);
    }
    return found;
}

bool Index::isConstant() const
{
    return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

std::int64_t Index::constant() const
{
    return terms_.empty() ? 0 : terms_.begin()->second;
}

std::int64_t Index::captured() const
{
    std::int64_t sum = 0;
    for (const auto &[monomial, coefficient] : terms_) {
        std::int64_t product = coefficient;
        for (const AtomRef &atom : monomial) {
            switch (atom->kind) {
            case IndexAtom::Kind::Size:
                product *= atom->captured;
                break;
            case IndexAtom::Kind::Coordinate:
                product = 0;
                break;
            case IndexAtom::Kind::Quotient:
                product *= atom->first->captured() / std::max<std::int64_t>(1, atom->second->captured());
                break;
            case IndexAtom::Kind::Remainder:
                product *= atom->first->captured() % std::max<std::int64_t>(1, atom->second->captured());
                break;
            }
        }
        sum += product;
    }
    return sum;
}

void Index::collect(std::set<std::string> &sizes, std::set<std::string> &coordinates) const
{
    for (const auto &[monomial, coefficient] : terms_)
        for (const AtomRef &atom : monomial) {
            if (atom->kind == IndexAtom::Kind::Size) sizes.insert(atom->text);
            if (atom->kind == IndexAtom::Kind::Coordinate) coordinates.insert(atom->text);
            if (atom->second) {
                atom->first->collect(sizes, coordinates);
                atom->second->collect(sizes, coordinates);
            }
        }
}

bool Index::dependsOn(const std::set<std::string> &coordinates) const
{
    std::set<std::string> sizes, used;
    collect(sizes, used);
    return std::any_of(used.begin(), used.end(),
                       [&](const std::string &name) { return coordinates.count(name) > 0; });
}

AtomRef Index::asSize() const
{
    if (terms_.size() != 1) return nullptr;
    const auto &[monomial, coefficient] = *terms_.begin();
    const bool isSize =
        coefficient == 1 && monomial.size() == 1 && monomial[0]->kind == IndexAtom::Kind::Size;
    return isSize ? monomial[0] : nullptr;
}

std::optional<Index> Index::upperBound() const
{
    Index bound;
    for (const auto &[monomial, coefficient] : terms_) {
        Index term(coefficient);
        for (const AtomRef &atom : monomial) {
            if (atom->kind == IndexAtom::Kind::Size) {
                term = term * ofAtom(atom);
                continue;
            }
            if (coefficient < 0) { // least at zero, where every coordinate can be
                term = 0;
                break;
            }
            if (atom->kind == IndexAtom::Kind::Coordinate) {
                term = term * (*atom->first - 1);
            } else if (atom->kind == IndexAtom::Kind::Remainder) {
                term = term * (*atom->second - 1);
            } else {
                const std::optional<Index> numerator = atom->first->upperBound();
                if (!numerator || atom->second->terms_.size() != 1) return std::nullopt;
                const auto &[divisor, factor] = *atom->second->terms_.begin();
                Index rest;
                const std::optional<Index> quotient = (*numerator + 1).exactQuotient(divisor, factor, rest);
                if (!quotient || !rest.terms_.empty()) return std::nullopt;
                term = term * (*quotient - 1);
            }
        }
        bound = bound + term;
    }
    return bound;
}

// Sizes are at least one wherever a kernel computes anything, so each is written as 1 + t with t ≥ 0; then no
// negative coefficient means no negative value. Coordinates and quotients are non-negative as they are.
bool Index::isNonNegative() const
{
    Index shifted;
    for (const auto &[monomial, coefficient] : terms_) {
        Index term(coefficient);
        for (const AtomRef &atom : monomial)
            term = term * (atom->kind == IndexAtom::Kind::Size ? ofAtom(atom) + 1 : ofAtom(atom));
        shifted = shifted + term;
    }
    return std::all_of(shifted.terms_.begin(), shifted.terms_.end(),
                       [](const auto &term) { return term.second >= 0; });
}

bool Index::isBelow(const Index &limit) const
{
    if (!isNonNegative()) return false;
    const std::optional<Index> bound = upperBound();
    return bound && (limit - 1 - *bound).isNonNegative();
}

std::string Index::text() const
{
    if (terms_.empty()) return "0";
    std::string sum;
    std::string constants; // numbers stand behind what they are added to
    for (const auto &[monomial, coefficient] : terms_) {
        const std::int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
        std::string term;
        for (const AtomRef &atom : monomial) {
            const bool isPlain =
                atom->kind == IndexAtom::Kind::Size || atom->kind == IndexAtom::Kind::Coordinate;
            const bool isAlone = monomial.size() == 1 && magnitude == 1;
            const std::string factor = isPlain || isAlone ? atom->text : "(" + atom->text + ")";
            term += (term.empty() ? "" : " * ") + factor;
        }
        if (monomial.empty() || magnitude != 1)
            term += (term.empty() ? "" : " * ") + std::to_string(magnitude);
        std::string &target = monomial.empty() ? constants : sum;
        if (monomial.empty()) {
            target = (coefficient < 0 ? " - " : " + ") + term;
        } else if (target.empty()) {
            target = (coefficient < 0 ? "-" : "") + term;
        } else {
            target += (coefficient < 0 ? " - " : " + ") + term;
        }
    }
    if (sum.empty()) return constants.substr(0, 3) == " - " ? "-" + constants.substr(3) : constants.substr(3);
    return sum + constants;
}

std::string Index::factorText() const
{
    if (terms_.empty()) return "0";
    if (terms_.size() == 1) {
        const auto &[monomial, coefficient] = *terms_.begin();
        const bool isPlain = monomial.empty()
                                 ? coefficient >= 0
                                 : monomial.size() == 1 && coefficient == 1 && !monomial[0]->second;
        if (isPlain) return text();
    }
    return "(" + text() + ")";
}

bool Index::operator==(const Index &other) const
{
    return terms_.size() == other.terms_.size() &&
           std::equal(
               terms_.begin(), terms_.end(), other.terms_.begin(), [](const auto &left, const auto &right) {
                   return left.second == right.second && left.first.size() == right.first.size() &&
                          std::equal(left.first.begin(), left.first.end(), right.first.begin(),
                                     [](const AtomRef &a, const AtomRef &b) { return a->text == b->text; });
               });
}

Index productFrom(const std::vector<Index> &extents, std::size_t from)
{
    Index product(1);
    for (std::size_t dimension = from; dimension < extents.size(); ++dimension)
        product = product * extents[dimension];
    return product;
}

} // namespace kernelwright::playbook
