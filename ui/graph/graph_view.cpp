// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_view.h"

#include <QApplication>
#include <QKeyEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace kernelwright::ui
{

namespace
{
constexpr double smallestScale = 0.05;
constexpr double largestScale = 4;
constexpr double readableScale = 0.72;
} // namespace

GraphView::GraphView(const ThemeController &themes, QWidget *parent)
    : QGraphicsView(parent)
    , themes_(themes)
{
    setScene(&scene_);
    setMouseTracking(true);
    setTransformationAnchor(AnchorUnderMouse);
    setFrameShape(NoFrame);
    setAccessibleName(tr("Operator graph"));
    setFocusPolicy(Qt::StrongFocus);
    connect(&scene_, &QGraphicsScene::selectionChanged, this, [this] {
        if (!settingSelection_) emit boxSelectionChanged();
    });
    connect(&themes, &ThemeController::changed, this, &GraphView::applyTheme);
    applyTheme();
}

GraphView::~GraphView()
{
    // A scene that goes away takes the selection from its items first: nobody wants to hear of that any more.
    scene_.disconnect(this);
}

void GraphView::applyTheme()
{
    const Theme &theme = themes_.theme();
    setBackgroundBrush(theme.surface);
    for (BoxItem *box : boxes_)
        box->setTheme(theme);
    for (ArrowItem *arrow : arrows_)
        arrow->setTheme(theme);
    for (FrameItem *frame : frames_)
        frame->setTheme(theme);
}

void GraphView::clear()
{
    settingSelection_ = true;
    scene_.clear();
    settingSelection_ = false;
    boxes_.clear();
    arrows_.clear();
    frames_.clear();
    hovered_ = -1;
    touched_ = false;
}

void GraphView::show(const VisibleGraph &graph, const GraphPlacement &placement)
{
    const bool keepView = touched_;
    clear();
    touched_ = keepView;
    const Theme &theme = themes_.theme();
    for (std::size_t i = 0; i < graph.clusters.size(); ++i) {
        const auto &box = placement.clusters[i];
        if (box.width <= 0) continue;
        frames_.push_back(new FrameItem({box.x, box.y, box.width, box.height}, graph.clusters[i].label,
                                        graph.clusters[i].module, theme));
        frames_.back()->setZValue(-1000.0 +
                                  static_cast<double>(i)); // inner frames above the ones around them
        scene_.addItem(frames_.back());
    }
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        arrows_.push_back(new ArrowItem(placement.edges[i], graph.edges[i].label, theme));
        scene_.addItem(arrows_.back());
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto &box = placement.nodes[i];
        boxes_.push_back(new BoxItem(static_cast<int>(i), graph.nodes[i], {box.width, box.height}, theme));
        boxes_.back()->setPos(box.x, box.y);
        scene_.addItem(boxes_.back());
    }
    const double margin = 600; // so that any box can be brought to the middle
    const QRectF content(0, 0, placement.width, placement.height);
    scene_.setSceneRect(content.adjusted(-margin, -margin, margin, margin));
    if (!touched_) showStart();
}

void GraphView::setHeats(const std::vector<BoxHeat> &heats)
{
    for (std::size_t i = 0; i < boxes_.size(); ++i)
        boxes_[i]->setHeat(i < heats.size() ? heats[i] : BoxHeat{});
}

void GraphView::setOutlines(const std::vector<BoxItem::Outline> &outlines)
{
    for (std::size_t i = 0; i < boxes_.size(); ++i)
        boxes_[i]->setOutline(i < outlines.size() ? outlines[i] : BoxItem::Outline::None);
}

void GraphView::setHighlighted(const std::set<int> &boxes)
{
    for (BoxItem *box : boxes_)
        box->setHighlighted(boxes.contains(box->index()));
}

void GraphView::emphasise(const std::set<int> &boxes)
{
    for (BoxItem *box : boxes_)
        box->setFaded(!boxes.empty() && !boxes.contains(box->index()));
}

void GraphView::selectBoxes(const std::set<int> &boxes)
{
    settingSelection_ = true;
    for (BoxItem *box : boxes_)
        box->setSelected(boxes.contains(box->index()));
    settingSelection_ = false;
}

std::vector<int> GraphView::selectedBoxes() const
{
    std::vector<int> selected;
    for (const BoxItem *box : boxes_)
        if (box->isSelected()) selected.push_back(box->index());
    return selected;
}

void GraphView::reveal(int box)
{
    if (box < 0 || box >= static_cast<int>(boxes_.size())) return;
    touched_ = true; // a change of size must not scroll back to the start
    ensureVisible(boxes_[static_cast<std::size_t>(box)]->sceneBoundingRect(), 120, 60);
}

