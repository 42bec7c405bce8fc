// From a plan's rates to a periodic schedule of all sends (Beaumont, Legrand, Marchal, Robert, IEEE
// TPDS 16 (2005), doi:10.1109/TPDS.2005.48): sends are jobs of an open shop of out-ports and
// in-ports (lp/graph/open_shop). Guarantees: docs/model.md, "Schedules".
#pragma once

#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
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
void require_schedulable(const Instance& instance);

// Seconds per byte, at the plan's segment size, of each edge of each tree: [tree][place in edges].
// Throws InputError (reason only) for an edge that is not a single link of the platform.
// Precondition: the plan has no structural fault and its nodes are the platform's hosts.
std::vector<std::vector<double>> edge_seconds_per_byte(const Instance& instance, const Plan& plan);

// The schedule of the plan's trees; `plan` is the result of make_plan for `instance`. The
// schedule's throughput is at least (1 - loss) times that of the rates, scaled to fill the busiest
// port. Periods are tried by increasing number of segments, and the first such one is used. Throws
// as the two above do; LimitReached when the deadline passes, std::invalid_argument for a loss out
// of range.
PlanSchedule make_schedule(const Instance& instance, const Plan& plan,
                           const ScheduleOptions& options = {});

}  // namespace espalier::planner
