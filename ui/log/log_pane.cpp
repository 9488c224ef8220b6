// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_pane.h"

#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QPlainTextEdit>
#include <QSyntaxHighlighter>
#include <QTime>

namespace kernelwright::ui
{

namespace
{

constexpr int mostLines = 10000;

/// Colours lines by the word behind the time, so that a change of theme recolours old lines as well.
class LogColours : public QSyntaxHighlighter
{
public:
    LogColours(QTextDocument *document, const ThemeController &themes)
        : QSyntaxHighlighter(document)
        , themes_(themes)
    {}

protected:
    void highlightBlock(const QString &text) override
    {
        constexpr int timeLength = 8;
        const Theme &theme = themes_.theme();
        setFormat(0, timeLength, theme.mutedText);
        const QString rest = text.mid(timeLength).trimmed();
        const int length = static_cast<int>(text.size()) - timeLength;
        if (rest.startsWith(QStringLiteral("error")))
            setFormat(timeLength, length, theme.bad);
        else if (rest.startsWith(QStringLiteral("warning")))
            setFormat(timeLength, length, theme.warning);
        else if (rest.startsWith(QStringLiteral("engine")))
            setFormat(timeLength, length, theme.mutedText);
    }

private:
    const ThemeController &themes_;
};

QString levelWord(LogPane::Level level)
{
    switch (level) {
    case LogPane::Level::Engine:
        return QStringLiteral("engine   ");
    case LogPane::Level::Information:
        return QStringLiteral("         ");
    case LogPane::Level::Warning:
        return QStringLiteral("warning  ");
    case LogPane::Level::Error:
        return QStringLiteral("error    ");
    }
    return {};
}

} // namespace

LogPane::LogPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
    , view_(new QPlainTextEdit)
{
    view_->setReadOnly(true);
    view_->setMaximumBlockCount(mostLines);
    view_->setLineWrapMode(QPlainTextEdit::NoWrap);
    view_->setAccessibleName(tr("Log"));
    auto *colours = new LogColours(view_->document(), themes);
    const auto applyTheme = [this, colours] {
        view_->setFont(themes_.codeFont());
        colours->rehighlight();
    };
    connect(&themes, &ThemeController::changed, this, applyTheme);
    applyTheme();
    hint_ = new EmptyHint(view_, tr("Nothing has run yet. Open a model to begin."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);
}

void LogPane::add(Level level, const QString &line)
{
    hint_->setEmpty(false);
    const QString time = QTime::currentTime().toString(QStringLiteral("HH:mm:ss"));
    for (const QString &part : line.split(QLatin1Char('\n')))
        view_->appendPlainText(time + QLatin1Char(' ') + levelWord(level) + part);
}

QString LogPane::text() const
{
    return view_->toPlainText();
}

} // namespace kernelwright::ui
