// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the statements that compute single elements: from a value and its coordinates back to the loads.
// What depends only on the row is written once per row, outside the loop over its columns.
#pragma once

#include "access.h"
#include "c_types.h"
#include "schedule.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

/// A C expression of the value's Number type.
struct Fragment
{
    std::string text;
    int precedence = 3; ///< 3 names, calls and literals, 2 products, 1 sums, 0 the rest
    int level = 0;      ///< 0 a constant, 1 the same for a whole row, 2 one per element
    bool isDouble =
        false; ///< a float value that is still held in double: a row's sum and what follows from it
};

using Lines = std::vector<std::string>;

/// A value of the program at coordinates of the domain.
using ValueKey = std::pair<TensorId, std::string>;

/// Whether elements come in packs (several at once, streamed or kept) rather than one by one.
bool usesPacks(const Schedule &schedule);

class ScalarWriter
{
public:
    ScalarWriter(const TensorProgram &program, const Schedule &schedule, AccessPlanner &planner,
                 NameScope &names);

    /// The value of a node at coordinates of the domain; statements it needs go to rowLines and elementLines.
    Fragment value(TensorId id, const std::vector<Index> &coordinates);
    /// A name for the fragment, declared where its level belongs.
    Fragment named(const Fragment &fragment, Number number, const std::string &hint);
    /// Results of reductions that are known by now; `isDouble` when a float sum is still in double.
    void setReduction(TensorId id, const std::string &name, bool isDouble)
    {
        reductions_[id] = {name, 3, 1, isDouble};
    }
    /// The result of a reduction that is another one for every element of the domain.
    void setElementReduction(TensorId id, const std::string &text) { reductions_[id] = {text, 3, 2}; }
    /// The values per element that this pass has computed by costly functions.
    std::set<ValueKey> costlyValuesOfPass() const;
    /// These get names, so that they can be stored in arrays of packs.
    void nameValues(std::set<ValueKey> keys) { toName_ = std::move(keys); }
    /// What such a value is called, if this pass has computed it.
    std::optional<std::string> nameInPass(const ValueKey &key) const;
    /// From now on the value stands in an array of packs of this name; where the row is too long to be kept
    /// it is computed again.
    void setKept(const ValueKey &key, const std::string &array) { kept_[key] = array; }

    /// A summand in double; a product without any rounding.
    std::string summand(TensorId id, const std::vector<Index> &coordinates);

    /// Forgets what was computed per element, at the end of a pass.
    void endPass();
    Lines takeRowLines();
    Lines takeElementLines();
    /// Inputs that stream through the current pass, in order of use: indices into accesses().
    const std::vector<std::size_t> &streamsOfPass() const { return streams_; }
    const std::vector<Access> &accesses() const { return accesses_; }
    const std::set<std::string> &helpers() const { return helpers_; } ///< names of helper functions used
    void useHelper(const std::string &name) { helpers_.insert(name); }

private:
    Fragment compute(TensorId id, const TensorNode &node, const std::vector<Index> &coordinates);
    Fragment timesReciprocal(const TensorNode &node, const std::vector<Fragment> &operands);
    Fragment load(const TensorNode &node, const std::vector<Index> &coordinates);
    Fragment position(const TensorNode &node, const Index &coordinate);
    Fragment concatenated(const TensorNode &node, const std::vector<Index> &coordinates);
    Fragment arithmetic(const TensorNode &node, std::vector<Fragment> operands);
    Fragment function(const TensorNode &node, const Fragment &operand, Number number);
    Fragment binaryFunction(const TensorNode &node, const Fragment &left, const Fragment &right,
                            Number number);
    Fragment inDouble(TensorId id, const Fragment &fragment) const;
    bool addsProducts(const TensorNode &node) const;
    Fragment converted(const Fragment &value, DType from, DType to);
    Fragment call(const std::string &function, const std::vector<Fragment> &arguments) const;
    Fragment infix(const Fragment &left, const char *symbol, const Fragment &right, int precedence) const;
    std::string hintFor(const TensorNode &node) const;
    Lines &linesFor(int level);

    const TensorProgram &program_;
    const Schedule &schedule_;
    AccessPlanner &planner_;
    NameScope &names_;
    bool usesPacks_;
    std::vector<int> uses_;
    std::map<TensorId, Fragment> reductions_;
    std::map<ValueKey, Fragment> rowMemo_, elementMemo_;
    std::set<ValueKey> toName_;
    std::map<ValueKey, std::string> kept_;
    Lines rowLines_, elementLines_;
    Lines *branch_ = nullptr; ///< inside a branch everything is written there
    int branchDepth_ = 0;
    std::vector<Access> accesses_;
    std::map<ValueKey, std::size_t> accessIndex_; ///< by input
    std::vector<std::size_t> streams_;
    std::vector<std::string> elementNames_; ///< declared inside the current pass's loop
    std::set<std::string> helpers_;
};

} // namespace kernelwright::playbook
