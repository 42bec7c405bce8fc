#include "cli/espalier/money.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/text.hpp"

namespace espalier::cli {

void Budget::require_currency(const platforms::Platform& platform) const {
  if (currency.empty() || currency == platform.currency()) return;
  throw InputError({}, "--budget",
                   platform.currency().empty()
                       ? fmt::format("the prices of platform '{}' have no currency; leave {} out",
                                     platform.name(), currency)
                       : fmt::format("the prices of platform '{}' are in {}, not {}",
                                     platform.name(), platform.currency(), currency));
}

Budget parse_budget(std::string_view text) {
  constexpr std::string_view kUnit = "/GB";
  std::string_view amount = trimmed(text);
  if (amount.ends_with(kUnit)) amount.remove_suffix(kUnit.size());
  amount = trimmed(amount);
  Budget budget;
  if (const std::size_t blank = amount.find(' '); blank != std::string_view::npos) {
    budget.currency = trimmed(amount.substr(blank));
    amount = amount.substr(0, blank);
  }
  const auto number = espalier::parse_number(amount);
  if (!number || !std::isfinite(*number) || !(*number > 0)) {
    throw InputError(
        fmt::format("expected a price of a GB above 0, such as 4.00/GB or '4.00 USD/GB', got {}",
                    in_quotes(text)));
  }
  budget.per_GB = *number;
  return budget;
}

void add_budget(Arguments& app, std::optional<Budget>& budget) {
  app.add("--budget", budget, [](const std::string& text) { return parse_budget(text); },
          "At most this price for the links of a GB (10^9 bytes) of the message: 4.00/GB or '4.00 "
          "USD/GB'. Needs prices on the platform",
          {.type = "PRICE/GB", .shown = ""});
}

planner::MoneyProblem money_problem(const ProblemOptions& problem,
                                    const platforms::Platform& platform) {
  return {problem.operation,
          platform,
          problem.root_on(platform),
          problem.model.model(),
          problem.model.occupation(),
          {problem.shares.read(platform, problem.operation), problem.receivers.on(platform)}};
}

std::string cost_text(const planner::PlanCost& cost) {
  std::string text = money_text(cost.per_GB, cost.currency) + " per GB of message";
  if (cost.per_hour > 0) {
    text +=
        fmt::format(", and {} per hour for the hosts", money_text(cost.per_hour, cost.currency));
  }
  return text;
}

double cost_of(const planner::PlanCost& cost, Bytes message, Seconds duration) {
  constexpr double kSecondsPerHour = 3600;
  return cost.per_GB * static_cast<double>(message.value) / platforms::kBytesPerGB +
         cost.per_hour * duration.value / kSecondsPerHour;
}

void report_cost(Report& report, const std::optional<planner::PlanCost>& cost) {
  if (!cost) return;
  report.add("costs", "cost_per_GB", Cell(cost_text(*cost), cost->per_GB));
  if (cost->per_hour > 0) report.write("cost_per_hour", cost->per_hour);
  if (cost->budget_per_GB) {
    report.add(
        "budget", "budget_per_GB",
        Cell(money_text(*cost->budget_per_GB, cost->currency) + " per GB", *cost->budget_per_GB));
  }
  if (!cost->currency.empty()) report.write("currency", cost->currency);
}

}  // namespace espalier::cli
