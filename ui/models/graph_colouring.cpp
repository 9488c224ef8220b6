// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_colouring.h"

#include "base/text.h"
#include "display_text.h"

#include <algorithm>
#include <cmath>

namespace kernelwright::ui
{

namespace
{

struct BoxTime
{
    bool known = false;
    double timeUs = 0;
    double floorUs = 0;
    bool floorKnown = true; ///< of every operator that takes time
};

BoxTime timeOf(const VisibleNode &box, const OperatorGraph &graph,
               const std::map<std::string, const OperatorProfile *> &profileOf)
{
    BoxTime result;
    for (const NodeId node : box.nodes) {
        const auto found = profileOf.find(graph.node(node).name);
        if (found == profileOf.end()) continue;
        result.known = true;
        result.timeUs += found->second->timeUs;
        if (found->second->floorUs >= 0)
            result.floorUs += found->second->floorUs;
        else if (found->second->timeUs > 0)
            result.floorKnown = false;
    }
    return result;
}

constexpr double hottestHeadroom = 16;
constexpr double leastHottestShare = 0.1;

std::vector<BoxTime> timesOf(const VisibleGraph &visible, const OperatorGraph &graph,
                             const ModelProfile &profile)
{
    std::map<std::string, const OperatorProfile *> profileOf;
    for (const OperatorProfile &timed : profile.operators)
        profileOf[timed.name] = &timed;
    std::vector<BoxTime> times;
    for (const VisibleNode &box : visible.nodes)
        times.push_back(timeOf(box, graph, profileOf));
    return times;
}

double hottestShareOf(const std::vector<BoxTime> &times, double totalUs)
{
    double longest = 0;
    for (const BoxTime &time : times)
        longest = std::max(longest, time.timeUs);
    return totalUs > 0 ? std::max(leastHottestShare, longest / totalUs) : leastHottestShare;
}

} // namespace

double hottestShare(const VisibleGraph &visible, const OperatorGraph &graph, const ModelProfile &profile)
{
    return hottestShareOf(timesOf(visible, graph, profile), profile.totalUs);
}

std::vector<BoxHeat> boxHeats(const VisibleGraph &visible, const OperatorGraph &graph,
                              const ModelProfile &profile, GraphColouring colouring)
{
    const std::vector<BoxTime> times = timesOf(visible, graph, profile);
    const double hottest = hottestShareOf(times, profile.totalUs);
    std::vector<BoxHeat> heats;
    for (const BoxTime &time : times) {
        BoxHeat heat;
        if (time.known) {
            const double share = profile.totalUs > 0 ? time.timeUs / profile.totalUs : 0;
            heat.text = QStringLiteral("%1 of the time, %2")
                            .arg(QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1),
                                 fromText(formatMicroseconds(time.timeUs)));
            const bool hasFloor = time.floorKnown && time.floorUs > 0 && time.timeUs > 0;
            if (hasFloor)
                heat.text += QStringLiteral("; %1 above its floor")
                                 .arg(fromText(formatSpeedup(time.timeUs / time.floorUs)));
            if (colouring == GraphColouring::Time)
                heat.heat = share / hottest;
            else if (colouring == GraphColouring::Headroom && hasFloor)
                heat.heat =
                    std::clamp(std::log(time.timeUs / time.floorUs) / std::log(hottestHeadroom), 0.0, 1.0);
        }
        heats.push_back(std::move(heat));
    }
    return heats;
}

} // namespace kernelwright::ui
