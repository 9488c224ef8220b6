// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "output.h"

namespace kernelwright::cli
{

namespace
{
std::string listing(const std::vector<DeviceInfo> &devices)
{
    Table table({{"DEVICE"},
                 {"CAPABILITY"},
                 {"MEMORY", Table::Align::Right},
                 {"BANDWIDTH", Table::Align::Right},
                 {"COUNTERS"},
                 {"NAME"}});
    std::string reasons;
    for (const DeviceInfo &device : devices) {
        table.add({device.id, device.computeCapability, formatBytes(static_cast<double>(device.memoryBytes)),
                   formatFixed(device.ceilings.dramBytesPerSecond / 1e9, 0) + " GB/s",
                   device.countersAvailable ? "yes" : "no", device.name});
        if (!device.isSimulated) reasons += "\n" + device.id + ": ceilings: " + device.ceilings.source;
        if (!device.countersAvailable && !device.countersReason.empty())
            reasons += "\n" + device.id + ": no counters: " + device.countersReason;
    }
    return table.text() + reasons + (reasons.empty() ? "" : "\n");
}

Result<ExitStatus> run(const Invocation &invocation)
{
    auto engine = EngineAccess::make(invocation, invocation.arguments.value("device"));
    if (!engine) return forward(engine.error());
    const auto devices = (*engine)->workspace().devices();
    if (!devices) return forward(devices.error());
    if (auto written = writeResult(invocation.arguments, {{"devices", *devices}}); !written)
        return forward(written.error());
    print(listing(*devices));
    return ExitStatus::Done;
}
} // namespace

Command devicesCommand()
{
    return {"devices",
            "",
            0,
            "List the GPUs found and the simulator, and whether counters are available.",
            "With --device ssh://HOST or slurm: those of that machine.",
            {deviceOption(), jsonOption(), verboseOption()},
            run};
}

} // namespace kernelwright::cli
