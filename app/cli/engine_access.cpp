// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine_access.h"

#include "base/text.h"
#include "output.h"

#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace kernelwright::cli
{

namespace
{
/// On a terminal the line is written over and over; in a log it would be one line for each of a thousand
/// steps.
void showProgress(double fraction, const std::string &text)
{
    if (::isatty(STDERR_FILENO) == 0) return;
    const std::string share = fraction < 0 ? "" : " " + formatFixed(100 * fraction, 0) + " %";
    const std::string line =
        "\r\x1b[K" + printable(shortened(text, 70)) + share + (fraction >= 1 ? "\r\x1b[K" : "");
    std::fwrite(line.data(), 1, line.size(), stderr);
}
} // namespace

Result<DeviceLocation> locateDevice(const QString &device)
{
    static const QRegularExpression local("^(cuda:\\d+|simt(:[A-Za-z0-9_-]+)?)?$");
    // A host that began with '-' would be an option to ssh.
    static const QRegularExpression ssh("^ssh://([A-Za-z0-9_][A-Za-z0-9_.@-]*)(?:/(.*))?$");
    static const QRegularExpression slurm("^slurm(?:/(.*))?$");

    DeviceLocation location;
    QString there = device;
    if (const auto match = ssh.match(device); match.hasMatch()) {
        location.engine = {"ssh", {"-o", "BatchMode=yes", match.captured(1), "kernelwright-engine"}};
        there = match.captured(2);
    } else if (const auto onCluster = slurm.match(device); onCluster.hasMatch()) {
        location.engine = {"srun", {"--gres=gpu:1", "kernelwright-engine"}};
        there = onCluster.captured(1);
    }
    if (!local.match(there).hasMatch())
        return fail(ErrorCode::BadInput,
                    "'" + device.toStdString() +
                        "' is not a device: cuda:N, simt, simt:NAME, ssh://HOST/cuda:N or slurm are; "
                        "kernelwright-cli devices lists those of this machine");
    location.device = there.toStdString();
    return location;
}

EngineAccess::EngineAccess(const Invocation &invocation, DeviceLocation location)
    : interrupt_(invocation.interrupt)
    , location_(std::move(location))
    , workspace_(location_.engine)
{}

Result<std::unique_ptr<EngineAccess>> EngineAccess::make(const Invocation &invocation, const QString &device)
{
    auto location = locateDevice(device);
    if (!location) return forward(location.error());
    std::unique_ptr<EngineAccess> access(new EngineAccess(invocation, std::move(*location)));
    if (invocation.arguments.isSet("verbose"))
        access->workspace_.engine().setOnLogLine(
            [](const QString &line) { progress(line.toStdString() + "\n"); });
    access->workspace_.setOnProgress(showProgress);
    EngineClient &engine = access->workspace_.engine();
    invocation.interrupt.onStop([&engine] { engine.kill(); });
    return access;
}

EngineAccess::~EngineAccess()
{
    interrupt_.onStop({});
}

Result<DeviceInfo> EngineAccess::openDevice()
{
    std::string id = location_.device;
    if (id.empty()) {
        const auto devices = workspace_.devices();
        if (!devices) return forward(devices.error());
        const auto gpu = std::find_if(devices->begin(), devices->end(),
                                      [](const DeviceInfo &device) { return !device.isSimulated; });
        id = gpu != devices->end() ? gpu->id : "simt";
    }
    auto opened = workspace_.openDevice(id);
    if (opened) progress("Device: " + opened->id + ", " + opened->name + "\n");
    return opened;
}

Result<ModelSummary> EngineAccess::openModel(const QString &path, const std::vector<std::string> &inputs,
                                             bool weights)
{
    // The engine may run in another folder, even on another machine.
    const std::string file = QFileInfo(path).absoluteFilePath().toStdString();
    std::vector<std::string> specs = inputs;
    for (std::string &spec : specs)
        if (spec.starts_with('@'))
            spec = "@" + QFileInfo(QString::fromStdString(spec.substr(1))).absoluteFilePath().toStdString();
    auto model = workspace_.openModel(file, specs, weights);
    if (model)
        for (const std::string &note : model->notes)
            progress("Note: " + note + "\n");
    return model;
}

} // namespace kernelwright::cli
