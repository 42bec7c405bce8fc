// Plans and money (docs/model.md, "Money is a resource"): the fastest plan within a budget per byte
// of the message, the cheapest plan of a given throughput, the cheapest plan of all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// "6.4300 USD".
std::string money_text(double amount, const std::string& currency);

// Per second, over all trees and links.
double money_per_s(const Outcome& outcome, const platforms::Platform& platform);
// Nothing on a platform without prices.
std::optional<PlanCost> cost_of(const Outcome& outcome, const platforms::Platform& platform);

struct MoneyOptions : lp::Limits {
  // Reduces the result's trees as `optimal` does; else they are those of the proof.
  bool plan = true;
  // A solution is accepted whose cost exceeds the budget by this share, where rounding leaves none
  // below it: next to the cheapest.
  double tolerance = 2e-6;
};

// What on_problem of planner/problem/any_problem.hpp makes a problem of, but for the money.
struct MoneyProblem {
  Operation operation;
  const platforms::Platform& platform;
  std::optional<platforms::NodeId> root;
  platforms::Model model;
  platforms::OccupationOptions occupation{};
  Receipts receipts{};

  // The optimum for so much money per second (unset: any amount), and money's share of the prices.
  struct Solved {
    Outcome outcome;
    double price_of_money = 0;
  };
  // near: its outcome for another amount, whose trees are tried first; null: none.
  [[nodiscard]] Solved prove(std::optional<double> money_per_s, const lp::Limits& limits,
                             const Outcome* near = nullptr) const;
  // The plan of `optimal` for it.
  [[nodiscard]] Outcome plan(std::optional<double> money_per_s, const lp::Limits& limits) const;
};

// Outcome::bound is proven for all plans within the budget. Outcome::prices are scaled so that all
// but that of money sum to 1: a resource's, and money's, are by how much per cent the bound grows
// when it, or the budget, grows by 1 %. Throws InfeasibleError, with the price of the cheapest
// plan, for a budget below it; LimitReached.
struct PlanWithinBudget {
  Outcome outcome;
  std::optional<double> money_per_s{};  // of the problem whose rows the prices have
};
PlanWithinBudget within_budget(const MoneyProblem& problem, double budget_per_GB,
                               const MoneyOptions& options = {});

// The cheapest plan that is at least this fast. Outcome::bound is unset. Throws InfeasibleError,
// with the highest throughput, where no plan is as fast; LimitReached.
struct CheapestPlan {
  Outcome outcome;
  double least_per_GB = 0;  // proven: no plan as fast costs less
};
CheapestPlan cheapest_at(const MoneyProblem& problem, BytesPerSecond throughput,
                         const MoneyOptions& options = {});

// `count` (at least 2) budgets per GB, ascending and equally spaced: from that of the cheapest plan
// of all to that of the cheapest plan that is as fast as any. Throws as cheapest_at does.
std::vector<double> frontier_budgets(const MoneyProblem& problem, std::size_t count,
                                     const MoneyOptions& options = {});

}  // namespace espalier::planner
