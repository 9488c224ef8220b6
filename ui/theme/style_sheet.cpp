// SPDX-License-Identifier: GPL-3.0-or-later
// What the palette cannot say: flat docks and tabs, the primary button, quiet headers. Widgets opt in by the
// dynamic property "role": "primary", "muted", "heading", "card", "bar", "chip".
#include "theme.h"

namespace kernelwright::ui
{

QString styleSheetOf(const Theme &theme)
{
    QString sheet = QStringLiteral(R"(
QToolTip { color: @text; background: @raised; border: 1px solid @border; padding: 4px 6px; }
QMainWindow::separator { background: @window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: @accent; }
QDockWidget { color: @mutedText; font-weight: 600; }
QDockWidget::title { background: @window; padding: 6px 10px; text-align: left; }
QDockWidget::close-button, QDockWidget::float-button { border: none; background: transparent;
  subcontrol-origin: margin; subcontrol-position: top right; position: absolute; top: 6px; width: 16px; height: 16px; }
QDockWidget::close-button { right: 6px; }
QDockWidget::float-button { right: 26px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: @border; border-radius: 3px; }
QToolBar { background: @window; border: none; border-bottom: 1px solid @border; spacing: 4px; padding: 4px 8px; }
QToolBar::separator { background: @border; width: 1px; margin: 5px 6px; }
QToolBar QToolButton { padding: 5px 9px; border: 1px solid transparent; border-radius: 5px; }
QToolBar QToolButton:hover { background: @raised; border-color: @border; }
QToolBar QToolButton:pressed, QToolBar QToolButton:checked { background: @accentMuted; }
QToolButton { padding: 3px; border: 1px solid transparent; border-radius: 4px; }
QToolButton:hover { background: @raised; border-color: @border; }
QToolButton:checked { background: @accentMuted; border-color: @accent; }
QMenuBar { background: @window; padding: 2px 6px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @accentMuted; }
QMenu { background: @surface; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 5px 28px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: @accentMuted; color: @text; }
QMenu::item:disabled { color: @mutedText; }
QMenu::separator { height: 1px; background: @border; margin: 4px 6px; }
QStatusBar { background: @window; border-top: 1px solid @border; color: @mutedText; padding: 1px 8px; }
QStatusBar::item { border: none; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @mutedText; padding: 5px 12px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:hover { color: @text; }
QHeaderView { background: @raised; }
QHeaderView::section { background: @raised; color: @mutedText; border: none; border-right: 1px solid @border;
  border-bottom: 1px solid @border; padding: 4px 6px; }
QTreeView, QTableView, QListView, QPlainTextEdit, QTextEdit, QScrollArea, QGraphicsView {
  background: @surface; border: none; }
QTreeView, QTableView, QListView { alternate-background-color: @raised; outline: none; }
QTreeView::item, QTableView::item, QListView::item { padding: 2px 4px; }
QTreeView::item:selected, QTableView::item:selected, QListView::item:selected { background: @accentMuted; }
QLineEdit, QComboBox, QSpinBox, QPlainTextEdit[role="input"] { background: @surface; border: 1px solid @border;
  border-radius: 5px; padding: 3px 7px; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QPlainTextEdit[role="input"]:focus { border-color: @accent; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @border; selection-background-color: @accentMuted;
  selection-color: @text; }
QPushButton { background: @raised; border: 1px solid @border; border-radius: 5px; padding: 4px 12px; }
QPushButton:hover { border-color: @accent; }
QPushButton:pressed { background: @accentMuted; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @mutedText; background: @window; }
QPushButton[role="primary"], QToolBar QToolButton[role="primary"] { background: @accent; color: @accentText;
  border: 1px solid @accent; font-weight: 600; padding: 5px 16px; }
QPushButton[role="primary"]:hover, QToolBar QToolButton[role="primary"]:hover { background: @accentHover; }
QPushButton[role="primary"]:disabled, QToolBar QToolButton[role="primary"]:disabled { background: @raised;
  color: @mutedText; border-color: @border; }
QProgressBar { background: @raised; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 4px; min-height: 24px; min-width: 24px; margin: 1px; }
QScrollBar::handle:hover { background: @mutedText; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
QLabel[role="muted"] { color: @mutedText; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="good"] { color: @good; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="warning"] { color: @warning; }
QLabel[role="empty"] { color: @mutedText; padding: 18px; background: @surface; }
QFrame[role="card"] { background: @raised; border: 1px solid @border; border-radius: 6px; }
QFrame[role="mine"] { background: @accentMuted; border: 1px solid @accent; border-radius: 6px; }
QFrame[role="bar"], QWidget[role="bar"] { background: @raised; border-bottom: 1px solid @border; }
QWidget[role="surface"] { background: @surface; }
QLabel[role="dockTitle"] { color: @mutedText; font-weight: 600; padding: 4px 8px; }
QSplitter::handle { background: @border; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:horizontal { width: 1px; }
)");
    const struct
    {
        const char *name;
        QColor colour;
    } values[] = {
        {"@accentHover", theme.isDark ? theme.accent.lighter(112) : theme.accent.darker(110)},
        {"@accentMuted", theme.accentMuted},
        {"@accentText", theme.accentText},
        {"@accent", theme.accent},
        {"@mutedText", theme.mutedText},
        {"@text", theme.text},
        {"@window", theme.window},
        {"@surface", theme.surface},
        {"@raised", theme.raised},
        {"@border", theme.border},
        {"@good", theme.good},
        {"@bad", theme.bad},
        {"@warning", theme.warning},
    };
    for (const auto &value : values)
        sheet.replace(QLatin1String(value.name), value.colour.name());
    return sheet;
}

} // namespace kernelwright::ui
