// Finds the contention model that best predicts the rates of simultaneous flows.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/measure/analysis.hpp"

namespace espalier::runtime::probe {

// Sets `fits` and `best` from the experiments of one rank with several others. Links, caps and
// shared links must be set. A more general model is best only if it fits clearly better.
void fit_models(const Measurements& measurements, Estimate& estimate);

// For every flow, the load of the fullest resource that it occupies when the flows have these
// rates: by the table of docs/model.md, for infinitely long segments. Preconditions: each flow is a
// link of the estimate; `model` is a name from that table.
std::vector<double> fullest_loads(const Estimate& estimate, std::string_view model,
                                  const std::vector<Flow>& flows,
                                  const std::vector<double>& rates_Bps);

}  // namespace espalier::runtime::probe
