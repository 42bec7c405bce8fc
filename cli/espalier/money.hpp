// What plans cost: the options that limit it, and how reports state it (docs/model.md, "Money is a
// resource").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/common/report.hpp"
#include "cli/espalier/options.hpp"
#include "planner/plan/plan.hpp"
#include "planner/solve/budget.hpp"

namespace espalier::cli {

// At most this for 10^9 bytes of the message.
struct Budget {
  double per_GB = 0;
  std::string currency{};  // empty: the platform's

  // Throws InputError if the platform's prices are in another currency.
  void require_currency(const platforms::Platform& platform) const;
};
// "4", "4.00/GB", "4 USD/GB". Throws InputError (reason only).
Budget parse_budget(std::string_view text);
void add_budget(Arguments& app, std::optional<Budget>& budget);

// The problem for planner/solve/budget.hpp.
planner::MoneyProblem money_problem(const ProblemOptions& problem,
                                    const platforms::Platform& platform);

using planner::money_text;
// "4.0000 USD per GB of message, and 12.0000 USD per hour for the hosts".
std::string cost_text(const planner::PlanCost& cost);
// Of a message that takes so long: its links' price, and that of the hosts' time.
double cost_of(const planner::PlanCost& cost, Bytes message, Seconds duration);
// "costs 6.4300 USD per GB of message", and its keys in JSON; nothing without prices.
void report_cost(Report& report, const std::optional<planner::PlanCost>& cost);

}  // namespace espalier::cli
