// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "samples.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace kernelwright::ui
{

/// What one sees first: the bundled samples with what each teaches, recent files, and how to open one's own.
class WelcomePage : public QWidget
{
    Q_OBJECT
public:
    explicit WelcomePage(const ThemeController &themes, QWidget *parent = nullptr);

    void setSamples(const std::vector<Sample> &samples);
    void setRecentFiles(const QStringList &paths);

signals:
    void fileChosen(const QString &path);
    void openRequested();

private:
    QWidget *makeCard(const Sample &sample, bool first);

    const ThemeController &themes_;
    QHBoxLayout *cards_;
    QVBoxLayout *recent_;
    QLabel *noSamples_;
};

} // namespace kernelwright::ui
