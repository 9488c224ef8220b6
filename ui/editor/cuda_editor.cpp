// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_editor.h"

#include <QMap>
#include <QScrollBar>
#include <Qsci/qscicommandset.h>
#include <Qsci/qscistyle.h>

#include <algorithm>

namespace kernelwright::ui
{

namespace
{
enum Margin { Numbers = 0, Symbols = 1, Folds = 2 };
enum Marker { ErrorMarker = 1, WarningMarker = 2, ChangedMarker = 3 };
constexpr int directiveIndicator = 8;
} // namespace

CudaEditor::CudaEditor(const ThemeController &themes, QWidget *parent)
    : QsciScintilla(parent)
    , themes_(themes)
    , lexer_(new CudaLexer(this))
{
    setUtf8(true);
    setLexer(lexer_);
    setEolMode(EolUnix);
    setIndentationsUseTabs(false);
    setIndentationWidth(4);
    setTabWidth(4);
    setAutoIndent(true);
    setBraceMatching(SloppyBraceMatch);
    setCaretLineVisible(true);
    setAnnotationDisplay(AnnotationBoxed);
    setScrollWidth(1);
    setScrollWidthTracking(true);
    setFrameShape(NoFrame);
    setAccessibleName(tr("CUDA source"));
    SendScintilla(SCI_SETMULTIPLESELECTION, 1UL);
    SendScintilla(SCI_SETADDITIONALSELECTIONTYPING, 1UL);
    SendScintilla(SCI_SETMULTIPASTE, static_cast<unsigned long>(SC_MULTIPASTE_EACH));
    // Ctrl+Enter, Alt+Enter, Ctrl+L and Ctrl+D are the window's: Scintilla's own meanings of them are taken
    // away.
    for (QsciCommand *command : standardCommands()->commands())
        for (const int key : {int(Qt::CTRL) | int(Qt::Key_Return), int(Qt::CTRL) | int(Qt::Key_L),
                              int(Qt::CTRL) | int(Qt::Key_D)}) {
            if (command->key() == key) command->setKey(0);
            if (command->alternateKey() == key) command->setAlternateKey(0);
        }
    setUpMargins();
    indicatorDefine(TextColorIndicator, directiveIndicator);
    connect(this, &QsciScintilla::textChanged, this, [this] {
        if (applying_) return;
        markDirectives(0);
        emit personEdited();
    });
    connect(&themes, &ThemeController::changed, this, &CudaEditor::applyTheme);
    applyTheme();
}

void CudaEditor::setUpMargins()
{
    setMarginType(Numbers, NumberMargin);
    setMarginWidth(Numbers, QStringLiteral("0000"));
    setMarginType(Symbols, SymbolMargin);
    setMarginWidth(Symbols, 14);
    setMarginMarkerMask(Symbols, (1 << ErrorMarker) | (1 << WarningMarker));
    setFolding(BoxedTreeFoldStyle, Folds);
    markerDefine(Circle, ErrorMarker);
    markerDefine(RightTriangle, WarningMarker);
    markerDefine(Background, ChangedMarker);
}

void CudaEditor::applyTheme()
{
    const Theme &theme = themes_.theme();
    const QFont font = themes_.codeFont();
    lexer_->applyTheme(theme, font);
    setPaper(theme.surface);
    setColor(theme.text);
    setCaretForegroundColor(theme.text);
    setCaretLineBackgroundColor(theme.codeCaretLine);
    setSelectionBackgroundColor(theme.codeSelection);
    resetSelectionForegroundColor();
    setMarginsBackgroundColor(theme.surface);
    setMarginsForegroundColor(theme.mutedText);
    setMarginsFont(font);
    setMarginWidth(Numbers, QStringLiteral("0000"));
    setFoldMarginColors(theme.surface, theme.surface);
    for (const int marker :
         {SC_MARKNUM_FOLDER, SC_MARKNUM_FOLDEROPEN, SC_MARKNUM_FOLDERSUB, SC_MARKNUM_FOLDERTAIL,
          SC_MARKNUM_FOLDEREND, SC_MARKNUM_FOLDEROPENMID, SC_MARKNUM_FOLDERMIDTAIL}) {
        // Its own setters leave the fold markers out.
        SendScintilla(SCI_MARKERSETFORE, static_cast<unsigned long>(marker), theme.surface);
        SendScintilla(SCI_MARKERSETBACK, static_cast<unsigned long>(marker), theme.mutedText);
    }
    setMarkerBackgroundColor(theme.bad, ErrorMarker);
    setMarkerForegroundColor(theme.bad, ErrorMarker);
    setMarkerBackgroundColor(theme.warning, WarningMarker);
    setMarkerForegroundColor(theme.warning, WarningMarker);
    setMatchedBraceBackgroundColor(theme.accentMuted);
    setMatchedBraceForegroundColor(theme.text);
    setUnmatchedBraceForegroundColor(theme.bad);
    setIndicatorForegroundColor(theme.codeDirective, directiveIndicator);
    setIndentationGuidesForegroundColor(theme.border);
}

void CudaEditor::setSource(const QString &source)
{
    applying_ = true;
    clearAnnotations();
    markerDeleteAll();
    setText(source);
    SendScintilla(SCI_EMPTYUNDOBUFFER);
    setModified(false);
    markDirectives(0);
    applying_ = false;
}

void CudaEditor::appendStreamed(const QString &text)
{
    const int lastVisible = firstVisibleLine() + static_cast<int>(SendScintilla(SCI_LINESONSCREEN));
    const bool followsEnd = lastVisible >= lines() - 1;
    const long start = SendScintilla(SCI_GETLENGTH);
    const QByteArray bytes = text.toUtf8();
    applying_ = true;
    SendScintilla(SCI_SETUNDOCOLLECTION, 0UL);
    SendScintilla(SCI_APPENDTEXT, static_cast<unsigned long>(bytes.size()), bytes.constData());
    SendScintilla(SCI_SETUNDOCOLLECTION, 1UL);
    // What the person undoes must not reach back past streamed text: positions before it are no longer the
    // same.
    SendScintilla(SCI_EMPTYUNDOBUFFER);
    markDirectives(static_cast<int>(start));
    applying_ = false;
    if (followsEnd) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

void CudaEditor::markDirectives(int fromPosition)
{
    const int firstLine =
        static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION, static_cast<unsigned long>(fromPosition)));
    for (int line = firstLine; line < lines(); ++line) {
        const QString content = text(line);
        const int length = static_cast<int>(content.size());
        clearIndicatorRange(line, 0, line, length, directiveIndicator);
        if (content.startsWith(QStringLiteral("//@")))
            fillIndicatorRange(line, 0, line, static_cast<int>(content.trimmed().size()), directiveIndicator);
    }
}

