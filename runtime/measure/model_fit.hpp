// Which contention model says best what flows that run together carry.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/measure/analysis.hpp"

namespace espalier::runtime::probe {

// Fills in `fits` and `best` from the experiments of one rank with several others. Links, caps and
// links must be there. A more general model is best only where it fits clearly better.
void fit_models(const Measurements& measurements, Estimate& estimate);

// For every flow, the load of the fullest resource that it occupies when flows carry these rates:
// the rows of docs/model.md's table, for segments that are infinitely long. Precondition: each flow
// is a link of the estimate; `model` is one of its names.
std::vector<double> fullest_loads(const Estimate& estimate, std::string_view model,
                                  const std::vector<Flow>& flows,
                                  const std::vector<double>& rates_Bps);

}  // namespace espalier::runtime::probe
