#include "planner/solve/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/errors.hpp"

namespace espalier::planner {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRoundingOfCost = 1e-9;
constexpr int kMostRounds = 60;

// A solution with an amount of money, and the line that it proves.
struct Point {
  Solved solved;
  double money_per_s = kInfinite;
  double spent = 0;  // per second
  double rate = 0;
  double bound = kInfinite;
  double price_of_money = 0;  // q

  [[nodiscard]] double cost() const { return spent / rate; }  // per byte
  // No plan of this cost per byte is faster.
  [[nodiscard]] double most_at_cost(double cost) const {
    if (price_of_money == 0) return bound;
    const double left = 1 - bound * price_of_money * cost / money_per_s;
    return left > 0 ? bound * (1 - price_of_money) / left : kInfinite;
  }
  // No plan of this rate spends less per second.
  [[nodiscard]] double least_at_rate(double rate_Bps) const {
    if (price_of_money == 0) return rate_Bps > bound ? kInfinite : 0;
    return std::max(0.0, money_per_s * (rate_Bps / bound - (1 - price_of_money)) / price_of_money);
  }
};

class MoneySearch {
 public:
  MoneySearch(const SolveWithMoney& solve, const platforms::Platform& platform,
              const MoneyOptions& options)
      : solve_(solve),
        platform_(platform),
        options_(options),
        slack_(std::max(options.gap / 2, kRoundingOfCost)) {}

  // Unset money: as much as is needed.
  Point at(std::optional<double> money) {
    Point point;
    point.solved = solve_(money);
    const Outcome& outcome = point.solved.outcome;
    point.money_per_s = money.value_or(kInfinite);
    point.spent = money_per_s(outcome, platform_);
    point.rate = throughput_of(outcome).value;
    if (outcome.bound) point.bound = outcome.bound->value;
    for (const PricedResource& priced : outcome.prices) {
      if (priced.row == point.solved.money_row) point.price_of_money = priced.price;
    }
    ends_ = outcome.ends;
    return point;
  }

  // Of all plans: with so little money that nothing else limits them.
  Point cheapest(const Point& unlimited) {
    constexpr double kLittle = 1e-6;
    return unlimited.spent > 0 ? at(kLittle * unlimited.spent) : unlimited;
  }

  [[nodiscard]] double slack() const { return slack_; }
  [[nodiscard]] bool is_over() {
    return options_.deadline.passed() || slack_ > kMostSlack || ++rounds_ > kMostRounds;
  }
  // After a solution that rounding keeps from being one.
  void allow_more() { slack_ *= 2; }
  [[nodiscard]] bool is_near(double reached, double proven) const {
    return proven - reached <= (options_.gap + 2 * slack_) * reached;
  }
  // How the last solution ended, or that the search did not.
  [[nodiscard]] Ends ends(bool is_closed) const {
    Ends ends = ends_;
    if (is_closed) return ends;
    ends.packing = std::max(
        ends.packing, options_.deadline.passed() ? Termination::kTimeLimit : Termination::kStalled);
    return ends;
  }

 private:
  static constexpr double kMostSlack = 1e-3;

  const SolveWithMoney& solve_;
  const platforms::Platform& platform_;
  const MoneyOptions& options_;
  double slack_;  // relative, by which the money is off what the lines say
  int rounds_ = 0;
  Ends ends_{};
};

std::string price_text(double per_byte, const platforms::Platform& platform) {
  constexpr double kDecimals = 1e4;  // upwards, so that the budget that is shown is enough
  const double shown = std::ceil(per_byte * platforms::kBytesPerGB * kDecimals) / kDecimals;
  return fmt::format("{:.4f}{}{} per GB", shown, platform.currency().empty() ? "" : " ",
                     platform.currency());
}

// So that the price of money is relative to those of all others, whose sum is 1.
void scale_prices(Outcome& outcome, double price_of_money) {
  for (PricedResource& priced : outcome.prices) priced.price /= 1 - price_of_money;
}

void require_prices(const platforms::Platform& platform) {
  if (platform.has_prices()) return;
  throw InputError(platform.name(), {},
                   "no link has a price; add 'price_per_GB' to its links, or give --prices FILE");
}

}  // namespace

double money_per_s(const Outcome& outcome, const platforms::Platform& platform) {
  double sum = 0;
  const auto add = [&](const std::vector<WeightedTree>& trees) {
    for (const WeightedTree& tree : trees) {
      for (const std::uint32_t arc : tree.tree.arcs) {
        sum += tree.rate.value * platform.arcs()[arc].price_per_GB / platforms::kBytesPerGB;
      }
    }
  };
  add(outcome.reduce_trees);
  add(outcome.trees);
  for (const BlockOfTrees& block : outcome.blocks) add(block.trees);
  return sum;
}

