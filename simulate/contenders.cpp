#include "simulate/contenders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "planner/make_plan.hpp"
#include "planner/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using planner::Algorithm;
using planner::AlgorithmOptions;
using planner::Instance;
using planner::PlanTree;

std::size_t depth_of(const planner::Plan& plan) {
  const std::uint32_t source = planner::source_index(plan);
  std::size_t depth = 0;
  for (const PlanTree& tree : plan.broadcast_trees) {
    depth = std::max(depth, planner::depth_of(tree, source));
  }
  return depth;
}

class Maker {
 public:
  Maker(const Instance& instance, const ContenderOptions& options,
        const planner::Deadline& deadline)
      : instance_(instance), options_(options), deadline_(deadline), limits_(options.limits) {}

  // From the registry's end, where the quick ones are, so that a time limit finds some made.
  Contenders make() {
    const bool chooses_freely = options_.algorithms.empty();
    if (chooses_freely) share_a_packing();
    std::vector<Algorithm> algorithms = options_.algorithms;
    if (chooses_freely) {
      algorithms = planner::parse_algorithms("all");
      std::erase_if(algorithms, [](const Algorithm& one) { return one.entry->exponential; });
    }
    for (auto algorithm = algorithms.rbegin(); algorithm != algorithms.rend(); ++algorithm) {
      add(*algorithm, limits_, algorithm->name);
      if (chooses_freely && algorithm->entry->name == "optimal") add_limited(*algorithm);
    }
    if (made_.empty() && error_) std::rethrow_exception(error_);
    if (made_.empty()) throw InfeasibleError("no plan keeps to the limits of trees and depth");
    keep_what_differs();
    return std::move(result_);
  }

 private:
  // Half of the time at most: what is chosen from has to be simulated as well.
  void share_a_packing() {
    if (options_.on_progress) options_.on_progress("the optimal packing");
    AlgorithmOptions limits = limits_;
    limits.time_limit = deadline_.left();
    if (limits.time_limit) limits.time_limit->value /= 2;
    packing_ = planner::solve_packing(instance_, limits);
    limits_.packing = &packing_;
    if (packing_.bound < lp::Packing::kUnbounded) result_.bound = BytesPerSecond{packing_.bound};
    if (packing_.end == lp::PackingEnd::kLimit) result_.complete = false;
  }

  void add(const Algorithm& algorithm, AlgorithmOptions limits, std::string label) {
    if (deadline_.passed() && !made_.empty()) {
      result_.complete = false;
      return;
    }
    if (options_.on_progress) options_.on_progress(label);
    limits.time_limit = deadline_.left();
    try {
      planner::Outcome outcome = algorithm.run(instance_, limits);
      if (outcome.termination == planner::Termination::kTimeLimit) result_.complete = false;
      if (outcome.bound && !result_.bound) result_.bound = outcome.bound;
      Contender contender(instance_, algorithm, std::move(label), std::move(outcome));
      if (is_allowed(contender)) made_.push_back({algorithm.entry, std::move(contender)});
    } catch (const Error&) {
      error_ = std::current_exception();
    }
  }

  // An algorithm that was asked for does as it does without a message.
  [[nodiscard]] bool is_allowed(const Contender& contender) const {
    const AlgorithmOptions& limits = options_.limits;
    if (!options_.algorithms.empty()) return true;
    return (limits.max_trees == 0 || contender.plan.broadcast_trees.size() <= limits.max_trees) &&
           (limits.max_depth == 0 || contender.depth <= limits.max_depth);
  }

  void keep_what_differs() {
    std::ranges::stable_sort(made_, {}, &Made::entry);
    for (Made& made : made_) {
      const auto is_same = [&](const Contender& other) {
        return same_trees(other.plan, made.contender.plan);
      };
      if (std::ranges::none_of(result_.all, is_same)) {
        result_.all.push_back(std::move(made.contender));
      }
    }
  }

  // Powers of two of trees and of depth, as long as that is less than the packing has.
  void add_limited(const Algorithm& optimal) {
    const auto work = static_cast<double>(instance_.platform().arcs().size()) *
                      static_cast<double>(instance_.host_count());
    if (made_.empty() || made_.back().contender.label != "optimal" || work > kMostWork) return;
    const std::size_t trees = made_.back().contender.plan.broadcast_trees.size();
    const std::size_t depth = made_.back().contender.depth;
    for (std::size_t most = 1; most < trees; most *= 2) {
      AlgorithmOptions limits = limits_;
      limits.max_trees = most;
      add(optimal, limits, fmt::format("optimal, at most {} tree{}", most, most > 1 ? "s" : ""));
    }
    for (std::size_t most = 1; most < depth; most = most < 4 ? most + 1 : most * 3 / 2) {
      AlgorithmOptions limits = limits_;
      limits.max_depth = static_cast<std::uint32_t>(most);
      add(optimal, limits, fmt::format("optimal, at most {} deep", most));
    }
  }

  static constexpr double kMostWork = 1e6;  // links times hosts: a second or so

  const Instance& instance_;
  const ContenderOptions& options_;
  const planner::Deadline& deadline_;
  AlgorithmOptions limits_;
  struct Made {
    const planner::AlgorithmEntry* entry;
    Contender contender;
  };
  lp::Packing packing_;
  std::vector<Made> made_;
  Contenders result_;
  std::exception_ptr error_;  // of the one that the registry has first
};

}  // namespace

Contender::Contender(const Instance& instance, const Algorithm& made_by, std::string its_label,
                     planner::Outcome its_outcome)
    : algorithm(made_by.name),
      label(std::move(its_label)),
      outcome(std::move(its_outcome)),
      plan(planner::make_plan(instance, algorithm, outcome, planner::kDefaultSlice)),
      depth(depth_of(plan)),
      source(planner::source_index(plan)),
      flows(plan, instance.platform(), plan.latency_occupies),
      deal(plan) {}

bool same_trees(const planner::Plan& one, const planner::Plan& other) {
  constexpr double kRounding = 1e-9;
  return std::ranges::equal(
      one.broadcast_trees, other.broadcast_trees, [&](const PlanTree& a, const PlanTree& b) {
        const double share = a.rate.value / one.throughput.value;
        const double other_share = b.rate.value / other.throughput.value;
        const bool alike =
            one.broadcast_trees.size() == 1 || std::abs(share - other_share) <= kRounding;
        return alike && a.edges == b.edges && a.via == b.via && a.exchange == b.exchange;
      });
}

Contenders make_contenders(const Instance& instance, const ContenderOptions& options,
                           const planner::Deadline& deadline) {
  return Maker(instance, options, deadline).make();
}

}  // namespace espalier::simulate
