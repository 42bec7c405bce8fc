// Plans and money (docs/model.md, "Money is a resource"): the fastest plan within a budget per byte
// of the message, the cheapest plan of a given throughput, the cheapest plan of all.
//
// All of them solve the operation's own packing with one more resource: money, of which a byte on a
// link occupies its price, and all transfers together have M per second. Its optimum t(M) is
// concave, and each solution proves a line above all of it: with q the price of money among prices
// whose sum is 1, and b the bound that they prove at M,
//     t(M') <= b (1 - q + q M' / M).
// Within c per byte M' is c t, so that t <= b (1 - q) / (1 - b q c / M): the next M is c times
// that, from above, as in Newton's method. At a throughput of T, M' is at least
// M (T / b - (1 - q)) / q, from below.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// Per second, over all trees and links.
double money_per_s(const Outcome& outcome, const platforms::Platform& platform);
// Nothing on a platform without prices.
std::optional<PlanCost> cost_of(const Outcome& outcome, const platforms::Platform& platform);

// The outcome of an operation that may spend so much per second (unset: anything), with its bound
// and prices, and the row of money among these.
struct Solved {
  Outcome outcome;
  std::uint32_t money_row = UINT32_MAX;
};
using SolveWithMoney = std::function<Solved(std::optional<double> money_per_s)>;

// solve(problem): the outcome of any problem of planner/problem/any_problem.hpp. The other
// arguments are those of on_problem; the platform must outlive the result.
template <class Solve>
SolveWithMoney with_money(Operation operation, const platforms::Platform& platform,
                          std::optional<platforms::NodeId> root, platforms::Model model,
                          platforms::OccupationOptions options, std::vector<double> shares,
                          Solve solve) {
  return [=, &platform](std::optional<double> money_per_s) {
    platforms::OccupationOptions own = options;
    own.money_per_s = money_per_s;
    return on_problem(operation, platform, root, model, own, shares, [&](const auto& problem) {
      const auto rows = static_cast<std::uint32_t>(problem.occupation().resources.size());
      return Solved{solve(problem), money_per_s ? rows - 1 : UINT32_MAX};
    });
  };
}

struct MoneyOptions : lp::Limits {
  // A solution is accepted whose cost exceeds the budget by this share, where rounding leaves none
  // below it: next to the cheapest.
  double tolerance = 2e-6;
};

// Outcome::bound is proven for all plans within the budget. Outcome::prices are scaled so that all
// but that of money sum to 1: a resource's, and money's, are by how much per cent the bound grows
// when it, or the budget, grows by 1 %. Throws InfeasibleError, with the price of the cheapest
// plan, for a budget below it; LimitReached.
struct PlanWithinBudget {
  Outcome outcome;
  std::optional<double> money_per_s{};  // of the problem whose rows the prices have
};
PlanWithinBudget within_budget(const SolveWithMoney& solve, const platforms::Platform& platform,
                               double budget_per_GB, const MoneyOptions& options = {});

// The cheapest plan that is at least this fast. Outcome::bound is unset. Throws InfeasibleError,
// with the highest throughput, where no plan is as fast; LimitReached.
struct CheapestPlan {
  Outcome outcome;
  double least_per_GB = 0;  // proven: no plan as fast costs less
};
CheapestPlan cheapest_at(const SolveWithMoney& solve, const platforms::Platform& platform,
                         BytesPerSecond throughput, const MoneyOptions& options = {});

// `count` (at least 2) budgets per GB, ascending and equally spaced: from that of the cheapest plan
// of all to that of the cheapest plan that is as fast as any. Throws as cheapest_at does.
std::vector<double> frontier_budgets(const SolveWithMoney& solve,
                                     const platforms::Platform& platform, std::size_t count,
                                     const MoneyOptions& options = {});

}  // namespace espalier::planner
