// From a plan's rates to a period in which every send has its time: the steady state of Beaumont,
// Legrand, Marchal, Robert, "Pipelining broadcasts on heterogeneous platforms", IEEE TPDS 16
// (2005), doi:10.1109/TPDS.2005.48. docs/model.md, "Schedules", says what it promises.
//
// A period carries whole segments of each tree. A send of tree k along u -> v then lasts
// segments[k] * segment * T_uv; out-ports and in-ports are the two sides of a bipartite multigraph,
// and lp/open_shop splits it into matchings that take together as long as its busiest port.
#pragma once

#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"

namespace espalier::planner {

struct ScheduleOptions {
  // The most of the throughput, relative, that carrying whole segments may cost: 1e-4 up to
  // below 1. A smaller loss takes longer periods, trees / loss segments at most.
  double loss = 0.01;
};

// Throws InputError (reason only) unless the model is one-port and there are neither relays nor
// shared links: elsewhere a send occupies more than two ports, and the work of the busiest resource
// is no longer time enough.
void require_schedulable(const Instance& instance);

// Seconds per byte, at the plan's segment size, of each edge of each tree: [tree][place in edges].
// Throws InputError (reason only) for an edge that is no link of the platform's by itself.
// Precondition: the plan has no structural fault and its nodes are the platform's hosts.
std::vector<std::vector<double>> edge_seconds_per_byte(const Instance& instance, const Plan& plan);

// The schedule of the plan's trees; `plan` is one that make_plan made of `instance`. Its throughput
// is at least (1 - loss) of what the rates come to when they are scaled to fill the busiest port.
// Among such periods it is the one of the fewest segments that was met, counting up. Throws as the
// two above do; std::invalid_argument for a loss out of range.
PlanSchedule make_schedule(const Instance& instance, const Plan& plan,
                           const ScheduleOptions& options = {});

}  // namespace espalier::planner
