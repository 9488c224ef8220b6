// SPDX-License-Identifier: GPL-3.0-or-later
// Writes one kernel: its text and what the launch plan says of it. KernelWriter holds what both shapes share;
// the shape for elements is in elements_kernel.cpp, that for rows in rows_kernel.cpp.
#pragma once

#include "scalar_code.h"

namespace kernelwright::playbook
{

struct KernelText
{
    std::string name;
    std::vector<PlanNumber> numbers; ///< `let` lines
    std::string launch;              ///< what stands behind `//@ kernel NAME`
    std::string text;                ///< comment and function
    std::set<std::string> helpers;   ///< helper functions it calls
    bool usesPacks = false;
};

/// What a kernel is written from. `name` and the names of its counts are unique in the file.
struct KernelRequest
{
    const Task &task;
    const TensorProgram &program;
    const KernelDomain &domain;
    Schedule schedule;
    NameScope &names;
    std::string name;
    bool hasRowsMacro = false; ///< the file defines ROWS
};

KernelText writeElementsKernel(const KernelRequest &request);
KernelText writeRowsKernel(const KernelRequest &request);

/// The elements per access that the widest element of the task allows: 16 bytes at most.
int widestVector(const Task &task);

class KernelWriter
{
protected:
    KernelWriter(const KernelRequest &request, const std::vector<Axis> &rows,
                 const std::vector<Axis> &columns, const std::string &row, const std::string &column);

    const char *index() const { return request_.schedule.wideIndex ? "long long" : "unsigned"; }
    std::string cast(const std::string &text) const; ///< to the index type
    /// The parameter list: pointers, then the numbers the code needs.
    std::string parameterList(const std::string &further = {}); ///< `further` stands behind them
    std::string argumentList(const std::string &further) const; ///< to hand the same on
    std::string launchBounds() const;
    /// The condition under which packs of VECTOR lie in one row and at aligned addresses.
    std::string packsFit(const std::vector<Access> &stores);
    std::string loadPack(const Access &access, const std::string &offset, bool mayStream);
    /// Statements that store the outputs at the current row and column; what they need is left with the
    /// writer.
    Lines elementStores();
    std::string storeText(const Access &access, const std::string &offset, const std::string &pack) const;
    /// At the current depth; "" is an empty line. `@word` is a variable of the kernel's own and gets a name
    /// that no tensor has.
    void line(const std::string &text);
    void lines(const Lines &list);
    void open(const std::string &text); ///< line, then one deeper
    void close(const std::string &text = "}");
    void comment(const std::string &text); ///< wrapped to the width of the file

    const KernelRequest &request_;
    AccessPlanner planner_;
    ScalarWriter writer_;
    bool hasRows_;
    std::string columnCount_; ///< name of the number of columns
    std::string text_;
    int depth_ = 0;

private:
    std::string withOwnNames(const std::string &text);
    std::map<std::string, std::string> ownNames_;
};

/// Items separated by commas, wrapped to the width of the file, with the closing parenthesis.
std::string wrappedList(const std::vector<std::string> &list, const std::string &indent);
bool mentions(const Lines &lines, const std::string &word);
/// The text with one whole word in place of another.
std::string withWord(const std::string &text, const std::string &word, const std::string &replacement);

} // namespace kernelwright::playbook
