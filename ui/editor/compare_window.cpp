// SPDX-License-Identifier: GPL-3.0-or-later
#include "compare_window.h"

#include "cuda_editor.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSplitter>
#include <QSyntaxHighlighter>
#include <QTabWidget>
#include <QTemporaryFile>

namespace kernelwright::ui
{

namespace
{

class DiffColours : public QSyntaxHighlighter
{
public:
    DiffColours(QTextDocument *document, const Theme &theme)
        : QSyntaxHighlighter(document)
        , theme_(theme)
    {}

protected:
    void highlightBlock(const QString &text) override
    {
        if (text.startsWith(QLatin1Char('+')))
            setFormat(0, static_cast<int>(text.size()), theme_.good);
        else if (text.startsWith(QLatin1Char('-')))
            setFormat(0, static_cast<int>(text.size()), theme_.bad);
        else if (text.startsWith(QStringLiteral("@@")))
            setFormat(0, static_cast<int>(text.size()), theme_.information);
    }

private:
    Theme theme_;
};

QColor tinted(const QColor &paper, const QColor &tint)
{
    return QColor((paper.red() * 3 + tint.red()) / 4, (paper.green() * 3 + tint.green()) / 4,
                  (paper.blue() * 3 + tint.blue()) / 4);
}

} // namespace

ChangedLines changedLines(const QString &unifiedDiff)
{
    static const QRegularExpression hunk(QStringLiteral("^@@ -(\\d+)(?:,\\d+)? \\+(\\d+)(?:,\\d+)? @@"));
    ChangedLines changed;
    int left = -1;
    int right = -1;
    for (const QString &line : unifiedDiff.split(QLatin1Char('\n'))) {
        if (const auto match = hunk.match(line); match.hasMatch()) {
            left = match.captured(1).toInt() - 1;
            right = match.captured(2).toInt() - 1;
        } else if (left < 0 || line.isEmpty()) {
            continue; // the header before the first hunk
        } else if (line.startsWith(QLatin1Char('-'))) {
            changed.removed.insert(left++);
        } else if (line.startsWith(QLatin1Char('+'))) {
            changed.added.insert(right++);
        } else if (line.startsWith(QLatin1Char(' '))) {
            ++left;
            ++right;
        }
    }
    return changed;
}

CompareWindow::CompareWindow(const ThemeController &themes, const Side &left, const Side &right,
                             QWidget *parent)
    : QDialog(parent)
    , themes_(themes)
    , left_(new CudaEditor(themes))
    , right_(new CudaEditor(themes))
    , unified_(new QPlainTextEdit)
    , note_(new QLabel)
{
    setWindowTitle(tr("%1 and %2").arg(left.title, right.title));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(1200, 760);
    auto *sides = new QSplitter;
    for (const auto &[editor, side] : {std::pair{left_, &left}, std::pair{right_, &right}}) {
        auto *column = new QWidget;
        auto *layout = new QVBoxLayout(column);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(0);
        auto *title = new QLabel(side->title);
        setRole(title, "dockTitle");
        layout->addWidget(title);
        layout->addWidget(editor, 1);
        editor->setSource(side->source);
        editor->setReadOnly(true);
        sides->addWidget(column);
    }
    unified_->setReadOnly(true);
    unified_->setFont(themes.codeFont());
    unified_->setLineWrapMode(QPlainTextEdit::NoWrap);
    unified_->setAccessibleName(tr("Unified diff"));
    new DiffColours(unified_->document(), themes.theme());
    auto *tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->addTab(sides, tr("Side by side"));
    tabs->addTab(unified_, tr("Unified"));
    setRole(note_, "muted");
    auto *column = new QVBoxLayout(this);
    column->addWidget(tabs, 1);
    column->addWidget(note_);
    scrollTogether();
    startDiff(left, right);
}

CompareWindow::~CompareWindow()
{
    diff_.disconnect(this);
    diff_.kill();
    diff_.waitForFinished(200);
}

void CompareWindow::scrollTogether()
{
    const auto tie = [](CudaEditor *from, CudaEditor *to) {
        connect(from->verticalScrollBar(), &QScrollBar::valueChanged, to->verticalScrollBar(),
                &QScrollBar::setValue);
    };
    tie(left_, right_);
    tie(right_, left_);
}

void CompareWindow::startDiff(const Side &left, const Side &right)
{
    QStringList arguments{QStringLiteral("-u")};
    for (const Side *side : {&left, &right}) {
        auto *file = new QTemporaryFile(this);
        if (!file->open() || file->write(side->source.toUtf8()) < 0 || !file->flush()) {
            note_->setText(tr("The two cannot be compared line by line: %1").arg(file->errorString()));
            return;
        }
        arguments << QStringLiteral("--label") << side->title;
        arguments << file->fileName();
    }
    // diff wants its options first: label, label, file, file.
    arguments = {arguments[0], arguments[1], arguments[2], arguments[4],
                 arguments[5], arguments[3], arguments[6]};
    connect(&diff_, &QProcess::finished, this, [this](int exitCode) {
        if (exitCode == 0)
            note_->setText(tr("The two are the same."));
        else if (exitCode == 1)
            showDiff(QString::fromUtf8(diff_.readAllStandardOutput()));
        else
            note_->setText(
                tr("diff failed: %1").arg(QString::fromUtf8(diff_.readAllStandardError()).trimmed()));
    });
    connect(&diff_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            note_->setText(
                tr("Changed lines cannot be marked because the program diff was not found: install the "
                   "package diffutils."));
    });
    diff_.start(QStringLiteral("diff"), arguments);
}

void CompareWindow::showDiff(const QString &diff)
{
    unified_->setPlainText(diff);
    const ChangedLines changed = changedLines(diff);
    const Theme &theme = themes_.theme();
    left_->setChangedLines(changed.removed, tinted(theme.surface, theme.bad));
    right_->setChangedLines(changed.added, tinted(theme.surface, theme.good));
    note_->setText(tr("%1 lines taken out, %2 put in").arg(changed.removed.size()).arg(changed.added.size()));
}

} // namespace kernelwright::ui
