// The loss of a plan against the optimum, by resource and by link:
//     bound - sum_T lambda_T = sum_r y_r (1 - L_r) + sum_T lambda_T (c(T) - 1)
// (docs/methods.md, "Where a plan loses"): priced resources that are idle, and trees that cost more
// than the cheapest. For an allreduce a "tree" is a pair of a reduce tree and a broadcast tree, for
// an operation with several roots or parts a tree of each root, or a path of each part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// A tree of the plan, and the share of a resource's time that it uses.
struct ResourceUser {
  std::size_t kind;  // index into trees_by_kind(plan)
  std::size_t tree;  // index among the trees of its kind
  bool up;           // it combines
  double load;
};

struct IdleResource {
  std::string resource;             // "out-port of a"
  double price;                     // share of the bound
  double load;                      // under the plan
  BytesPerSecond loss;              // y_r (1 - load), not negative except for rounding
  std::vector<ResourceUser> users;  // the trees that load it, largest load first
};

struct CostlyEdge {
  std::string edge;      // "a -> b", "a -> sw -> b", in the direction of the data
  bool up;               // of a reduce tree
  BytesPerSecond rate;   // of all trees that have it
  double cost;           // under c, as a share of the cheapest tree's cost
  std::string cheapest;  // the cheapest tree's edge into the same host (out of it in a reduce tree)
  double cheapest_cost;
  BytesPerSecond loss;  // rate * (cost - cheapest_cost); may be negative
};

struct FullResource {
  std::string resource;
  double load;                      // 1, or almost
  double price;                     // share of the bound; 0: the optimum does not need to fill it
  std::vector<ResourceUser> users;  // the trees that load it, largest load first
};

struct PlanLoss {
  BytesPerSecond throughput;  // the plan's
  BytesPerSecond bound;       // proven
  BytesPerSecond idle;        // lost by idle resources
  BytesPerSecond costly;      // lost by costly trees; bound - throughput = idle + costly
  std::vector<IdleResource> idle_resources;  // all with a price and a loss, largest loss first
  // All whose loss is not 0, largest loss first; only of a Collective.
  std::vector<CostlyEdge> costly_edges;
  std::vector<FullResource> full;  // what limits the plan, highest price first
};

// loads: of the plan, one per resource of the problem, as in VerifyReport. optimum: with a bound
// and its certificate. The plan must have passed `verify` on its platform, and be one of the
// problem's. Throws InfeasibleError when the prices prove no bound.
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Collective& problem,
                 const Outcome& optimum);
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const AllRoots& problem,
                 const Outcome& optimum);
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Routing& problem,
                 const Outcome& optimum);
PlanLoss loss_of(const Plan& plan, const std::vector<double>& loads, const Multicast& problem,
                 const Outcome& optimum);
// The same from prices alone, which prove a bound.
PlanLoss loss_at_prices(const Plan& plan, const std::vector<double>& loads,
                        const Collective& problem, const std::vector<PricedResource>& prices);

}  // namespace espalier::planner