void GraphView::zoomBy(double factor)
{
    const double now = transform().m11();
    const double next = std::clamp(now * factor, smallestScale, largestScale);
    scale(next / now, next / now);
    touched_ = true;
}

void GraphView::fit()
{
    const QRectF content = scene_.itemsBoundingRect();
    if (content.isEmpty()) return;
    fitInView(content.adjusted(-16, -16, 16, 16), Qt::KeepAspectRatio);
    if (transform().m11() > 1.2) setTransform(QTransform::fromScale(1.2, 1.2));
    centerOn(content.center());
    touched_ = false;
}

void GraphView::showStart()
{
    const QRectF content = scene_.itemsBoundingRect();
    if (content.isEmpty() || viewport()->height() < 20) return;
    fit();
    if (transform().m11() >= readableScale) return;
    // The whole is too small to read: as much of it as fits at a readable size, from where it begins.
    setTransform(QTransform::fromScale(readableScale, readableScale));
    const QSizeF shown = QSizeF(viewport()->size()) / readableScale;
    const QPointF start = boxes_.empty() ? content.center() : boxes_.front()->sceneBoundingRect().center();
    const auto along = [](double from, double length, double visible, double anchor) {
        return length <= visible
                   ? from + length / 2
                   : std::clamp(anchor, from + visible / 2 - 12, from + length - visible / 2 + 12);
    };
    centerOn(along(content.left(), content.width(), shown.width(), start.x()),
             along(content.top(), content.height(), shown.height(), start.y()));
}

BoxItem *GraphView::boxAt(const QPoint &position) const
{
    for (QGraphicsItem *item : items(position))
        if (auto *box = qgraphicsitem_cast<BoxItem *>(item)) return box;
    return nullptr;
}

void GraphView::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        zoomBy(std::pow(1.0015, event->angleDelta().y()));
        event->accept();
        return;
    }
    touched_ = true;
    QGraphicsView::wheelEvent(event);
}

void GraphView::mousePressEvent(QMouseEvent *event)
{
    const bool onBox = boxAt(event->pos()) != nullptr;
    if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && !onBox)) {
        panning_ = true;
        pressedAt_ = event->pos();
        setCursor(Qt::ClosedHandCursor);
        if (event->button() == Qt::LeftButton && !(event->modifiers() & Qt::ControlModifier))
            scene_.clearSelection();
        event->accept();
        return;
    }
    QGraphicsView::mousePressEvent(event);
}

void GraphView::mouseReleaseEvent(QMouseEvent *event)
{
    if (panning_) {
        panning_ = false;
        unsetCursor();
        return;
    }
    QGraphicsView::mouseReleaseEvent(event);
}

void GraphView::mouseMoveEvent(QMouseEvent *event)
{
    if (panning_) {
        const QPoint moved = event->pos() - pressedAt_;
        pressedAt_ = event->pos();
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
        touched_ = true;
        return;
    }
    const BoxItem *box = boxAt(event->pos());
    const int now = box ? box->index() : -1;
    if (now != hovered_) {
        hovered_ = now;
        emit boxHovered(now);
    }
    QGraphicsView::mouseMoveEvent(event);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent *event)
{
    panning_ = false;
    unsetCursor();
    for (QGraphicsItem *item : items(event->pos())) {
        if (auto *box = qgraphicsitem_cast<BoxItem *>(item)) {
            if (box->node().kind == VisibleNode::Kind::Module)
                emit moduleToggled(std::string(box->node().module));
            return;
        }
        if (auto *frame = dynamic_cast<FrameItem *>(item)) {
            emit moduleToggled(std::string(frame->module()));
            return;
        }
    }
}

void GraphView::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Plus:
        zoomBy(1.2);
        return;
    case Qt::Key_Minus:
        zoomBy(1 / 1.2);
        return;
    case Qt::Key_0:
        fit();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        for (const int index : selectedBoxes()) {
            const VisibleNode node = boxes_[static_cast<std::size_t>(index)]->node();
            if (node.kind == VisibleNode::Kind::Module) {
                emit moduleToggled(node.module);
                return;
            }
        }
        break;
    default:
        break;
    }
    QGraphicsView::keyPressEvent(event);
}

void GraphView::leaveEvent(QEvent *event)
{
    if (hovered_ != -1) {
        hovered_ = -1;
        emit boxHovered(-1);
    }
    QGraphicsView::leaveEvent(event);
}

void GraphView::resizeEvent(QResizeEvent *event)
{
    QGraphicsView::resizeEvent(event);
    if (!touched_) showStart();
}

} // namespace kernelwright::ui
