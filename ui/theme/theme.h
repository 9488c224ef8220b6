// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and icons. A theme is a flat JSON file of named colours under resources/themes, compiled in.
#pragma once

#include <QColor>
#include <QIcon>
#include <QObject>
#include <QPalette>
#include <QString>

namespace kernelwright::ui
{

struct Theme
{
    QString name; ///< "dark" or "light"
    bool isDark = false;
    QColor window, surface, raised, border, text, mutedText;
    QColor accent, accentText, accentMuted, good, warning, bad, information;
    QColor seriesLatency, seriesBest, seriesBaseline, seriesFloor, seriesOccupancy, seriesThroughput;
    QColor heatCold, heatWarm, heatHot;
    QColor codeComment, codeKeyword, codeIntrinsic, codeString, codeNumber, codePreprocessor, codeDirective;
    QColor codeCaretLine, codeSelection;

    /// A colour on the way from cold over warm to hot; `heat` in 0…1.
    QColor heat(double heat) const;
    /// Black or white, whichever is easier to read on `background`.
    static QColor readableOn(const QColor &background);
};

/// A bundled theme; "dark" for unknown names.
Theme bundledTheme(const QString &name);

/// A bundled line icon in this theme's text colour, greyed where disabled, for all sizes in use.
QIcon themedIcon(const Theme &theme, const QString &name);
QIcon themedIcon(const QString &name, const QColor &colour);

QPalette paletteOf(const Theme &theme);
QString styleSheetOf(const Theme &theme);

enum class ThemeChoice { System, Dark, Light };

/// Holds the theme in force and applies it to the application, live. One per application; handed to panes by
/// reference.
class ThemeController : public QObject
{
    Q_OBJECT
public:
    explicit ThemeController(QObject *parent = nullptr);

    const Theme &theme() const { return theme_; }
    ThemeChoice choice() const { return choice_; }
    void setChoice(ThemeChoice choice);

    int fontSize() const { return fontSize_; } ///< points
    void setFontSize(int points);              ///< clamped to 6 … 24

    /// The fixed-width font for code and numbers, at the current size.
    QFont codeFont() const;

signals:
    void changed(); ///< theme or font size; read theme() anew

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void apply();
    bool systemIsDark() const;

    ThemeChoice choice_ = ThemeChoice::System;
    Theme theme_;
    int fontSize_ = 10;
    bool applying_ = false;
};

} // namespace kernelwright::ui