std::optional<PlanCost> cost_of(const Outcome& outcome, const platforms::Platform& platform) {
  const double per_hour = platform.price_per_hour();
  if (!platform.has_prices() && per_hour == 0) return std::nullopt;
  const double per_byte = money_per_s(outcome, platform) / throughput_of(outcome).value;
  return PlanCost{per_byte * platforms::kBytesPerGB, per_hour, std::nullopt, platform.currency()};
}

PlanWithinBudget within_budget(const SolveWithMoney& solve, const platforms::Platform& platform,
                               double budget_per_GB, const MoneyOptions& options) {
  require_prices(platform);
  const double budget = budget_per_GB / platforms::kBytesPerGB;
  MoneySearch search(solve, platform, options);
  Point best = search.at(std::nullopt);
  if (best.cost() <= budget) return {std::move(best.solved.outcome), std::nullopt};
  const Point cheapest = search.cheapest(best);
  if (budget < cheapest.cost() * (1 - kRoundingOfCost)) {
    throw InfeasibleError(fmt::format("{}: no plan costs so little; the cheapest costs {}",
                                      platform.name(), price_text(cheapest.cost(), platform)));
  }
  double most = best.bound;
  if (most == kInfinite) most = 2 * best.rate;  // nothing was proven in time
  Point proof = best;
  best.rate = 0;
  bool is_closed = false;
  while (!is_closed && !search.is_over()) {
    Point next = search.at(budget * most * (1 - search.slack()));
    const double proven = next.most_at_cost(budget);
    const bool is_fit = next.cost() <= budget * (1 + kRoundingOfCost);
    const bool is_last = next.cost() <= budget * (1 + options.tolerance) &&
                         next.cost() <= cheapest.cost() * (1 + 10 * options.tolerance);
    if (!is_fit && proven > most * (1 - search.slack())) search.allow_more();
    if (proven < most) {
      most = proven;
      proof = next;
    }
    if ((is_fit || is_last) && next.rate > best.rate) best = std::move(next);
    is_closed = search.is_near(best.rate, most);
  }
  if (best.rate == 0) {
    throw LimitReached(fmt::format(
        "{}: no plan within the budget was found before the time limit; raise the limit",
        platform.name()));
  }
  PlanWithinBudget result{std::move(best.solved.outcome), proof.money_per_s};
  result.outcome.ends = search.ends(is_closed);
  result.outcome.bound.reset();
  result.outcome.prices.clear();
  if (proof.bound == kInfinite) return result;
  result.outcome.bound = BytesPerSecond{std::max(most, best.rate)};
  result.outcome.prices = proof.solved.outcome.prices;
  scale_prices(result.outcome, proof.price_of_money);
  return result;
}

CheapestPlan cheapest_at(const SolveWithMoney& solve, const platforms::Platform& platform,
                         BytesPerSecond throughput, const MoneyOptions& options) {
  require_prices(platform);
  const double wanted = throughput.value;
  MoneySearch search(solve, platform, options);
  Point best = search.at(std::nullopt);
  if (best.rate < wanted) {
    throw InfeasibleError(fmt::format("{}: no plan is that fast; the fastest carries {}",
                                      platform.name(), format_rate({best.rate})));
  }
  double least = search.cheapest(best).least_at_rate(wanted);  // per second
  bool is_closed = best.spent == 0;
  while (!is_closed && !search.is_over()) {
    Point next = search.at(std::max(least * (1 + search.slack()), search.slack() * best.spent));
    const double proven = next.least_at_rate(wanted);
    const bool is_fit = next.rate >= wanted;
    if (!is_fit && proven < least * (1 + search.slack())) search.allow_more();
    least = std::max(least, proven);
    if (is_fit && next.cost() < best.cost()) best = std::move(next);
    is_closed = search.is_near(least, best.cost() * wanted);
  }
  CheapestPlan result{std::move(best.solved.outcome), least / wanted * platforms::kBytesPerGB};
  result.outcome.ends = search.ends(is_closed);
  result.outcome.bound.reset();
  result.outcome.prices.clear();
  return result;
}

std::vector<double> frontier_budgets(const SolveWithMoney& solve,
                                     const platforms::Platform& platform, std::size_t count,
                                     const MoneyOptions& options) {
  require_prices(platform);
  MoneySearch search(solve, platform, options);
  const Point fastest = search.at(std::nullopt);
  const double least = search.cheapest(fastest).cost() * platforms::kBytesPerGB;
  // Within the gap of the optimum, where the cheapest plan is found with certainty.
  const BytesPerSecond as_fast{fastest.rate * (1 - options.gap)};
  const double most =
      cost_of(cheapest_at(solve, platform, as_fast, options).outcome, platform)->per_GB;
  std::vector<double> budgets;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    budgets.push_back(least + share * std::max(0.0, most - least));
  }
  return budgets;
}

}  // namespace espalier::planner
