// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QsciScintilla;

namespace kernelwright::ui
{

/// Find and replace below an editor. Escape closes it, Enter finds the next place.
class FindBar : public QWidget
{
    Q_OBJECT
public:
    explicit FindBar(QsciScintilla *editor, QWidget *parent = nullptr);
    void open(bool replace);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    bool find(bool forward);
    void replaceOne();
    void replaceAll();

    QsciScintilla *editor_;
    QLineEdit *what_, *with_;
    QCheckBox *matchCase_;
    QLabel *result_;
    QWidget *replaceTools_;
};

} // namespace kernelwright::ui
