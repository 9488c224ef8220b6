// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/whole_model.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QGridLayout;

namespace kernelwright::ui
{

class EmptyHint;

/// The whole model with the accepted kernels in it: error against the reference, predicted beside measured
/// gain, and what became of each kernel.
class ResultPane : public QWidget
{
    Q_OBJECT
public:
    explicit ResultPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void setReport(const WholeModelReport &report);
    /// The report shown, if any, was made before the present choice of kernels.
    void setOutdated(int acceptedKernels);
    void setBusy(bool busy);
    QString headline() const;

signals:
    void measureRequested();

private:
    void addRow(int row, const QString &name, const QString &value, const char *role = "");

    EmptyHint *hint_;
    QLabel *headline_, *sentence_, *kernels_;
    QGridLayout *numbers_;
    QPushButton *measure_;
};

} // namespace kernelwright::ui
