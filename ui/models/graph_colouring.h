// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/model_profile.h"
#include "visible_graph.h"

#include <QString>

#include <optional>
#include <vector>

namespace kernelwright::ui
{

/// What the boxes of the graph are coloured by.
enum class GraphColouring {
    Time,     ///< share of the whole model's time
    Headroom, ///< time over floor
};

/// What a box weighs under a colouring, 0 (cold) … 1 (hot), and in words.
struct BoxHeat
{
    std::optional<double> heat; ///< absent: not known, or an input or output
    QString text;               ///< "12.3 % of the time, 74.4 µs"
};

/// The share of the whole time that is drawn hottest: that of the box with the most, but no less than a
/// tenth, so that nothing glows in a model in which no part stands out.
double hottestShare(const VisibleGraph &visible, const OperatorGraph &graph, const ModelProfile &profile);

/// One entry per box of `visible`, in order. Time is scaled to hottestShare(), headroom logarithmically to
/// 16×.
std::vector<BoxHeat> boxHeats(const VisibleGraph &visible, const OperatorGraph &graph,
                              const ModelProfile &profile, GraphColouring colouring);

} // namespace kernelwright::ui
