// SPDX-License-Identifier: GPL-3.0-or-later
// Internal: takes a sentence apart into words and numbers (words.cpp) and reads them one subject after the
// other (word_subjects.cpp); each subject marks the words that it used, and what is left at the end was not
// understood.
#pragma once

#include "words.h"

#include <optional>

namespace kernelwright::playbook
{

struct Word
{
    std::string text;
    int number = -1; ///< of a number, else -1
    bool used = false;
};

class Reader
{
public:
    Reader(const std::string &instruction, const Situation &situation);

    Request run();

private:
    /// A word that starts like this, not used yet; its index or -1. Marks it.
    int take(const std::vector<const char *> &stems);
    bool has(const std::vector<const char *> &stems) { return take(stems) >= 0; }
    bool isNegated(int at);
    /// The number that goes with a word: right before or after it, or anywhere after "to".
    int numberNear(int at);
    /// "more", "fewer", or a number: the new value of a power of two.
    std::optional<int> amount(int at, int current, int least, int most);
    void changed(const std::string &what) { request_.understood.push_back(what); }
    void refuse(const std::string &why) { request_.impossible.push_back(why); }

    void readUnavailable();
    void readRows();
    void readThreads();
    void readVector();
    void readKeeping();
    void readAccesses();
    void readArithmetic();
    void readBlocks();
    void collectUnknown();

    std::vector<Word> words_;
    const Situation &situation_;
    Schedule before_;
    Request request_;
};

} // namespace kernelwright::playbook
