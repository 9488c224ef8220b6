// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <QCommandLineOption>
#include <QCommandLineParser>
#include <QString>
#include <QStringList>

#include <memory>
#include <string>
#include <vector>

namespace kernelwright::cli
{

struct Command;

/// The options and operands of one command, checked against what it takes.
class Arguments
{
public:
    /// `words` follow the command's name. BadInput says what is wrong and, for a misspelt option, what was
    /// probably meant.
    static Result<Arguments> parse(const Command &command, const QStringList &words);

    bool wantsHelp() const;
    QString operand(int index) const { return parser_->positionalArguments().at(index); }
    bool isSet(const QString &option) const { return parser_->isSet(option); }
    QString value(const QString &option) const { return parser_->value(option); }
    std::vector<std::string> values(const QString &option) const;
    /// All values of an option, each split at commas, blanks and empty parts dropped.
    std::vector<std::string> listedValues(const QString &option) const;
    /// A whole number from `least` on; `otherwise` where the option is not given.
    Result<int> wholeNumber(const QString &option, int least, int otherwise) const;
    /// A number above zero; 0 where the option is not given.
    Result<double> positiveNumber(const QString &option) const;

private:
    std::shared_ptr<QCommandLineParser> parser_; ///< not movable itself
};

// Options that several commands share.
QCommandLineOption jsonOption();
QCommandLineOption deviceOption();
QCommandLineOption inputOption();
QCommandLineOption verboseOption();

/// The one of `known` that `word` is probably a misspelling of, "" when none is near.
QString nearest(const QString &word, const QStringList &known);

} // namespace kernelwright::cli
