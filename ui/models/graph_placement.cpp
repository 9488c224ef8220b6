// SPDX-License-Identifier: GPL-3.0-or-later
// To Graphviz and back. Coordinates of `dot` have their origin at the bottom left, in points.
#include "base/json.h"
#include "visible_graph.h"

#include <cmath>
#include <cstdlib>

namespace kernelwright::ui
{

namespace
{

void writeCluster(QString &text, const VisibleGraph &graph, int index)
{
    // The frame has to be wide enough for its title, so `dot` is told the title; what could end the quoted
    // text is left out.
    QString title = graph.clusters[static_cast<std::size_t>(index)].label;
    title.remove(QLatin1Char('"')).remove(QLatin1Char('\\'));
    text += QStringLiteral("subgraph cluster_%1 { margin=9; label=\"%2\"; fontsize=12; fontname=\"sans\";\n")
                .arg(QString::number(index), title);
    for (const int node : graph.clusters[static_cast<std::size_t>(index)].nodes)
        text += QStringLiteral("n%1;").arg(node);
    text += QLatin1Char('\n');
    for (std::size_t child = 0; child < graph.clusters.size(); ++child)
        if (graph.clusters[child].parent == index) writeCluster(text, graph, static_cast<int>(child));
    text += QStringLiteral("}\n");
}

/// All numbers of a text like "e,10.5,20 1,2 3,4", in order; words are passed over.
std::vector<double> numbersIn(const std::string &text)
{
    std::vector<double> numbers;
    const char *at = text.c_str();
    while (*at != '\0') {
        char *end = nullptr;
        const double number = std::strtod(at, &end);
        const bool starts = (*at >= '0' && *at <= '9') || *at == '-' || *at == '.';
        if (starts && end != at && std::isfinite(number)) {
            numbers.push_back(number);
            at = end;
        } else {
            ++at;
        }
    }
    return numbers;
}

std::string textOf(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

tl::unexpected<Error> badLayout(const std::string &what)
{
    return fail(ErrorCode::Protocol,
                "Graphviz answered with " + what +
                    "; check that `dot -Tjson0` works in a terminal, or close some modules.");
}

/// The number behind a prefix: 12 for ("n12", "n"); -1 if it is none in range.
int indexAfter(const std::string &name, const std::string &prefix, std::size_t limit)
{
    if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0) return -1;
    char *end = nullptr;
    const long index = std::strtol(name.c_str() + prefix.size(), &end, 10);
    return *end == '\0' && index >= 0 && index < static_cast<long>(limit) ? static_cast<int>(index) : -1;
}

Result<void> readObject(const Json &object, const VisibleGraph &graph, GraphPlacement &placement)
{
    const std::string name = textOf(object, "name");
    if (const int cluster = indexAfter(name, "cluster_", graph.clusters.size()); cluster >= 0) {
        const auto box = numbersIn(textOf(object, "bb"));
        if (box.size() == 4)
            placement.clusters[static_cast<std::size_t>(cluster)] = {box[0], placement.height - box[3],
                                                                     box[2] - box[0], box[3] - box[1]};
        return {};
    }
    const int node = indexAfter(name, "n", graph.nodes.size());
    if (node < 0) return {}; // graph attributes and the like
    const auto at = numbersIn(textOf(object, "pos"));
    const auto width = numbersIn(textOf(object, "width"));
    const auto height = numbersIn(textOf(object, "height"));
    if (at.size() != 2 || width.size() != 1 || height.size() != 1)
        return badLayout("a node that has no place");
    const double w = width[0] * 72;
    const double h = height[0] * 72;
    placement.nodes[static_cast<std::size_t>(node)] = {at[0] - w / 2, placement.height - at[1] - h / 2, w, h};
    return {};
}

/// "e,ENDX,ENDY X0,Y0 X1,Y1 …": the arrow's tip, then 3n+1 control points; the tip becomes a last straight
/// piece.
std::vector<std::pair<double, double>> readSpline(const std::string &position, double height)
{
    std::vector<double> numbers = numbersIn(position);
    const bool hasTip = position.rfind("e,", 0) == 0;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = hasTip ? 2 : 0; i + 1 < numbers.size(); i += 2)
        points.emplace_back(numbers[i], height - numbers[i + 1]);
    if (points.size() % 3 != 1) return {};
    if (hasTip) {
        const std::pair<double, double> tip{numbers[0], height - numbers[1]};
        const std::pair<double, double> last = points.back();
        points.insert(points.end(), {last, tip, tip});
    }
    return points;
}

} // namespace

