// SPDX-License-Identifier: GPL-3.0-or-later
#include "command.h"
#include "engine_access.h"
#include "output.h"
#include "profile_tables.h"

namespace kernelwright::cli
{

namespace
{
Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    auto engine = EngineAccess::make(invocation, arguments.value("device"));
    if (!engine) return forward(engine.error());
    if (const auto device = (*engine)->openDevice(); !device) return forward(device.error());
    const auto model = (*engine)->openModel(arguments.operand(0), arguments.values("input"));
    if (!model) return forward(model.error());
    const auto profile = (*engine)->workspace().profile(invocation.interrupt.token());
    if (!profile) return forward(profile.error());

    if (auto written = writeResult(arguments, Json(*profile)); !written) return forward(written.error());
    print(operatorTable(*profile) + "\n" + kernelTable(*profile) + taskTable(*profile) + "\n" +
          describeTimeSource(*profile) + describeUnknown(*profile));
    return ExitStatus::Done;
}
} // namespace

Command profileCommand()
{
    return {"profile", "MODEL",
            1,         "Time every operator and rank the tasks worth optimising.",
            "",        {deviceOption(), inputOption(), jsonOption(), verboseOption()},
            run};
}

} // namespace kernelwright::cli
