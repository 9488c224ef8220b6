// SPDX-License-Identifier: GPL-3.0-or-later
#include "command.h"

namespace kernelwright::cli
{

std::vector<Command> allCommands()
{
    return {devicesCommand(), importCommand(),   runCommand(),      profileCommand(),
            taskCommand(),    evaluateCommand(), optimizeCommand(), agentsCommand(),
            applyCommand(),   exportCommand(),   sessionCommand()};
}

} // namespace kernelwright::cli
