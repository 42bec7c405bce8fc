// Measured times of collectives beside those of the models, as in CM, figures 2 to 5; and times by
// segment size, which show where segments pay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/costs/cost_model.hpp"
#include "cli/espalier/costs/measured_times.hpp"
#include "render/charts/line_chart.hpp"

namespace espalier::cli {

// A measured time, and what each model predicts.
struct MeasuredCase {
  cost_models::Measurement measured;
  std::vector<std::optional<Seconds>> predicted;  // by model; unset: it has no formula
};

struct PredictedTimes {
  std::string operation;
  std::vector<std::string> models;
  std::vector<MeasuredCase> cases;  // by algorithm in the registry's order, segment, ranks, message
};

// The measured times that have a formula in any of the models; of several measurements of the same
// case the least. models: at least one. Throws InputError (reason only) if there is none, and as
// predict.
PredictedTimes predicted_times(const std::vector<CostOptions::Read>& models,
                               const std::string& operation,
                               const std::vector<cost_models::Measurement>& measured);

// A row for each case, and the errors by algorithm and model.
Report report_of(const PredictedTimes& times);
// Both axes are logarithmic; over the ranks for a barrier, over the messages otherwise.
render::LineChart chart_of(const PredictedTimes& times);

// A line for each algorithm that has segments, over the segment sizes of usual_segments. At least
// two ranks and bytes. Throws InputError (reason only) if no algorithm has segments, and as
// predict.
render::LineChart chart_by_segment(const CostOptions::Read& model, const cost_models::Case& of);

}  // namespace espalier::cli