void CudaEditor::setDiagnostics(const std::vector<Diagnostic> &diagnostics)
{
    clearAnnotations();
    markerDeleteAll(ErrorMarker);
    markerDeleteAll(WarningMarker);
    const Theme &theme = themes_.theme();
    QFont font = themes_.codeFont();
    font.setPointSizeF(font.pointSizeF() * 0.92);
    const QsciStyle error(-1, QStringLiteral("error"), theme.bad, theme.raised, font);
    const QsciStyle warning(-1, QStringLiteral("warning"), theme.warning, theme.raised, font);
    QMap<int, QStringList> texts;
    QMap<int, bool> isError;
    for (const Diagnostic &diagnostic : diagnostics) {
        const int line = diagnostic.line >= 1 && diagnostic.line <= lines() ? diagnostic.line - 1 : 0;
        texts[line] << QString::fromStdString(diagnostic.severity + ": " + diagnostic.message);
        isError[line] = isError.value(line) || diagnostic.severity == "error";
    }
    for (auto at = texts.cbegin(); at != texts.cend(); ++at) {
        markerAdd(at.key(), isError[at.key()] ? ErrorMarker : WarningMarker);
        annotate(at.key(), at.value().join(QLatin1Char('\n')), isError[at.key()] ? error : warning);
    }
}

int CudaEditor::annotatedLines() const
{
    int count = 0;
    for (int line = 0; line < lines(); ++line)
        count += annotation(line).isEmpty() ? 0 : 1;
    return count;
}

void CudaEditor::setChangedLines(const std::set<int> &changed, const QColor &colour)
{
    markerDeleteAll(ChangedMarker);
    setMarkerBackgroundColor(colour, ChangedMarker);
    for (const int line : changed)
        markerAdd(line, ChangedMarker);
}

void CudaEditor::addNextOccurrence()
{
    SendScintilla(SCI_MULTIPLESELECTADDNEXT);
}

void CudaEditor::goToLine(int line)
{
    const int index = std::clamp(line, 1, std::max(1, lines())) - 1;
    setCursorPosition(index, 0);
    ensureLineVisible(index);
    ensureCursorVisible();
    setFocus();
}

} // namespace kernelwright::ui