QString dotText(const VisibleGraph &graph, const std::vector<std::pair<double, double>> &nodeSizes,
                GraphDirection direction)
{
    const QString rank = direction == GraphDirection::Down ? QStringLiteral("TB") : QStringLiteral("LR");
    QString text =
        QStringLiteral("digraph model {\nrankdir=%1; nodesep=0.2; ranksep=0.3; newrank=true; labeljust=l;\n"
                       "node [shape=box, fixedsize=true, label=\"\"]; edge [arrowsize=0.6];\n")
            .arg(rank);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        text += QStringLiteral("n%1 [width=%2, height=%3];\n")
                    .arg(i)
                    .arg(nodeSizes.at(i).first / 72, 0, 'f', 3)
                    .arg(nodeSizes.at(i).second / 72, 0, 'f', 3);
    for (std::size_t i = 0; i < graph.clusters.size(); ++i)
        if (graph.clusters[i].parent < 0) writeCluster(text, graph, static_cast<int>(i));
    for (const VisibleEdge &edge : graph.edges)
        text += QStringLiteral("n%1 -> n%2;\n").arg(edge.from).arg(edge.to);
    return text + QStringLiteral("}\n");
}

Result<GraphPlacement> parsePlacement(const std::string &text, const VisibleGraph &graph)
{
    const auto json = parseJson(text, "the layout of the operator graph");
    if (!json) return forward(json.error());
    if (!json->is_object()) return badLayout("something that is no graph");
    GraphPlacement placement;
    const auto box = numbersIn(textOf(*json, "bb"));
    if (box.size() != 4) return badLayout("a graph without a size");
    placement.width = box[2];
    placement.height = box[3];
    placement.nodes.resize(graph.nodes.size());
    placement.clusters.resize(graph.clusters.size());
    placement.edges.resize(graph.edges.size());
    std::vector<int> nodeOfObject;
    const Json objects = json->value("objects", Json::array());
    for (const Json &object : objects) {
        if (!object.is_object()) return badLayout("an object that is none");
        if (const auto read = readObject(object, graph, placement); !read) return forward(read.error());
        nodeOfObject.push_back(indexAfter(textOf(object, "name"), "n", graph.nodes.size()));
    }
    std::map<std::pair<int, int>, std::string> splines;
    const Json edges = json->value("edges", Json::array());
    for (const Json &edge : edges) {
        if (!edge.is_object() || !edge.contains("tail") || !edge.contains("head"))
            return badLayout("an edge without ends");
        const auto tail =
            edge["tail"].is_number_unsigned() ? edge["tail"].get<std::size_t>() : nodeOfObject.size();
        const auto head =
            edge["head"].is_number_unsigned() ? edge["head"].get<std::size_t>() : nodeOfObject.size();
        if (tail >= nodeOfObject.size() || head >= nodeOfObject.size())
            return badLayout("an edge to nowhere");
        splines[{nodeOfObject[tail], nodeOfObject[head]}] = textOf(edge, "pos");
    }
    for (std::size_t i = 0; i < graph.edges.size(); ++i)
        placement.edges[i] = readSpline(splines[{graph.edges[i].from, graph.edges[i].to}], placement.height);
    return placement;
}

} // namespace kernelwright::ui
