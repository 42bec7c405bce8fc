// The rules of simulate/simulate.hpp, a second time: slow and plain. Every segment on every edge is
// an object, every moment looks at all of them, and what a send occupies comes from the tests' own
// reading of the models (tests/planner/references/plain_model.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

struct PlainRun {
  std::vector<double> done_s;    // of each host
  std::size_t most_waiting = 0;  // sends that were posted and had to wait: that there was a contest
};

struct PlainOptions {
  std::uint64_t window;
  std::uint64_t receives = 4;     // of a reduction, as is
  double combine_s_per_byte = 0;  // this; 0: at once
};

// tick_s: the unit that times are rounded to, as the simulation under test does; then ties are the
// same ties.
PlainRun simulate_plainly(const planner::Plan& plan, const platforms::Platform& platform,
                          std::uint64_t message, const PlainOptions& options, double tick_s);

}  // namespace espalier::testing
