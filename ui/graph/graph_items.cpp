// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_items.h"

#include "ui/models/display_text.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>

#include <algorithm>
#include <cmath>

namespace kernelwright::ui
{

namespace
{

// Scene fonts are fixed: the view's zoom makes them larger, the font size of the window does not.
QFont labelFont(bool strong)
{
    QFont font = QApplication::font();
    font.setPixelSize(13);
    font.setWeight(strong ? QFont::DemiBold : QFont::Normal);
    return font;
}

QFont detailFont()
{
    QFont font = QApplication::font();
    font.setPixelSize(10);
    return font;
}

/// "float32[2, 64, 512]" is long; in a box "2×64×512" says what matters, the tooltip has the rest.
QString shortDetail(const VisibleNode &node)
{
    if (node.kind == VisibleNode::Kind::Module) return node.detail;
    const auto open = node.detail.indexOf(QLatin1Char('['));
    const auto close = node.detail.indexOf(QLatin1Char(']'));
    if (open < 0 || close < open) return node.detail;
    QString sizes = node.detail.mid(open + 1, close - open - 1);
    sizes.replace(QStringLiteral(", "), QStringLiteral("×"));
    return sizes.isEmpty() ? QStringLiteral("scalar") : sizes;
}

QString boxLabel(const VisibleNode &node)
{
    return node.kind == VisibleNode::Kind::Module ? QStringLiteral("▸ ") + node.label : node.label;
}

} // namespace

QSizeF boxSize(const VisibleNode &node)
{
    const QFontMetricsF label(labelFont(true));
    const QFontMetricsF detail(detailFont());
    const double width =
        std::max(label.horizontalAdvance(boxLabel(node)), detail.horizontalAdvance(shortDetail(node)));
    return {std::clamp(width + 22, 54.0, 320.0), node.isView ? 30.0 : 36.0};
}

BoxItem::BoxItem(int index, const VisibleNode &node, const QSizeF &size, const Theme &theme)
    : index_(index)
    , node_(node)
    , size_(size)
    , theme_(theme)
{
    setFlag(ItemIsSelectable);
    setAcceptHoverEvents(true);
    setZValue(2);
    updateToolTip();
}

void BoxItem::setHeat(const BoxHeat &heat)
{
    heat_ = heat;
    updateToolTip();
    update();
}

void BoxItem::setOutline(Outline outline)
{
    outline_ = outline;
    update();
}

void BoxItem::setHighlighted(bool highlighted)
{
    highlighted_ = highlighted;
    update();
}

void BoxItem::setFaded(bool faded)
{
    faded_ = faded;
    setOpacity(faded ? 0.3 : 1.0);
}

void BoxItem::setTheme(const Theme &theme)
{
    theme_ = theme;
    update();
}

void BoxItem::updateToolTip()
{
    QString text = QStringLiteral("<b>%1</b>").arg(node_.label.toHtmlEscaped());
    if (!node_.detail.isEmpty()) text += QStringLiteral("<br>") + node_.detail.toHtmlEscaped();
    if (!node_.module.empty()) text += QStringLiteral("<br>module ") + fromText(node_.module).toHtmlEscaped();
    if (!heat_.text.isEmpty()) text += QStringLiteral("<br>") + heat_.text.toHtmlEscaped();
    if (node_.kind == VisibleNode::Kind::Module) text += QStringLiteral("<br><i>double click opens it</i>");
    setToolTip(text);
}

QRectF BoxItem::boundingRect() const
{
    return QRectF({0, 0}, size_).adjusted(-5, -5, 5, 5);
}

QColor BoxItem::fillColour() const
{
    switch (node_.kind) {
    case VisibleNode::Kind::Input:
    case VisibleNode::Kind::Output:
        return theme_.accentMuted;
    default:
        break;
    }
    if (node_.isView && !(heat_.heat && *heat_.heat > 0.02)) return theme_.surface;
    return heat_.heat ? theme_.heat(*heat_.heat) : theme_.raised;
}

void BoxItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *)
{
    const double scale = option->levelOfDetailFromTransform(painter->worldTransform());
    const bool selected = option->state & QStyle::State_Selected;
    const QRectF box({0, 0}, size_);
    const double radius =
        node_.kind == VisibleNode::Kind::Operator || node_.kind == VisibleNode::Kind::Module ? 5 : 16;
    painter->setRenderHint(QPainter::Antialiasing);
    if (outline_ != Outline::None) {
        QPen pen(theme_.accent, outline_ == Outline::Current ? 2.6 : 1.4);
        pen.setStyle(outline_ == Outline::Current ? Qt::SolidLine : Qt::DashLine);
        painter->setPen(pen);
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3);
    }
    const QColor fill = fillColour();
    QPen border(theme_.border, 1);
    if (node_.isView) border.setStyle(Qt::DotLine);
    if (selected || highlighted_) border = QPen(theme_.text, 2);
    painter->setPen(border);
    painter->setBrush(fill);
    painter->drawRoundedRect(box, radius, radius);
    if (scale < 0.22) return; // words this small are noise, and slow

    const QColor ink =
        fill == theme_.surface || fill == theme_.accentMuted ? theme_.text : Theme::readableOn(fill);
    painter->setPen(node_.isView ? theme_.mutedText : ink);
    painter->setFont(labelFont(!node_.isView));
    const QRectF upper = box.adjusted(4, 2, -4, -box.height() / 2 + 3);
    painter->drawText(
        upper, Qt::AlignHCenter | Qt::AlignVCenter,
        QFontMetricsF(painter->font()).elidedText(boxLabel(node_), Qt::ElideRight, upper.width()));
    QColor quiet = node_.isView ? theme_.mutedText : ink;
    quiet.setAlphaF(0.8F);
    painter->setPen(quiet);
    painter->setFont(detailFont());
    const QRectF lower = box.adjusted(4, box.height() / 2, -4, -2);
    painter->drawText(
        lower, Qt::AlignHCenter | Qt::AlignVCenter,
        QFontMetricsF(painter->font()).elidedText(shortDetail(node_), Qt::ElideRight, lower.width()));
}

