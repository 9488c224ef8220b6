// SPDX-License-Identifier: GPL-3.0-or-later
#include "arguments.h"

#include "base/text.h"
#include "command.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelwright::cli
{

namespace
{
/// How many letters must be changed, added or removed (Levenshtein).
int distance(const QString &one, const QString &other)
{
    std::vector<int> row(static_cast<std::size_t>(other.size()) + 1);
    std::iota(row.begin(), row.end(), 0);
    for (qsizetype i = 0; i < one.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i) + 1;
        for (qsizetype j = 0; j < other.size(); ++j) {
            const auto at = static_cast<std::size_t>(j);
            const int changed = diagonal + (one[i] == other[j] ? 0 : 1);
            diagonal = row[at + 1];
            row[at + 1] = std::min({changed, row[at] + 1, row[at + 1] + 1});
        }
    }
    return row.back();
}

QStringList optionNames(const Command &command)
{
    QStringList names{"help"};
    for (const QCommandLineOption &option : command.options)
        names += option.names();
    return names;
}

std::string usageHint(const Command &command)
{
    return "; see kernelwright-cli " + command.name.toStdString() + " --help";
}

tl::unexpected<Error> badUsage(const Command &command, const QString &what)
{
    return fail(ErrorCode::BadInput, what.toStdString() + usageHint(command));
}

tl::unexpected<Error> unknownOption(const Command &command, const QString &name)
{
    const QString guess = nearest(name, optionNames(command));
    const QString hint = guess.isEmpty()
                             ? QString()
                             : QString(", did you mean '%1%2'?").arg(guess.size() > 1 ? "--" : "-", guess);
    return badUsage(command, QString("%1 has no option '%2'%3").arg(command.name, name, hint));
}
} // namespace

Result<Arguments> Arguments::parse(const Command &command, const QStringList &words)
{
    Arguments arguments;
    arguments.parser_ = std::make_shared<QCommandLineParser>();
    QCommandLineParser &parser = *arguments.parser_;
    parser.addOption(QCommandLineOption(QStringList{"h", "help"}));
    parser.addOptions(command.options);
    const bool parsed = parser.parse(QStringList{"kernelwright-cli"} + words);
    if (arguments.wantsHelp()) return arguments;
    if (!parser.unknownOptionNames().isEmpty())
        return unknownOption(command, parser.unknownOptionNames().first());
    if (!parsed) {
        QString what = parser.errorText();
        while (what.endsWith('.'))
            what.chop(1);
        return badUsage(command, what);
    }
    const qsizetype given = parser.positionalArguments().size();
    if (given < command.operandCount)
        return badUsage(command, QString("%1 needs %2").arg(command.name, command.operands));
    if (given > command.operandCount)
        return badUsage(command,
                        QString("%1 takes %2; '%3' is too much")
                            .arg(command.name, command.operands.isEmpty() ? "no operand" : command.operands,
                                 parser.positionalArguments().at(command.operandCount)));
    return arguments;
}

bool Arguments::wantsHelp() const
{
    return parser_->isSet("help");
}

std::vector<std::string> Arguments::values(const QString &option) const
{
    std::vector<std::string> values;
    for (const QString &value : parser_->values(option))
        values.push_back(value.toStdString());
    return values;
}

std::vector<std::string> Arguments::listedValues(const QString &option) const
{
    std::vector<std::string> all;
    for (const std::string &value : values(option))
        for (const std::string &part : splitText(value, ','))
            if (const std::string name = trimText(part); !name.empty()) all.push_back(name);
    return all;
}

Result<int> Arguments::wholeNumber(const QString &option, int least, int otherwise) const
{
    if (!isSet(option)) return otherwise;
    bool valid = false;
    const int number = value(option).toInt(&valid);
    if (valid && number >= least) return number;
    return fail(ErrorCode::BadInput, "--" + option.toStdString() + " takes a whole number from " +
                                         std::to_string(least) + " on, not '" + value(option).toStdString() +
                                         "'");
}

Result<double> Arguments::positiveNumber(const QString &option) const
{
    if (!isSet(option)) return 0;
    bool valid = false;
    const double number = value(option).toDouble(&valid);
    if (valid && std::isfinite(number) && number > 0) return number;
    return fail(ErrorCode::BadInput, "--" + option.toStdString() + " takes a number above zero, not '" +
                                         value(option).toStdString() + "'");
}

QCommandLineOption jsonOption()
{
    return {"json", "Write the result to FILE as JSON too.", "FILE"};
}

QCommandLineOption deviceOption()
{
    return {"device",
            "Where kernels run: cuda:N, simt (or simt:h200, simt:rtx4090 …: the GPU it models), "
            "ssh://HOST/cuda:N, "
            "slurm. Default: the first GPU, else simt.",
            "DEVICE"};
}

QCommandLineOption inputOption()
{
    return {"input",
            "An input of the model, like 1x512:int64 or name=8x3x224x224:float16; once per input, in order. "
            "@FILE.io.pt takes those of a stored example. Default: the example inside the file.",
            "SPEC"};
}

QCommandLineOption verboseOption()
{
    return {"verbose", "Show the engine's own log on standard error."};
}

QString nearest(const QString &word, const QStringList &known)
{
    QString best;
    int least = std::max(2, static_cast<int>(word.size()) / 3) + 1;
    for (const QString &name : known) {
        if (name.size() < 2) continue;
        const bool isStart = word.size() >= 2 && name.startsWith(word);
        const int steps = isStart ? 0 : distance(word, name);
        if (steps < least) {
            least = steps;
            best = name;
        }
    }
    return best;
}

} // namespace kernelwright::cli
