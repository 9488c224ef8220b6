// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_badge.h"

#include "base/text.h"
#include "ui/models/display_text.h"
#include "ui/theme/theme.h"

#include <QMenu>

namespace kernelwright::ui
{

DeviceBadge::DeviceBadge(const ThemeController &themes, QWidget *parent)
    : QToolButton(parent)
    , themes_(themes)
{
    setObjectName(QStringLiteral("deviceBadge"));
    setPopupMode(InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setAccessibleName(tr("Device"));
    setMenu(new QMenu(this));
    connect(&themes, &ThemeController::changed, this, &DeviceBadge::refresh);
    setDevices({});
    refresh();
}

void DeviceBadge::setDevices(const std::vector<DeviceInfo> &devices)
{
    menu()->clear();
    if (devices.empty()) {
        menu()->addAction(tr("Devices are listed once a model is open"))->setEnabled(false);
        return;
    }
    for (const DeviceInfo &device : devices) {
        QAction *action = menu()->addAction(fromText(device.id + "   " + device.name));
        action->setToolTip(fromText(device.countersReason));
        connect(action, &QAction::triggered, this,
                [this, id = fromText(device.id)] { emit deviceChosen(id); });
    }
    menu()->setToolTipsVisible(true);
}

void DeviceBadge::setDevice(const DeviceInfo &device)
{
    device_ = device;
    timeSource_.clear();
    refresh();
}

void DeviceBadge::setTimeSource(const QString &timeSource)
{
    timeSource_ = timeSource;
    refresh();
}

void DeviceBadge::refresh()
{
    const Theme &theme = themes_.theme();
    const bool known = !device_.id.empty();
    const QColor colour = !known ? theme.mutedText : device_.isSimulated ? theme.warning : theme.good;
    setText(known ? deviceBadgeText(device_, timeSource_) : tr("no device yet"));
    setIcon(themedIcon(QStringLiteral("device"), colour));
    setStyleSheet(
        QStringLiteral("#deviceBadge { border: 1px solid %1; border-radius: 5px; padding: 5px 10px; "
                       "font-weight: 600; } #deviceBadge::menu-indicator { image: none; }")
            .arg(colour.name()));
    if (!known) {
        setToolTip(tr("The device on which kernels run is chosen when a model is opened"));
        return;
    }
    QString tip = fromText(device_.name);
    if (device_.isSimulated)
        tip += tr(
            "\nTimes come from a model of the GPU, they are not measured. Correctness is checked for real.");
    if (device_.memoryBytes > 0)
        tip += tr("\nMemory: %1").arg(fromText(formatBytes(static_cast<double>(device_.memoryBytes))));
    if (device_.ceilings.dramBytesPerSecond > 0)
        tip += tr("\nMemory bandwidth: %1 GB/s (%2)")
                   .arg(device_.ceilings.dramBytesPerSecond / 1e9, 0, 'f', 0)
                   .arg(fromText(device_.ceilings.source));
    if (!device_.countersAvailable && !device_.countersReason.empty())
        tip += QStringLiteral("\n") + fromText(device_.countersReason);
    setToolTip(tip);
}

} // namespace kernelwright::ui
