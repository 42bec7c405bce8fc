// Where a plan loses against the optimum, resource by resource and link by link.
//
// Let y be the prices of a certificate, scaled so that the cheapest spanning tree costs 1 under
// c = A'y; then sum(y) is the proven bound, in bytes per second. For a plan of trees T at rates
// lambda_T that load resource r to L_r,
//
//     bound - sum_T lambda_T = sum_r y_r (1 - L_r) + sum_T lambda_T (c(T) - 1),
//
// an identity: what is lost, is lost by priced resources that stand idle, or by trees that cost
// more than the cheapest. No term is negative when the plan is feasible. A tree has one edge into
// each host, so that c(T) - 1 is the sum over hosts of what their edge costs more than the one of
// the cheapest tree (less, for some).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/instance.hpp"
#include "planner/plan.hpp"
#include "planner/registry.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

struct IdleResource {
  std::string resource;  // "out-port of a"
  double price;          // share of the bound
  double load;           // under the plan
  BytesPerSecond loss;   // y_r (1 - load), not negative but for rounding
};

struct DearEdge {
  std::string edge;      // "a -> b", "a -> sw -> b"
  BytesPerSecond rate;   // of all trees that have it
  double cost;           // under c: a share of the cheapest tree's cost
  std::string cheapest;  // the cheapest tree's edge into the same host
  double cheapest_cost;
  BytesPerSecond loss;  // rate * (cost - cheapest_cost); may be negative
};

struct FullResource {
  std::string resource;
  double load;   // 1 or all but
  double price;  // share of the bound; 0: the optimum has no need to fill it
};

struct PlanLoss {
  BytesPerSecond throughput;                 // sum of the trees' rates
  BytesPerSecond bound;                      // proven
  BytesPerSecond idle;                       // lost by idle resources
  BytesPerSecond dear;                       // lost by dear trees; bound - throughput = idle + dear
  std::vector<IdleResource> idle_resources;  // all that have a price and lose, the worst first
  std::vector<DearEdge> dear_edges;          // all whose loss is not 0, the worst first
  std::vector<FullResource> full;            // what stops the plan as it is, the dearest first
};

// loads: the plan's, one a resource of the instance, as VerifyReport has them. prices: a
// certificate of the instance. The plan must have passed `verify` on the instance's platform.
// Throws InfeasibleError when the prices prove no bound.
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Instance& instance,
                 const std::vector<PricedResource>& prices);

}  // namespace espalier::planner
