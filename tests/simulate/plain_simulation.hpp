// A second, slow and simple implementation of the rules of simulate/simulate.hpp. Every segment on
// every edge is an object, and each step examines all of them. The resources of a send come from
// the tests' own implementation of the models (tests/planner/references/plain_model.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

struct PlainRun {
  std::vector<double> done_s;    // per host
  std::size_t most_waiting = 0;  // posted sends that had to wait, at most at a time
};

struct PlainOptions {
  std::uint64_t window;
  std::uint64_t receives = 4;     // for reductions
  double combine_s_per_byte = 0;  // for reductions; 0: no time
};

// tick_s: the unit to which times are rounded, the same as in the simulation under test, so that
// both have the same ties.
PlainRun simulate_plainly(const planner::Plan& plan, const platforms::Platform& platform,
                          std::uint64_t message, const PlainOptions& options, double tick_s);

}  // namespace espalier::testing
