// The charts of HBT's simulations: relative performance against nodes and against density.
#pragma once

#include <string_view>
#include <vector>

#include "experiments/report.hpp"

namespace espalier::experiments {

inline constexpr std::string_view kChartPrefix = "relative-vs-";

// relative-vs-nodes-MODEL.svg and relative-vs-density-MODEL.svg, each only if there are at least
// two values on the axis. The lines are means, with the deviation as error bars.
std::vector<OutputFile> charts(const Study& study, const std::vector<SummaryRow>& rows);

}  // namespace espalier::experiments
