// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QDialog>
#include <QProcess>

#include <set>

class QPlainTextEdit;
class QLabel;

namespace kernelwright::ui
{

class CudaEditor;

/// Lines (0-based) that a unified diff takes from the left text and adds in the right one.
struct ChangedLines
{
    std::set<int> removed, added;
};
ChangedLines changedLines(const QString &unifiedDiff);

/// Two sources side by side with the changed lines coloured, and their unified diff. Uses the system's
/// `diff`; says so where there is none.
class CompareWindow : public QDialog
{
    Q_OBJECT
public:
    struct Side
    {
        QString title;
        QString source;
    };
    CompareWindow(const ThemeController &themes, const Side &left, const Side &right,
                  QWidget *parent = nullptr);
    ~CompareWindow() override;

private:
    void startDiff(const Side &left, const Side &right);
    void showDiff(const QString &diff);
    void scrollTogether();

    const ThemeController &themes_;
    CudaEditor *left_, *right_;
    QPlainTextEdit *unified_;
    QLabel *note_;
    QProcess diff_;
};

} // namespace kernelwright::ui
