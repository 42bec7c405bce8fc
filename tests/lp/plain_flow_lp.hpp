// The papers' linear program for the optimal broadcast, in flows: a plain reference for tests and
// benchmarks.
//
//   max TP   s.t.   for every target t:  f^t is a flow of value TP from the root to t,   0 <=
//   f^t_uv <= n_uv,
//                   A n <= 1.
//
// n_uv: bytes per second that cross the arc. Flows to different targets may share them, because a
// byte that crosses once serves every target behind the arc. Beaumont, Legrand, Marchal, Robert,
// "Pipelining broadcasts on heterogeneous platforms", IEEE TPDS 16 (2005),
// doi:10.1109/TPDS.2005.48, section 4 (SSB(G)). Relays cannot copy, so with them n is kept per
// sending host: h^u is what u sends to other hosts along paths of relays, conserved at relays, and
// sharing happens between hosts only. Where only some hosts are targets
// (PackingProblem::is_member), the optimum of flows is an upper bound of that of trees. Variables
// O(hosts x arcs); use it on small graphs.
#pragma once

#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/solver/linear_program.hpp"

namespace espalier::lp {

struct FlowSolution {
  LpStatus status = LpStatus::kTrouble;
  double throughput = 0;  // TP, bytes per second; valid when optimal
};

// One more row: what crosses the arcs costs at most `most` per byte that is broadcast,
//   sum price_uv n_uv - most TP <= 0.
struct FlowBudget {
  std::vector<double> price;  // per arc and byte
  double most = 0;
};

FlowSolution solve_flow_lp(const PackingProblem& problem,
                           std::optional<Seconds> time_limit = std::nullopt,
                           const std::optional<FlowBudget>& budget = std::nullopt);

}  // namespace espalier::lp
