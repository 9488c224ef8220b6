// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/device_info.h"

#include <QToolButton>

#include <vector>

namespace kernelwright::ui
{

class ThemeController;

/// Says at all times on which device the numbers are made and whether they are measured or modelled; its menu
/// takes another device.
class DeviceBadge : public QToolButton
{
    Q_OBJECT
public:
    explicit DeviceBadge(const ThemeController &themes, QWidget *parent = nullptr);

    void setDevices(const std::vector<DeviceInfo> &devices);
    void setDevice(const DeviceInfo &device);
    void setTimeSource(const QString &timeSource); ///< as in Evaluation::timeSource

signals:
    void deviceChosen(const QString &id);

private:
    void refresh();

    const ThemeController &themes_;
    DeviceInfo device_;
    QString timeSource_;
};

} // namespace kernelwright::ui