ArrowItem::ArrowItem(const std::vector<std::pair<double, double>> &points, const QString &label,
                     const Theme &theme)
    : colour_(theme.mutedText)
{
    setToolTip(label);
    setZValue(1);
    if (points.size() < 4) return;
    const auto at = [&](std::size_t i) { return QPointF(points[i].first, points[i].second); };
    path_.moveTo(at(0));
    for (std::size_t i = 1; i + 2 < points.size(); i += 3)
        path_.cubicTo(at(i), at(i + 1), at(i + 2));
    const QPointF tip = at(points.size() - 1);
    QPointF back = tip - path_.pointAtPercent(0.97);
    for (std::size_t i = points.size() - 1; i > 0 && std::hypot(back.x(), back.y()) < 0.5; --i)
        back = tip - at(i - 1);
    const double length = std::max(1e-6, std::hypot(back.x(), back.y()));
    const QPointF along = back / length * 6.5;
    const QPointF across(-along.y() * 0.45, along.x() * 0.45);
    head_ << tip << tip - along + across << tip - along - across;
}

QRectF ArrowItem::boundingRect() const
{
    return path_.boundingRect().united(head_.boundingRect()).adjusted(-4, -4, 4, 4);
}

QPainterPath ArrowItem::shape() const
{
    QPainterPathStroker stroker;
    stroker.setWidth(8);
    return stroker.createStroke(path_);
}

void ArrowItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *, QWidget *)
{
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(colour_, 1.1));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(path_);
    painter->setPen(Qt::NoPen);
    painter->setBrush(colour_);
    painter->drawPolygon(head_);
}

void ArrowItem::setTheme(const Theme &theme)
{
    colour_ = theme.mutedText;
    update();
}

FrameItem::FrameItem(const QRectF &rect, const QString &label, const std::string &module, const Theme &theme)
    : rect_(rect)
    , label_(label)
    , module_(module)
    , theme_(theme)
{
    setZValue(0);
    setToolTip(QStringLiteral("%1 – double click closes this module").arg(fromText(module)));
}

void FrameItem::paint(QPainter *painter, const QStyleOptionGraphicsItem *option, QWidget *)
{
    const double scale = option->levelOfDetailFromTransform(painter->worldTransform());
    painter->setRenderHint(QPainter::Antialiasing);
    QColor fill = theme_.raised;
    fill.setAlphaF(0.55F);
    painter->setPen(QPen(theme_.border, 1));
    painter->setBrush(fill);
    painter->drawRoundedRect(rect_, 8, 8);
    if (scale < 0.22) return;
    painter->setPen(theme_.mutedText);
    painter->setFont(detailFont());
    const QRectF title = rect_.adjusted(8, 3, -8, 0);
    painter->drawText(title, Qt::AlignLeft | Qt::AlignTop,
                      QFontMetricsF(painter->font())
                          .elidedText(QStringLiteral("▾ ") + label_, Qt::ElideMiddle, title.width()));
}

void FrameItem::setTheme(const Theme &theme)
{
    theme_ = theme;
    update();
}

} // namespace kernelwright::ui
