// From a plan's rates to a periodic schedule of all sends (Beaumont, Legrand, Marchal, Robert, IEEE
// TPDS 16 (2005), doi:10.1109/TPDS.2005.48): sends are jobs of an open shop of out-ports and
// in-ports (lp/graph/open_shop). Guarantees: docs/model.md, "Schedules".
#pragma once

#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

struct ScheduleOptions {
  // The largest relative loss of throughput allowed for carrying whole segments: from 1e-4 to below
  // 1. A smaller loss needs longer periods, at most trees / loss segments.
  double loss = 0.01;
  Deadline deadline{};
};

// Throws InputError (reason only) unless the model is one-port and there are neither relays nor
// shared links: otherwise a send occupies more than two ports, and the busiest resource's work may
// not be enough time.
void require_schedulable(const platforms::Platform& platform, platforms::Model model);

// Seconds per byte, at the plan's segment size, of each edge of each tree, in the direction of its
// data: [tree][place in edges], trees as trees_in_order has them.
// Throws InputError (reason only) for an edge that is not a single link of the platform.
// Precondition: the plan has no structural fault and its nodes are the platform's hosts.
std::vector<std::vector<double>> edge_seconds_per_byte(const platforms::Platform& platform,
                                                       const Plan& plan);

// The schedule of the plan's trees, of both kinds in one period; `plan` is the result of make_plan
// under this model for an operation that can_have_schedule with one root. The schedule's throughput
// is at least (1 - loss) times that of the rates, scaled to fill the busiest port. Periods are
// tried by increasing number of segments, and the first such one is used. Throws as the two above
// do; LimitReached when the deadline passes, std::invalid_argument for a loss out of range.
PlanSchedule make_schedule(const platforms::Platform& platform, platforms::Model model,
                           const Plan& plan, const ScheduleOptions& options = {});
// The same of an Instance, for its own broadcast, or of a Collective.
template <class Problem>
PlanSchedule make_schedule(const Problem& problem, const Plan& plan,
                           const ScheduleOptions& options = {}) {
  return make_schedule(problem.platform(), problem.model(), plan, options);
}

}  // namespace espalier::planner
