// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPainter>
#include <QSvgRenderer>

#include <algorithm>
#include <array>
#include <cmath>

static void initialiseAppearance()
{
    Q_INIT_RESOURCE(appearance);
}

namespace kernelwright::ui
{

namespace
{

struct NamedColour
{
    const char *name;
    QColor Theme::*colour;
};

constexpr std::array namedColours{
    NamedColour{"window", &Theme::window},
    NamedColour{"surface", &Theme::surface},
    NamedColour{"raised", &Theme::raised},
    NamedColour{"border", &Theme::border},
    NamedColour{"text", &Theme::text},
    NamedColour{"mutedText", &Theme::mutedText},
    NamedColour{"accent", &Theme::accent},
    NamedColour{"accentText", &Theme::accentText},
    NamedColour{"accentMuted", &Theme::accentMuted},
    NamedColour{"good", &Theme::good},
    NamedColour{"warning", &Theme::warning},
    NamedColour{"bad", &Theme::bad},
    NamedColour{"information", &Theme::information},
    NamedColour{"seriesLatency", &Theme::seriesLatency},
    NamedColour{"seriesBest", &Theme::seriesBest},
    NamedColour{"seriesBaseline", &Theme::seriesBaseline},
    NamedColour{"seriesFloor", &Theme::seriesFloor},
    NamedColour{"seriesOccupancy", &Theme::seriesOccupancy},
    NamedColour{"seriesThroughput", &Theme::seriesThroughput},
    NamedColour{"heatCold", &Theme::heatCold},
    NamedColour{"heatWarm", &Theme::heatWarm},
    NamedColour{"heatHot", &Theme::heatHot},
    NamedColour{"codeComment", &Theme::codeComment},
    NamedColour{"codeKeyword", &Theme::codeKeyword},
    NamedColour{"codeIntrinsic", &Theme::codeIntrinsic},
    NamedColour{"codeString", &Theme::codeString},
    NamedColour{"codeNumber", &Theme::codeNumber},
    NamedColour{"codePreprocessor", &Theme::codePreprocessor},
    NamedColour{"codeDirective", &Theme::codeDirective},
    NamedColour{"codeCaretLine", &Theme::codeCaretLine},
    NamedColour{"codeSelection", &Theme::codeSelection},
};

QColor between(const QColor &from, const QColor &to, double part)
{
    const auto mix = [part](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * part)); };
    return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

QPixmap drawIcon(const QByteArray &svg, const QColor &colour, int size)
{
    QByteArray tinted = svg;
    tinted.replace("color=\"#808080\"", "color=\"" + colour.name().toLatin1() + '"');
    QSvgRenderer renderer(tinted);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

} // namespace

QColor Theme::heat(double heat) const
{
    const double h = std::clamp(heat, 0.0, 1.0);
    return h < 0.5 ? between(heatCold, heatWarm, 2 * h) : between(heatWarm, heatHot, 2 * h - 1);
}

QColor Theme::readableOn(const QColor &background)
{
    const double luminance =
        0.299 * background.redF() + 0.587 * background.greenF() + 0.114 * background.blueF();
    return luminance > 0.55 ? QColor(0x14, 0x18, 0x1d) : QColor(0xf7, 0xf9, 0xfb);
}

Theme bundledTheme(const QString &name)
{
    initialiseAppearance();
    Theme theme;
    theme.name = name == QStringLiteral("light") ? name : QStringLiteral("dark");
    theme.isDark = theme.name == QStringLiteral("dark");
    QFile file(QStringLiteral(":/themes/%1.json").arg(theme.name));
    QJsonObject colours;
    if (file.open(QIODevice::ReadOnly)) colours = QJsonDocument::fromJson(file.readAll()).object();
    for (const NamedColour &named : namedColours) {
        theme.*named.colour = QColor(colours.value(QLatin1String(named.name)).toString());
        Q_ASSERT_X((theme.*named.colour).isValid(), "bundledTheme", named.name);
    }
    return theme;
}

QIcon themedIcon(const QString &name, const QColor &colour)
{
    initialiseAppearance();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray svg = file.readAll();
    QIcon icon;
    QColor faded = colour;
    faded = between(colour, QColor(0x80, 0x80, 0x80), 0.65);
    for (const int size : {16, 24, 48}) {
        icon.addPixmap(drawIcon(svg, colour, size), QIcon::Normal);
        icon.addPixmap(drawIcon(svg, faded, size), QIcon::Disabled);
    }
    return icon;
}

QIcon themedIcon(const Theme &theme, const QString &name)
{
    return themedIcon(name, theme.text);
}

QPalette paletteOf(const Theme &theme)
{
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, const QColor &colour) { palette.setColor(role, colour); };
    set(QPalette::Window, theme.window);
    set(QPalette::WindowText, theme.text);
    set(QPalette::Base, theme.surface);
    set(QPalette::AlternateBase, theme.raised);
    set(QPalette::Text, theme.text);
    set(QPalette::Button, theme.raised);
    set(QPalette::ButtonText, theme.text);
    set(QPalette::BrightText, theme.bad);
    set(QPalette::ToolTipBase, theme.raised);
    set(QPalette::ToolTipText, theme.text);
    set(QPalette::PlaceholderText, theme.mutedText);
    set(QPalette::Highlight, theme.accentMuted);
    set(QPalette::HighlightedText, theme.text);
    set(QPalette::Link, theme.accent);
    set(QPalette::LinkVisited, theme.accent);
    set(QPalette::Light, theme.raised.lighter(110));
    set(QPalette::Midlight, theme.border);
    set(QPalette::Mid, theme.border);
    set(QPalette::Dark, theme.window.darker(125));
    set(QPalette::Shadow, theme.window.darker(160));
    const QColor faded = between(theme.text, theme.window, 0.6);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, faded);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.border);
    return palette;
}

} // namespace kernelwright::ui
