// SPDX-License-Identifier: GPL-3.0-or-later
// What the graph's scene is made of: boxes, the arrows between them, and frames around open modules.
#pragma once

#include "ui/models/graph_colouring.h"
#include "ui/theme/theme.h"

#include <QGraphicsItem>

namespace kernelwright::ui
{

/// The size a box needs for its words, in points of the scene.
QSizeF boxSize(const VisibleNode &node);

class BoxItem : public QGraphicsItem
{
public:
    enum { Type = UserType + 1 };
    enum class Outline { None, Suggested, Current };

    BoxItem(int index, const VisibleNode &node, const QSizeF &size, const Theme &theme);

    int index() const { return index_; }
    const VisibleNode &node() const { return node_; }
    void setHeat(const BoxHeat &heat);
    void setOutline(Outline outline);
    void setHighlighted(bool highlighted);
    void setFaded(bool faded);
    void setTheme(const Theme &theme);

    int type() const override { return Type; }
    QRectF boundingRect() const override;
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;

private:
    QColor fillColour() const;
    void updateToolTip();

    int index_;
    VisibleNode node_;
    QSizeF size_;
    Theme theme_;
    BoxHeat heat_;
    Outline outline_ = Outline::None;
    bool highlighted_ = false;
    bool faded_ = false;
};

class ArrowItem : public QGraphicsItem
{
public:
    ArrowItem(const std::vector<std::pair<double, double>> &points, const QString &label, const Theme &theme);
    QRectF boundingRect() const override;
    QPainterPath shape() const override;
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;
    void setTheme(const Theme &theme);

private:
    QPainterPath path_;
    QPolygonF head_;
    QColor colour_;
};

class FrameItem : public QGraphicsItem
{
public:
    FrameItem(const QRectF &rect, const QString &label, const std::string &module, const Theme &theme);
    const std::string &module() const { return module_; }
    QRectF boundingRect() const override { return rect_.adjusted(-2, -2, 2, 2); }
    void paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *widget) override;
    void setTheme(const Theme &theme);

private:
    QRectF rect_;
    QString label_;
    std::string module_;
    Theme theme_;
};

} // namespace kernelwright::ui
