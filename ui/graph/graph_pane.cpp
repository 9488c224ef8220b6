// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_pane.h"

#include "heat_legend.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>

namespace kernelwright::ui
{

namespace
{
// Above a thousand boxes Graphviz takes seconds; a graph that opens with fewer can be read, too.
constexpr int openAtFirst = 90;
constexpr int mostBoxes = 1000;
} // namespace

GraphPane::GraphPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
    , view_(new GraphView(themes))
{
    hint_ = new EmptyHint(
        view_, tr("No model is open.\nDrop a .pt2 or TorchScript file on the window, or press Ctrl+O."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeTools());
    column->addWidget(hint_, 1);

    connect(&layout_, &DotLayout::placed, this, &GraphPane::onPlaced);
    connect(&layout_, &DotLayout::failed, this, [this](const QString &sentence) {
        hint_->setHint(sentence);
        hint_->setEmpty(true);
        emit failed(sentence);
    });
    connect(view_, &GraphView::boxHovered, this,
            [this](int box) { emit nodesHovered(box < 0 ? QStringList() : namesOf({box})); });
    connect(view_, &GraphView::boxSelectionChanged, this, [this] {
        updateSelectionTools();
        emit nodesSelected(selectedNodes());
    });
    connect(view_, &GraphView::moduleToggled, this, &GraphPane::toggleModule);
    connect(&themes, &ThemeController::changed, this, &GraphPane::applyIcons);
    applyIcons();
    updateSelectionTools();
}

QWidget *GraphPane::makeTools()
{
    auto *bar = new QWidget;
    setRole(bar, "bar");
    bar->setAttribute(Qt::WA_StyledBackground);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(6);
    search_ = new QLineEdit;
    search_->setPlaceholderText(tr("Find operator"));
    search_->setAccessibleName(tr("Find in the graph"));
    search_->setClearButtonEnabled(true);
    search_->setMinimumWidth(120);
    search_->setMaximumWidth(200);
    connect(search_, &QLineEdit::textChanged, this, &GraphPane::search);
    colouring_ = new QComboBox;
    colouring_->setAccessibleName(tr("Colour the operators by"));
    colouring_->addItem(tr("Coloured by time"));
    colouring_->addItem(tr("Coloured by headroom"));
    colouring_->setToolTip(tr("What the boxes are coloured by"));
    connect(colouring_, &QComboBox::currentIndexChanged, this, &GraphPane::recolour);
    legend_ = new HeatLegend(themes_);
    const auto tool = [&](const QString &name, const QString &tip, auto slot) {
        auto *button = new QToolButton;
        button->setAccessibleName(name);
        button->setToolTip(tip);
        connect(button, &QToolButton::clicked, this, slot);
        return button;
    };
    zoomOut_ = tool(tr("Zoom out"), tr("Zoom out (Ctrl+wheel, −)"), [this] { view_->zoomBy(1 / 1.25); });
    zoomIn_ = tool(tr("Zoom in"), tr("Zoom in (Ctrl+wheel, +)"), [this] { view_->zoomBy(1.25); });
    fit_ = tool(tr("Show all"), tr("Show the whole graph (0)"), [this] { view_->fit(); });
    optimise_ = new QPushButton(tr("Optimise these"));
    optimise_->setToolTip(tr("Let the agent write one kernel for the selected operators"));
    connect(optimise_, &QPushButton::clicked, this, [this] { emit optimiseRequested(selectedNodes()); });
    row->addWidget(search_, 1);
    row->addWidget(colouring_);
    row->addWidget(legend_);
    row->addStretch(1);
    for (QWidget *widget : std::initializer_list<QWidget *>{optimise_, zoomOut_, zoomIn_, fit_})
        row->addWidget(widget);
    return bar;
}

void GraphPane::applyIcons()
{
    zoomIn_->setIcon(themedIcon(themes_.theme(), QStringLiteral("zoom-in")));
    zoomOut_->setIcon(themedIcon(themes_.theme(), QStringLiteral("zoom-out")));
    fit_->setIcon(themedIcon(themes_.theme(), QStringLiteral("fit")));
}

void GraphPane::clear()
{
    graph_ = {};
    profile_.reset();
    visible_ = {};
    currentTask_.clear();
    drawn_ = false;
    view_->clear();
    hint_->setEmpty(true);
}

void GraphPane::setGraph(const OperatorGraph &graph)
{
    clear();
    graph_ = graph;
    if (graph_.nodes.empty()) {
        hint_->setHint(tr("This model has no operators."));
        return;
    }
    open_ = modulesToOpen(graph_, openAtFirst);
    hint_->setHint(tr("Laying out %1 operators …").arg(graph_.nodes.size()));
    layOut();
}

void GraphPane::setProfile(const ModelProfile &profile)
{
    profile_ = profile;
    recolour();
    updateOutlines();
}

void GraphPane::setCurrentTask(const QStringList &nodes)
{
    currentTask_ = nodes;
    updateOutlines();
    const auto boxes = boxesOf(nodes);
    if (!boxes.empty()) view_->reveal(*boxes.begin());
}

void GraphPane::layOut()
{
    VisibleGraph next = visibleGraph(graph_, open_);
    std::vector<std::pair<double, double>> sizes;
    for (const VisibleNode &node : next.nodes) {
        const QSizeF size = boxSize(node);
        sizes.emplace_back(size.width(), size.height());
    }
    // A wide pane shows more of a graph that runs to the right.
    const bool wide = view_->viewport()->width() > 1.25 * view_->viewport()->height();
    layout_.start(std::move(next), std::move(sizes), wide ? GraphDirection::Right : GraphDirection::Down);
}

void GraphPane::onPlaced(const VisibleGraph &graph, const GraphPlacement &placement)
{
    const QStringList selected = selectedNodes();
    visible_ = graph;
    hint_->setEmpty(false);
    view_->show(visible_, placement);
    recolour();
    updateOutlines();
    view_->selectBoxes(boxesOf(selected));
    updateSelectionTools();
    search(search_->text());
    drawn_ = true;
    emit drawn();
}

void GraphPane::recolour()
{
    const bool byTime = colouring_->currentIndex() == 0;
    legend_->setVisible(profile_.has_value());
    if (!profile_) return;
    if (byTime)
        legend_->setEnds(tr("0 %"),
                         tr("%1 %").arg(100 * hottestShare(visible_, graph_, *profile_), 0, 'f', 0));
    else
        legend_->setEnds(tr("at floor"), tr("16×"));
    view_->setHeats(
        boxHeats(visible_, graph_, *profile_, byTime ? GraphColouring::Time : GraphColouring::Headroom));
}

void GraphPane::updateOutlines()
{
    std::vector<BoxItem::Outline> outlines(visible_.nodes.size(), BoxItem::Outline::None);
    if (profile_ && !profile_->tasks.empty()) {
        QStringList suggested;
        for (const std::string &name : profile_->tasks.front().nodes)
            suggested << fromText(name);
        for (const int box : boxesOf(suggested))
            if (visible_.nodes[static_cast<std::size_t>(box)].kind == VisibleNode::Kind::Operator)
                outlines[static_cast<std::size_t>(box)] = BoxItem::Outline::Suggested;
    }
    for (const int box : boxesOf(currentTask_))
        outlines[static_cast<std::size_t>(box)] = BoxItem::Outline::Current;
    view_->setOutlines(outlines);
}

void GraphPane::updateSelectionTools()
{
    optimise_->setEnabled(!selectedNodes().isEmpty());
}

void GraphPane::search(const QString &text)
{
    std::set<int> hits;
    if (!text.trimmed().isEmpty())
        for (std::size_t i = 0; i < visible_.nodes.size(); ++i) {
            const VisibleNode &box = visible_.nodes[i];
            bool hit = box.label.contains(text, Qt::CaseInsensitive) ||
                       fromText(box.module).contains(text, Qt::CaseInsensitive);
            for (const NodeId node : box.nodes)
                hit = hit || fromText(graph_.node(node).name).contains(text, Qt::CaseInsensitive);
            if (hit) hits.insert(static_cast<int>(i));
        }
    view_->emphasise(hits);
    if (!hits.empty()) view_->reveal(*hits.begin());
}

void GraphPane::toggleModule(const std::string &path)
{
    openModule(path, !open_.contains(path));
}

void GraphPane::openModule(const std::string &path, bool open)
{
    std::set<std::string> next = open_;
    if (open)
        next.insert(path);
    else
        next.erase(path);
    if (open && visibleGraph(graph_, next).nodes.size() > mostBoxes) {
        emit failed(tr("Opening %1 would draw more than %2 boxes; close another module first.")
                        .arg(fromText(path))
                        .arg(mostBoxes));
        return;
    }
    open_ = std::move(next);
    layOut();
}

void GraphPane::highlightNodes(const QStringList &nodes)
{
    view_->setHighlighted(boxesOf(nodes));
}

void GraphPane::selectNodes(const QStringList &nodes)
{
    const auto boxes = boxesOf(nodes);
    view_->selectBoxes(boxes);
    if (!boxes.empty()) view_->reveal(*boxes.begin());
    updateSelectionTools();
}

QStringList GraphPane::selectedNodes() const
{
    return namesOf(view_->selectedBoxes());
}

void GraphPane::focusSearch()
{
    search_->setFocus();
    search_->selectAll();
}

void GraphPane::fit()
{
    view_->fit();
}

QStringList GraphPane::namesOf(const std::vector<int> &boxes) const
{
    QStringList names;
    for (const int box : boxes)
        for (const NodeId node : visible_.nodes.at(static_cast<std::size_t>(box)).nodes)
            names << fromText(graph_.node(node).name);
    return names;
}

std::set<int> GraphPane::boxesOf(const QStringList &nodes) const
{
    const QSet<QString> wanted(nodes.begin(), nodes.end());
    std::set<int> boxes;
    for (std::size_t i = 0; i < visible_.nodes.size() && !wanted.isEmpty(); ++i)
        for (const NodeId node : visible_.nodes[i].nodes)
            if (wanted.contains(fromText(graph_.node(node).name))) boxes.insert(static_cast<int>(i));
    return boxes;
}

} // namespace kernelwright::ui
