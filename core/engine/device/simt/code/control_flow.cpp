// SPDX-License-Identifier: GPL-3.0-or-later
#include "control_flow.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

bool endsPath(Kind kind)
{
    return kind == Kind::Exit || kind == Kind::Return || kind == Kind::Trap;
}

class PostDominators
{
public:
    PostDominators(Program &program, const DecodedFunction &function)
        : program_(program)
        , function_(function)
    {}

    void mark()
    {
        findBlocks();
        connectBlocks();
        orderFromExit();
        computeDominators();
        for (std::uint32_t pc = function_.first; pc < function_.end; ++pc) {
            Instruction &instruction = program_.code[pc];
            if (instruction.kind != Kind::Branch && instruction.kind != Kind::IndexedBranch) continue;
            const int dominator = dominators_[static_cast<std::size_t>(blockOf_[pc - function_.first])];
            instruction.reconverge =
                dominator < 0 || dominator == exit_ ? neverReconverge : starts_[dominator];
        }
    }

private:
    std::vector<std::uint32_t> targetsOf(std::uint32_t pc) const
    {
        const Instruction &instruction = program_.code[pc];
        std::vector<std::uint32_t> targets;
        if (instruction.kind == Kind::Branch) targets.push_back(instruction.target);
        if (instruction.kind == Kind::IndexedBranch)
            targets = program_.branchTables[instruction.details].targets;
        const bool isJump =
            !targets.empty() || endsPath(instruction.kind) || instruction.kind == Kind::IndexedBranch;
        if ((!isJump || instruction.guard != noOperand) && pc + 1 < function_.end) targets.push_back(pc + 1);
        return targets;
    }

    bool endsBlock(std::uint32_t pc) const
    {
        const Kind kind = program_.code[pc].kind;
        return kind == Kind::Branch || kind == Kind::IndexedBranch || endsPath(kind);
    }

    void findBlocks()
    {
        const std::uint32_t count = function_.end - function_.first;
        std::vector<char> isStart(count, 0);
        if (count > 0) isStart[0] = 1;
        for (std::uint32_t pc = function_.first; pc < function_.end; ++pc) {
            if (!endsBlock(pc)) continue;
            for (const std::uint32_t target : targetsOf(pc))
                isStart[target - function_.first] = 1;
            if (pc + 1 < function_.end) isStart[pc + 1 - function_.first] = 1;
        }
        blockOf_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (isStart[i]) starts_.push_back(function_.first + i);
            blockOf_[i] = static_cast<int>(starts_.size()) - 1;
        }
        exit_ = static_cast<int>(starts_.size());
    }

    std::uint32_t lastOf(int block) const
    {
        return static_cast<std::size_t>(block) + 1 < starts_.size() ? starts_[block + 1] - 1
                                                                    : function_.end - 1;
    }

    /// A block of nothing but an unconditional exit: going there is leaving.
    bool isBareExit(int block) const
    {
        std::uint32_t pc = starts_[block];
        while (pc < lastOf(block) && program_.code[pc].kind == Kind::NoOperation)
            ++pc;
        return endsPath(program_.code[pc].kind) && program_.code[pc].guard == noOperand;
    }

    void connectBlocks()
    {
        const int count = exit_;
        successors_.resize(static_cast<std::size_t>(count) + 1);
        std::vector<char> leaves(static_cast<std::size_t>(count), 0);
        for (int block = 0; block < count; ++block) {
            const std::uint32_t last = lastOf(block);
            leaves[block] = endsPath(program_.code[last].kind);
            for (const std::uint32_t target : targetsOf(last)) {
                const int next = blockOf_[target - function_.first];
                if (isBareExit(next))
                    leaves[block] = 1;
                else
                    successors_[block].push_back(next);
            }
            if (successors_[block].empty()) successors_[block].push_back(exit_);
        }
        restoreExits(leaves);
    }

    /// Blocks from which nothing but early exits leads out get those exits back.
    void restoreExits(const std::vector<char> &leaves)
    {
        const std::vector<char> reaches = reachesExit();
        for (int block = 0; block < exit_; ++block)
            if (leaves[block] && !reaches[block]) successors_[block].push_back(exit_);
    }

    std::vector<std::vector<int>> predecessors() const
    {
        std::vector<std::vector<int>> result(successors_.size());
        for (int block = 0; block < exit_; ++block)
            for (const int next : successors_[block])
                result[next].push_back(block);
        return result;
    }

    std::vector<char> reachesExit() const
    {
        const auto backward = predecessors();
        std::vector<char> seen(successors_.size(), 0);
        std::vector<int> pending{exit_};
        seen[exit_] = 1;
        while (!pending.empty()) {
            const int block = pending.back();
            pending.pop_back();
            for (const int previous : backward[block])
                if (!seen[previous]) {
                    seen[previous] = 1;
                    pending.push_back(previous);
                }
        }
        return seen;
    }

    /// Numbers blocks in post-order of the reversed graph, without recursion.
    void orderFromExit()
    {
        const auto backward = predecessors();
        order_.assign(successors_.size(), -1);
        std::vector<char> seen(successors_.size(), 0);
        std::vector<std::pair<int, std::size_t>> stack{{exit_, 0}};
        seen[exit_] = 1;
        while (!stack.empty()) {
            auto &[block, next] = stack.back();
            if (next < backward[block].size()) {
                const int previous = backward[block][next++];
                if (!seen[previous]) {
                    seen[previous] = 1;
                    stack.emplace_back(previous, 0);
                }
                continue;
            }
            order_[block] = static_cast<int>(sequence_.size());
            sequence_.push_back(block);
            stack.pop_back();
        }
    }

    int intersect(int a, int b) const
    {
        while (a != b) {
            while (order_[a] < order_[b])
                a = dominators_[a];
            while (order_[b] < order_[a])
                b = dominators_[b];
        }
        return a;
    }

    /// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
    void computeDominators()
    {
        dominators_.assign(successors_.size(), -1);
        dominators_[exit_] = exit_;
        bool changed = true;
        while (changed) {
            changed = false;
            for (auto block = sequence_.rbegin(); block != sequence_.rend(); ++block) {
                if (*block == exit_) continue;
                int dominator = -1;
                for (const int next : successors_[*block]) {
                    if (dominators_[next] < 0) continue;
                    dominator = dominator < 0 ? next : intersect(dominator, next);
                }
                if (dominator == dominators_[*block]) continue;
                dominators_[*block] = dominator;
                changed = true;
            }
        }
    }

    Program &program_;
    const DecodedFunction &function_;
    std::vector<std::uint32_t> starts_; ///< first instruction of each block
    std::vector<int> blockOf_;
    std::vector<std::vector<int>> successors_; ///< the last is the exit
    std::vector<int> order_, sequence_, dominators_;
    int exit_ = 0;
};

} // namespace

void markReconvergence(Program &program, const DecodedFunction &function)
{
    if (function.first < function.end) PostDominators(program, function).mark();
}

} // namespace kernelwright::simt
