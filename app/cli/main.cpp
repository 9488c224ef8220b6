// SPDX-License-Identifier: GPL-3.0-or-later
#include "command.h"
#include "output.h"

#include <QCoreApplication>

#include <algorithm>
#include <clocale>

using namespace kernelwright;
using namespace kernelwright::cli;

namespace
{
constexpr const char *exitStatuses = "Exit status: 0 done; 1 the answer is no; 2 bad input or usage; 3 the "
                                     "device or the engine failed; 130 stopped by "
                                     "Ctrl+C.\n";

std::string optionLine(const QCommandLineOption &option)
{
    QStringList names;
    for (const QString &name : option.names())
        names << (name.size() > 1 ? "--" : "-") + name;
    QString left = "  " + names.join(", ");
    if (!option.valueName().isEmpty()) left += " " + option.valueName();
    return (left.leftJustified(24) + " " + option.description() + "\n").toStdString();
}

std::string helpOf(const Command &command)
{
    std::string usage =
        ("Usage: kernelwright-cli " + command.name + " " + command.operands).trimmed().toStdString();
    std::string text = usage + " [options]\n\n" + command.summary.toStdString() + "\n";
    if (!command.details.isEmpty()) text += command.details.toStdString() + "\n";
    text += "\nOptions:\n";
    for (const QCommandLineOption &option : command.options)
        text += optionLine(option);
    text += optionLine(QCommandLineOption(QStringList{"h", "help"}, "Show this."));
    return text + "\n" + exitStatuses;
}

std::string helpOfProgram(const std::vector<Command> &commands)
{
    std::string text =
        "Usage: kernelwright-cli COMMAND [options]\n\n"
        "Rewrites slow operators of PyTorch models as CUDA kernels, checks and measures them.\n\n";
    for (const Command &command : commands) {
        const QString left = "  " + command.name + " " + command.operands;
        text += (left.leftJustified(32) + " " + command.summary + "\n").toStdString();
    }
    return text + "\nkernelwright-cli COMMAND --help tells a command's options; --version the version.\n" +
           exitStatuses;
}

/// One sentence to standard error. Whatever the engine quotes is kept short: the first lines say what
/// matters.
int report(const Error &error)
{
    constexpr std::size_t mostLines = 8;
    std::string message = error.message;
    std::size_t at = 0;
    for (std::size_t lines = 0; lines < mostLines && at != std::string::npos; ++lines)
        at = message.find('\n', at == 0 ? 0 : at + 1);
    if (at != std::string::npos) message = message.substr(0, at) + "\n…";
    progress("kernelwright-cli: " + message + "\n");
    return static_cast<int>(exitStatusOf(error.code));
}

Error unknownCommand(const QString &word, const std::vector<Command> &commands)
{
    QStringList names;
    for (const Command &command : commands)
        names << command.name;
    const QString guess = nearest(word, names);
    const QString hint = guess.isEmpty() ? QString() : QString(", did you mean '%1'?").arg(guess);
    return {ErrorCode::BadInput, QString("there is no command '%1'%2; kernelwright-cli --help lists them")
                                     .arg(word, hint)
                                     .toStdString()};
}

int runCommandLine(const QStringList &words, Interrupt &interrupt)
{
    const std::vector<Command> commands = allCommands();
    if (words.isEmpty()) {
        progress(helpOfProgram(commands));
        return static_cast<int>(ExitStatus::BadInput);
    }
    if (words.first() == "--help" || words.first() == "-h" || words.first() == "help") {
        print(helpOfProgram(commands));
        return 0;
    }
    if (words.first() == "--version") {
        print("kernelwright-cli " KERNELWRIGHT_VERSION "\n");
        return 0;
    }
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const Command &entry) { return entry.name == words.first(); });
    if (command == commands.end()) return report(unknownCommand(words.first(), commands));

    const auto arguments = Arguments::parse(*command, words.mid(1));
    if (!arguments) return report(arguments.error());
    if (arguments->wantsHelp()) {
        print(helpOf(*command));
        return 0;
    }
    if (const auto writable = checkWritable(arguments->value("json")); !writable)
        return report(writable.error());
    const auto status = command->run({*arguments, interrupt});
    if (!status && interrupt.token().isCancelled()) {
        progress("Stopped.\n"); // whatever failed, failed because of it
        return static_cast<int>(ExitStatus::Interrupted);
    }
    return status ? static_cast<int>(*status) : report(status.error());
}
} // namespace

int main(int argc, char **argv)
{
    Interrupt interrupt;
    const QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName("kernelwright-cli");
    // Qt adopts the user's locale; numbers keep their point, for scripts that read them.
    std::setlocale(LC_NUMERIC, "C");
    return runCommandLine(QCoreApplication::arguments().mid(1), interrupt);
}
