// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QStyleFactory>

#include <algorithm>

namespace kernelwright::ui
{

ThemeController::ThemeController(QObject *parent)
    : QObject(parent)
{
    const int system = QApplication::font().pointSize();
    fontSize_ = system > 0 ? std::clamp(system, 6, 24) : 10;
    qApp->setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    qApp->installEventFilter(this);
    apply();
}

bool ThemeController::systemIsDark() const
{
    // An application palette without anything set is the desktop's own; Qt 6.4 has no other way to ask.
    const QPalette ours = QApplication::palette();
    QApplication::setPalette(QPalette());
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    QApplication::setPalette(ours);
    return dark;
}

void ThemeController::setChoice(ThemeChoice choice)
{
    choice_ = choice;
    apply();
}

void ThemeController::setFontSize(int points)
{
    fontSize_ = std::clamp(points, 6, 24);
    apply();
}

QFont ThemeController::codeFont() const
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSize(fontSize_);
    return font;
}

void ThemeController::apply()
{
    applying_ = true;
    const bool dark = choice_ == ThemeChoice::Dark || (choice_ == ThemeChoice::System && systemIsDark());
    theme_ = bundledTheme(dark ? QStringLiteral("dark") : QStringLiteral("light"));
    QFont font = QApplication::font();
    font.setPointSize(fontSize_);
    QApplication::setFont(font);
    QApplication::setPalette(paletteOf(theme_));
    qApp->setStyleSheet(styleSheetOf(theme_));
    applying_ = false;
    emit changed();
}

bool ThemeController::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::ThemeChange && choice_ == ThemeChoice::System && !applying_ &&
        watched->isWidgetType()) {
        const bool dark = systemIsDark();
        if (dark != theme_.isDark) apply();
    }
    return QObject::eventFilter(watched, event);
}

} // namespace kernelwright::ui
