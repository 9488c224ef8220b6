// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_lexer.h"
#include "kernel/evaluation.h"

#include <Qsci/qsciscintilla.h>

#include <set>

namespace kernelwright::ui
{

/// A text editor for one candidate's source. Text may stream in at its end without moving the caret or, where
/// the person has scrolled away from the end, the view.
class CudaEditor : public QsciScintilla
{
    Q_OBJECT
public:
    explicit CudaEditor(const ThemeController &themes, QWidget *parent = nullptr);

    /// Replaces everything; the undo history starts anew.
    void setSource(const QString &source);
    /// Appends at the end. Not an edit of the person: it cannot be undone and sends no personEdited().
    void appendStreamed(const QString &text);
    QString source() const { return text(); }

    /// Marks and annotates lines; replaces earlier diagnostics. Lines outside the text are put on the first
    /// line.
    void setDiagnostics(const std::vector<Diagnostic> &diagnostics);
    int annotatedLines() const;

    /// Colours whole lines (0-based) as changed, for comparing.
    void setChangedLines(const std::set<int> &lines, const QColor &colour);

    void addNextOccurrence(); ///< another caret at the next place of the selected word
    void goToLine(int line);  ///< 1-based

signals:
    void personEdited();

private:
    void applyTheme();
    void markDirectives(int fromPosition);
    void setUpMargins();

    const ThemeController &themes_;
    CudaLexer *lexer_;
    bool applying_ = false;
};

} // namespace kernelwright::ui
