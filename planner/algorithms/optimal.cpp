// The packing LP's solution as a plan (see lp/packing/arborescence_packing.hpp for the method).
#include "planner/algorithms/optimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/low_latency_trees.hpp"
#include "lp/packing/shallow_trees.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/rack_packing.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner::tree_algorithms {

Termination end_of(bool complete) {
  return complete ? Termination::kDone : Termination::kTimeLimit;
}

bool limits_depth(const AlgorithmOptions& options) {
  return options.max_depth > 0 || options.max_latency;
}

lp::ShallowOptions shallow_options(const AlgorithmOptions& options) {
  lp::ShallowOptions shallow{options};
  shallow.max_depth = options.max_depth;
  shallow.max_latency = options.max_latency;
  shallow.max_trees = options.max_trees;
  return shallow;
}

void refuse_limit(const platforms::Platform& platform, std::string_view from, bool complete,
                  const AlgorithmOptions& options) {
  const std::string within = options.max_latency ? format_duration(*options.max_latency)
                                                 : fmt::format("{} edges", options.max_depth);
  if (complete) {
    throw InfeasibleError(fmt::format("{}: no tree from {} reaches every host within {}",
                                      platform.name(), from, within));
  }
  throw LimitReached(
      fmt::format("{}: no tree from {} that reaches every host within {} was found before a limit "
                  "of time or size; raise the limit, or --time-limit",
                  platform.name(), from, within));
}

namespace {

// Reduces the trees of one packing, stage by stage.
class Reducer {
 public:
  Reducer(const lp::PackingProblem& problem, const lp::Packing& packing,
          const AlgorithmOptions& options)
      : problem_(problem), packing_(packing), options_(options) {}

  void make_few(const Deadline& deadline) {
    lp::FewTreesOptions few{options_, options_.max_trees, options_.few_trees};
    few.deadline = deadline;
    lp::TreesFound found = is_near_enough() ? lp::TreesFound{packing_.trees}
                                            : lp::pack_few_trees(problem_, packing_, few);
    lp::TreesFound flat = lp::flatten_trees(problem_, packing_, found.trees, deadline);
    trees_ = std::move(flat.trees);
    ends_.few = end_of(found.complete && flat.complete);
  }

  // Few trees, and within the limit of depth or latency. none_reaches(complete): throws.
  template <class NoneReaches>
  void make_shallow(NoneReaches none_reaches) {
    const lp::ShallowOptions shallow = shallow_options(options_);
    const auto fits = [&](const lp::PackedTree& tree) {
      return lp::is_shallow(problem_, tree.tree, shallow);
    };
    if (!options_.exceeds_limits) {
      make_few(options_.deadline.share(kFewShare));
      if (ends_.few == Termination::kTimeLimit && std::ranges::all_of(trees_, fits)) {
        make_few(options_.deadline);  // the rest of the time is not needed otherwise
      }
      if (std::ranges::all_of(trees_, fits)) return;
    }
    lp::TreesFound found = lp::pack_shallow_trees(problem_, packing_, shallow);
    if (found.trees.empty()) none_reaches(found.complete);
    const auto flattened = [&](lp::DepthIn depth) {
      return lp::flatten_trees(problem_, packing_, found.trees, options_.deadline, depth);
    };
    lp::TreesFound flat = flattened(lp::DepthIn::kTime);
    if (options_.max_depth > 0 && !std::ranges::all_of(flat.trees, fits)) {
      flat = flattened(lp::DepthIn::kEdges);  // no deeper, though later
    }
    trees_ = std::ranges::all_of(flat.trees, fits) ? std::move(flat.trees) : std::move(found.trees);
    ends_.shallow = end_of(found.complete && flat.complete);
    ends_.few = Termination::kDone;  // these trees are others
  }

  // Few trees, of low latency where that costs nothing.
  void make_nearer() {
    make_few(options_.deadline);
    lp::TreesFound found = lp::lower_latency(problem_, packing_, std::move(trees_), options_);
    trees_ = std::move(found.trees);
    ends_.shallow = end_of(found.complete);
  }

  Outcome outcome() {
    Outcome outcome = outcome_of(packing_);
    outcome.trees.clear();
    double rate = 0;
    for (lp::PackedTree& packed : trees_) {
      outcome.trees.push_back({std::move(packed.tree), {packed.rate}});
      rate += packed.rate;
    }
    if (rate * (1 + options_.gap) < packing_.bound) {
      if (options_.max_trees > 0) ends_.few = std::max(ends_.few, Termination::kTreeLimit);
      if (limits_depth(options_)) ends_.shallow = std::max(ends_.shallow, Termination::kTreeLimit);
    }
    outcome.ends = outcome.ends.with(ends_);
    return outcome;
  }

 private:
  // Of a dense network, where almost every resource is full: local search made the trees, for as
  // few as reach the gap, and a search for fewer takes longer than it took to make them.
  [[nodiscard]] bool is_near_enough() const {
    return options_.max_trees == 0 && packing_.end == lp::PackingEnd::kGapReached &&
           packing_.rate * (1 + options_.gap) < packing_.bound;
  }

  static constexpr double kFewShare = 0.3;

  const lp::PackingProblem& problem_;
  const lp::Packing& packing_;
  const AlgorithmOptions& options_;
  std::vector<lp::PackedTree> trees_;
  Ends ends_;
};

}  // namespace

double packing_share(const AlgorithmOptions& options) {
  constexpr double kBeforeASearch = 0.5;
  return options.max_trees > 0 || limits_depth(options) ? kBeforeASearch : 1;
}

Outcome few_shallow_trees(const lp::PackingProblem& problem, const lp::Packing& packing,
                          const AlgorithmOptions& options, const platforms::Platform& platform,
                          platforms::NodeId source) {
  Reducer reducer(problem, packing, options);
  if (limits_depth(options)) {
    reducer.make_shallow([&](bool complete) {
      refuse_limit(platform, "'" + platform.node(source).name + "'", complete, options);
    });
  } else {
    reducer.make_nearer();
  }
  return reducer.outcome();
}

Outcome optimal(const Instance& instance, const AlgorithmOptions& options) {
  if (const auto direct = direct_packing(instance, options)) return outcome_of(*direct);
  std::optional<lp::Packing> racks;
  if (options.packing == nullptr) racks = rack_packing(instance, options, Purpose::kPlan);
  if (racks && is_plan(packing_problem(instance), *racks, options)) return outcome_of(*racks);
  const PackingInUse packing(instance, options, packing_share(options), racks ? &*racks : nullptr);
  return few_shallow_trees(packing_problem(instance), packing.get(), options, instance.platform(),
                           instance.source());
}

}  // namespace espalier::planner::tree_algorithms
