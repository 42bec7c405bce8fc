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
//
// Of a reduction likewise, with its edges out of each host; of an allreduce a tree is one of either
// kind, and the trees of both kinds have an edge for each host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// A tree of the plan, and the share of a resource's time that it takes.
struct ResourceUser {
  bool up;           // one of the reduce trees
  std::size_t tree;  // place among the trees of its kind
  double load;
};

struct IdleResource {
  std::string resource;             // "out-port of a"
  double price;                     // share of the bound
  double load;                      // under the plan
  BytesPerSecond loss;              // y_r (1 - load), not negative but for rounding
  std::vector<ResourceUser> users;  // the trees that load it, the most first
};

struct DearEdge {
  std::string edge;      // "a -> b", "a -> sw -> b", in the direction of the data
  bool up;               // of a reduce tree
  BytesPerSecond rate;   // of all trees that have it
  double cost;           // under c: a share of the cheapest tree's cost
  std::string cheapest;  // the cheapest tree's edge into the same host; towards a root, out of it
  double cheapest_cost;
  BytesPerSecond loss;  // rate * (cost - cheapest_cost); may be negative
};

struct FullResource {
  std::string resource;
  double load;                      // 1 or all but
  double price;                     // share of the bound; 0: the optimum has no need to fill it
  std::vector<ResourceUser> users;  // the trees that load it, the most first
};

struct PlanLoss {
  BytesPerSecond throughput;                 // sum of the trees' rates, of one kind
  BytesPerSecond bound;                      // proven
  BytesPerSecond idle;                       // lost by idle resources
  BytesPerSecond dear;                       // lost by dear trees; bound - throughput = idle + dear
  std::vector<IdleResource> idle_resources;  // all that have a price and lose, the worst first
  std::vector<DearEdge> dear_edges;          // all whose loss is not 0, the worst first
  std::vector<FullResource> full;            // what stops the plan as it is, the dearest first
};

// loads: the plan's, one a resource of the collective, as VerifyReport has them. prices: a
// certificate of the collective. The plan must have passed `verify` on its platform, and be for its
// operation.
// Throws InfeasibleError when the prices prove no bound.
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Collective& collective,
                 const std::vector<PricedResource>& prices);

}  // namespace espalier::planner
