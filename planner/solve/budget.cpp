#include "planner/solve/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/problem/any_problem.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRoundingOfCost = 1e-9;
constexpr int kMostRounds = 60;

AlgorithmOptions options_with(const lp::Limits& limits) {
  AlgorithmOptions options;
  static_cast<lp::Limits&>(options) = limits;
  return options;
}

// The optimum, whose search starts from the trees of another outcome.
Outcome prove_near(const Collective& collective, const AlgorithmOptions& options,
                   const Outcome* near) {
  StartingTrees start;
  if (near != nullptr) {
    for (const WeightedTree& tree : near->reduce_trees) start.up.push_back(tree.tree);
    for (const WeightedTree& tree : near->trees) start.down.push_back(tree.tree);
  }
  return prove_optimum(collective, options, start);
}
Outcome prove_near(const AllRoots& problem, const AlgorithmOptions& options, const Outcome* near) {
  if (near == nullptr) return prove_optimum(problem, options);
  return solve(problem, options, Purpose::kCheck, near->blocks);
}
Outcome prove_near(const Multicast& problem, const AlgorithmOptions& options, const Outcome* near) {
  if (near == nullptr) return prove_optimum(problem, options);
  return solve(problem, options, near->trees);
}
Outcome prove_near(const Routing& problem, const AlgorithmOptions& options,
                   const Outcome* /*near*/) {
  return prove_optimum(problem, options);
}

// The optimum for an amount of money, and the line that it proves.
struct Point {
  Outcome outcome;
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
  MoneySearch(const MoneyProblem& problem, const MoneyOptions& options)
      : problem_(problem),
        options_(options),
        gap_(std::max(options.gap, kFirstGap)),
        slack_(std::max(options.gap / 2, kRoundingOfCost)) {}

  // The first steps need not be exact: each proves its line whatever its gap.
  Point next(double money) {
    Point point = at(money, gap_, near_ ? &*near_ : nullptr);
    near_ = point.outcome;
    was_exact_ = gap_ <= options_.gap;
    gap_ = std::max(options_.gap, gap_ * kTighter);
    return point;
  }
  Point unlimited() { return at(std::nullopt, options_.gap, nullptr); }
  // Of all plans: with so little money that nothing else limits them.
  Point cheapest(const Point& unlimited) {
    constexpr double kLittle = 1e-6;
    return unlimited.spent > 0 ? at(kLittle * unlimited.spent, options_.gap, nullptr) : unlimited;
  }
  // With the trees of a plan; so close to the optimum that it spends no more for a byte.
  Point planned(std::optional<double> money) {
    lp::Limits limits = options_;
    limits.gap *= kPlanGap;
    return point_of(problem_.plan(money, limits), money.value_or(kInfinite));
  }

  // A plan with the same money, or a little less, that is as fast and within the cost per byte; or
  // else the solution itself.
  Point planned_near(Point solution, double most_cost) {
    for (const double less : {0.0, 2.0}) {
      Point plan = planned(solution.money_per_s * (1 - less * slack_));
      if (plan.cost() <= most_cost && is_near(plan.rate, solution.rate)) return plan;
    }
    return solution;
  }

  [[nodiscard]] double slack() const { return slack_; }
  [[nodiscard]] bool is_over() {
    return options_.deadline.passed() || slack_ > kMostSlack || ++rounds_ > kMostRounds;
  }
  // After a step that gained nothing and is not a solution: rounding keeps it from being one.
  void allow_more() {
    if (was_exact_) slack_ *= 2;
  }
  [[nodiscard]] bool is_near(double reached, double proven) const {
    return proven - reached <= (options_.gap + 2 * slack_) * reached;
  }
  // How the last solution ended, or that the search did not.
  [[nodiscard]] Ends ends(bool is_closed) const {
    Ends ends = ends_;
    ends.packing = is_closed                    ? Termination::kDone
                   : options_.deadline.passed() ? Termination::kTimeLimit
                                                : Termination::kStalled;
    return ends;
  }

