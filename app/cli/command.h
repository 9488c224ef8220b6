// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "arguments.h"
#include "exit_status.h"
#include "interrupt.h"

#include <QCommandLineOption>
#include <QList>
#include <QString>

#include <vector>

namespace kernelwright::cli
{

/// What a command is run with.
struct Invocation
{
    const Arguments &arguments;
    Interrupt &interrupt; ///< Ctrl+C
};

/// One word after the program's name, its options and what it does.
struct Command
{
    QString name;     ///< "import"
    QString operands; ///< as in the usage line: "MODEL"
    int operandCount = 0;
    QString summary; ///< one line, for the list of commands
    QString details; ///< further sentences for its own help, may be empty
    QList<QCommandLineOption> options;
    Result<ExitStatus> (*run)(const Invocation &) = nullptr;
};

// Each in its own file, NAME_command.cpp.
Command devicesCommand();
Command importCommand();
Command runCommand();
Command profileCommand();
Command taskCommand();
Command evaluateCommand();
Command optimizeCommand();
Command agentsCommand();
Command applyCommand();
Command exportCommand();
Command sessionCommand();

/// All of them, in the order in which one needs them.
std::vector<Command> allCommands();

} // namespace kernelwright::cli