 private:
  static constexpr double kMostSlack = 1e-3;
  static constexpr double kFirstGap = 1e-3;
  static constexpr double kTighter = 0.03;
  static constexpr double kPlanGap = 0.1;

  Point point_of(Outcome outcome, double money) {
    Point point;
    point.money_per_s = money;
    point.spent = money_per_s(outcome, problem_.platform);
    point.rate = throughput_of(outcome).value;
    if (outcome.bound) point.bound = outcome.bound->value;
    ends_ = outcome.ends;
    point.outcome = std::move(outcome);
    return point;
  }
  Point at(std::optional<double> money, double gap, const Outcome* near) {
    lp::Limits limits = options_;
    limits.gap = gap;
    MoneyProblem::Solved solved = problem_.prove(money, limits, near);
    Point point = point_of(std::move(solved.outcome), money.value_or(kInfinite));
    point.price_of_money = solved.price_of_money;
    return point;
  }

  const MoneyProblem& problem_;
  const MoneyOptions& options_;
  double gap_;    // of the next step
  double slack_;  // relative, by which the money is off what the lines say
  bool was_exact_ = false;
  int rounds_ = 0;
  std::optional<Outcome> near_{};  // of the last step
  Ends ends_{};
};

std::string price_text(double per_byte, const platforms::Platform& platform) {
  constexpr double kRounding = 1e-6;  // of 2.425, which is 2.4250, not 2.4251
  constexpr double kDecimals = 1e4;   // upwards, so that the budget that is shown is enough
  const double shown =
      std::ceil(per_byte * platforms::kBytesPerGB * kDecimals - kRounding) / kDecimals;
  return money_text(shown, platform.currency()) + " per GB";
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

std::string money_text(double amount, const std::string& currency) {
  return fmt::format("{:.4f}{}{}", amount, currency.empty() ? "" : " ", currency);
}

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

MoneyProblem::Solved MoneyProblem::prove(std::optional<double> money_per_s,
                                         const lp::Limits& limits, const Outcome* near) const {
  platforms::OccupationOptions own = occupation;
  own.money_per_s = money_per_s;
  return on_problem(operation, platform, root, model, own, receipts, [&](const auto& problem) {
    Solved solved{prove_near(problem, options_with(limits), near)};
    if (!money_per_s) return solved;
    const std::size_t row = problem.occupation().resources.size() - 1;  // money is the last
    for (const PricedResource& priced : solved.outcome.prices) {
      if (priced.row == row) solved.price_of_money = priced.price;
    }
    return solved;
  });
}

Outcome MoneyProblem::plan(std::optional<double> money_per_s, const lp::Limits& limits) const {
  platforms::OccupationOptions own = occupation;
  own.money_per_s = money_per_s;
  return on_problem(operation, platform, root, model, own, receipts, [&](const auto& problem) {
    return run(find_algorithm(kOptimal, operation), problem, options_with(limits));
  });
}

PlanWithinBudget within_budget(const MoneyProblem& problem, double budget_per_GB,
                               const MoneyOptions& options) {
  const platforms::Platform& platform = problem.platform;
  require_prices(platform);
  const double budget = budget_per_GB / platforms::kBytesPerGB;
  MoneySearch search(problem, options);
  Point best = options.plan ? search.planned(std::nullopt) : search.unlimited();
  if (best.cost() <= budget) return {std::move(best.outcome), std::nullopt};
  const Point cheapest = search.cheapest(best);
  if (budget < cheapest.cost() * (1 - kRoundingOfCost)) {
    throw InfeasibleError(fmt::format("{}: no plan costs so little; the cheapest costs {}",
                                      platform.name(), price_text(cheapest.cost(), platform)));
  }
  const bool is_least = budget <= cheapest.cost() * (1 + 10 * options.tolerance);
  const double most_accepted = budget * (1 + kRoundingOfCost);
  const double most_tolerated = is_least ? budget * (1 + options.tolerance) : most_accepted;
  double most = best.bound < kInfinite ? best.bound : 2 * best.rate;
  Point proof = best;
  best.rate = 0;
  bool is_closed = false;
  while (!is_closed && !search.is_over()) {
    Point next = search.next(budget * most * (1 - search.slack()));
    const double proven = next.most_at_cost(budget);
    if (next.cost() > most_accepted && proven > most * (1 - search.slack())) search.allow_more();
    if (proven < most) {
      most = proven;
      proof = next;
    }
    if (next.cost() <= most_tolerated && next.rate > best.rate) best = std::move(next);
    is_closed = search.is_near(best.rate, most);
  }
  if (best.rate == 0) {
    throw options.deadline.ended_before(
        fmt::format("a plan for {} within the budget was found", platform.name()));
  }
  const Ends ends = search.ends(is_closed);
  if (options.plan && is_closed) best = search.planned_near(std::move(best), most_tolerated);
  PlanWithinBudget result{std::move(best.outcome), proof.money_per_s};
  result.outcome.ends.packing = ends.packing;
  result.outcome.bound.reset();
  result.outcome.prices.clear();
  if (proof.bound == kInfinite) return result;
  result.outcome.bound = BytesPerSecond{std::max(most, best.rate)};
  result.outcome.prices = proof.outcome.prices;
  scale_prices(result.outcome, proof.price_of_money);
  return result;
}

CheapestPlan cheapest_at(const MoneyProblem& problem, BytesPerSecond throughput,
                         const MoneyOptions& options) {
  const platforms::Platform& platform = problem.platform;
  require_prices(platform);
  const double wanted = throughput.value;
  MoneySearch search(problem, options);
  Point best = search.unlimited();
  if (best.rate < wanted) {
    throw InfeasibleError(fmt::format("{}: no plan is that fast; the fastest carries {}",
                                      platform.name(), format_rate({best.rate})));
  }
  double least = search.cheapest(best).least_at_rate(wanted);  // per second
  bool is_closed = best.spent == 0;
  while (!is_closed && !search.is_over()) {
    Point next = search.next(std::max(least * (1 + search.slack()), search.slack() * best.spent));
    const double proven = next.least_at_rate(wanted);
    const bool is_fit = next.rate >= wanted;
    if (!is_fit && proven < least * (1 + search.slack())) search.allow_more();
    least = std::max(least, proven);
    if (is_fit && next.cost() < best.cost()) best = std::move(next);
    is_closed = search.is_near(least, best.cost() * wanted);
  }
  const Ends ends = search.ends(is_closed);
  if (options.plan && is_closed) {
    const std::optional<double> money =
        best.money_per_s < kInfinite ? std::optional(best.money_per_s) : std::nullopt;
    Point planned = search.planned(money);
    const bool is_as_cheap = search.is_near(best.cost(), planned.cost());
    if (planned.rate >= wanted && is_as_cheap) best = std::move(planned);
  }
  CheapestPlan result{std::move(best.outcome), least / wanted * platforms::kBytesPerGB};
  result.outcome.ends.packing = ends.packing;
  result.outcome.bound.reset();
  result.outcome.prices.clear();
  return result;
}

std::vector<double> frontier_budgets(const MoneyProblem& problem, std::size_t count,
                                     const MoneyOptions& options) {
  require_prices(problem.platform);
  MoneySearch search(problem, options);
  const Point fastest = search.unlimited();
  const double least = search.cheapest(fastest).cost() * platforms::kBytesPerGB;
  // Within the gap of the optimum, where the cheapest plan is found with certainty.
  const BytesPerSecond as_fast{fastest.rate * (1 - options.gap)};
  const double most = cheapest_at(problem, as_fast, options).least_per_GB;
  std::vector<double> budgets;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    budgets.push_back(least + share * std::max(0.0, most - least));
  }
  return budgets;
}

}  // namespace espalier::planner
