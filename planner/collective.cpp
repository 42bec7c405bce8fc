#include "planner/collective.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "lp/doubled_problem.hpp"
#include "planner/algorithms/optimal.hpp"
#include "planner/deadline.hpp"
#include "planner/make_plan.hpp"
#include "planner/solve_packing.hpp"

namespace espalier::planner {

namespace {

using platforms::Resource;

double total_rate(const std::vector<WeightedTree>& trees) {
  double sum = 0;
  for (const WeightedTree& tree : trees) sum += tree.rate.value;
  return sum;
}

// The outcome of an algorithm on the reversed platform, as one of the collective's.
Outcome gathered(const Collective& collective, Outcome outcome) {
  for (WeightedTree& tree : outcome.trees) {
    // Rounds are a broadcast's: the plan knows none for a reduction.
    outcome.reduce_trees.push_back({collective.gathering(tree.tree), tree.rate});
  }
  outcome.trees.clear();
  if (outcome.prices.empty()) return outcome;
  const std::vector<std::uint32_t> row = collective.rows_of_reduction();
  for (PricedResource& priced : outcome.prices) priced.row = row[priced.row];
  return outcome;
}

// The largest rate at which trees whose rates are shares of 1 fill no resource.
double joint_rate(const Collective& collective, const std::vector<WeightedTree>& up,
                  const std::vector<WeightedTree>& down) {
  std::vector<double> load(collective.occupation().resources.size(), 0.0);
  for (const auto* trees : {&up, &down}) {
    for (const WeightedTree& tree : *trees) {
      const std::vector<double> seconds =
          lp::tree_load(collective.occupation().seconds_per_byte, tree.tree);
      for (std::size_t r = 0; r < load.size(); ++r) load[r] += tree.rate.value * seconds[r];
    }
  }
  return 1 / *std::max_element(load.begin(), load.end());
}

Outcome both_halves(const Algorithm& algorithm, const Collective& collective,
                    AlgorithmOptions options) {
  options.packing = nullptr;
  if (options.time_limit) options.time_limit->value /= 2;
  Outcome up = gathered(collective, algorithm.run_reduction(*collective.reduction(), options));
  Outcome down = algorithm.run(*collective.broadcast(), options);
  Outcome outcome;
  outcome.reduce_trees = std::move(up.reduce_trees);
  outcome.trees = std::move(down.trees);
  for (WeightedTree& tree : outcome.trees) tree.colors.clear();
  for (auto* trees : {&outcome.reduce_trees, &outcome.trees}) {
    const double sum = total_rate(*trees);
    for (WeightedTree& tree : *trees) tree.rate.value /= sum;
  }
  const double rate = joint_rate(collective, outcome.reduce_trees, outcome.trees);
  for (auto* trees : {&outcome.reduce_trees, &outcome.trees}) {
    for (WeightedTree& tree : *trees) tree.rate.value *= rate;
  }
  // No pair of trees is faster than either by itself could be.
  if (up.single_tree_bound && down.single_tree_bound) {
    outcome.single_tree_bound = std::min(*up.single_tree_bound, *down.single_tree_bound);
  }
  outcome.termination = up.termination != Termination::kDone ? up.termination : down.termination;
  outcome.iterations = up.iterations + down.iterations;
  return outcome;
}

// The packing of an allreduce.
class JointPacking {
 public:
  explicit JointPacking(const Collective& collective)
      : collective_(collective), doubled_(packing_problem(*collective.broadcast())) {}

  [[nodiscard]] lp::PackingProblem problem() const { return doubled_.problem(); }

  // with_seeds: from the heuristics' trees on.
  [[nodiscard]] lp::Packing solve(const AlgorithmOptions& options, const Deadline& deadline,
                                  bool with_seeds) const {
    lp::PackingOptions packing = packing_options(options);
    if (with_seeds) packing.seeds = seeds();
    packing.time_limit = deadline.left();
    return lp::pack_arborescences(problem(), packing);
  }

  // Each tree of the outcome split in two; halves that are alike are one tree.
  [[nodiscard]] Outcome split(Outcome outcome) const {
    std::vector<WeightedTree> whole;
    std::swap(whole, outcome.trees);
    for (const WeightedTree& tree : whole) {
      lp::DoubledProblem::Halves halves = doubled_.split(tree.tree);
      add(std::move(halves.up), tree.rate, outcome.reduce_trees);
      add(std::move(halves.down), tree.rate, outcome.trees);
    }
    return outcome;
  }

 private:
  static void add(lp::RoutedTree tree, BytesPerSecond rate, std::vector<WeightedTree>& trees) {
    const auto same = std::ranges::find(trees, tree, &WeightedTree::tree);
    if (same != trees.end()) {
      same->rate.value += rate.value;
    } else {
      trees.push_back({std::move(tree), rate});
    }
  }

  [[nodiscard]] std::vector<lp::RoutedTree> seeds() const {
    const auto up = heuristic_trees(*collective_.reduction());
    const auto down = heuristic_trees(*collective_.broadcast());
    std::vector<lp::RoutedTree> joined;
    if (up.empty() || down.empty()) return joined;
    for (std::size_t i = 0; i < std::max(up.size(), down.size()); ++i) {
      joined.push_back(
          doubled_.join({collective_.gathering(up[i % up.size()]), down[i % down.size()]}));
    }
    return joined;
  }

  const Collective& collective_;
  lp::DoubledProblem doubled_;
};

Outcome optimal_allreduce(const Collective& collective, const AlgorithmOptions& options) {
  const Deadline deadline(options.time_limit);
  const JointPacking joint(collective);
  const lp::Packing packing = joint.solve(options, deadline, true);
  return joint.split(tree_algorithms::few_and_flat(joint.problem(), packing, options, deadline,
                                                   collective.platform(), collective.source()));
}

}  // namespace

Collective::Collective(Operation operation, const platforms::Platform& platform,
                       platforms::NodeId source, platforms::Model model,
                       const platforms::OccupationOptions& options)
    : operation_(operation),
      platform_(&platform),
      source_(source),
      model_(model),
      options_(options) {
  if (broadcasts(operation)) broadcast_.emplace(platform, source, model, options);
  if (!reduces(operation)) return;
  reversed_ = std::make_unique<const platforms::ReversedPlatform>(platforms::reversed(platform));
  platforms::OccupationOptions turned = options;
  turned.turned = true;
  reduction_.emplace(reversed_->platform, source, model, turned);
  if (!broadcast_) occupation_ = platforms::occupation(platform, model, options);
}

const platforms::Occupation& Collective::occupation() const {
  return broadcast_ ? broadcast_->occupation() : *occupation_;
}

lp::RoutedTree Collective::gathering(const lp::RoutedTree& tree) const {
  lp::RoutedTree gathering;
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto turned = tree.path(edge);
    path.clear();
    for (std::size_t hop = turned.size(); hop-- > 0;) {
      path.push_back(static_cast<std::uint32_t>(reversed_->original[turned[hop]]));
    }
    gathering.add_edge(path);
  }
  return gathering;
}

std::vector<std::uint32_t> Collective::rows_of_reduction() const {
  const std::vector<Resource>& own = occupation().resources;
  std::map<std::pair<Resource::Kind, std::uint32_t>, std::uint32_t> row_of;
  for (std::uint32_t row = 0; row < own.size(); ++row) {
    row_of[{own[row].kind, own[row].index}] = row;
  }
  std::vector<std::uint32_t> rows;
  for (const Resource& resource : reduction_->occupation().resources) {
    const bool is_wire = resource.kind == Resource::Kind::kWire;
    const std::uint32_t index =
        is_wire ? static_cast<std::uint32_t>(reversed_->original[resource.index]) : resource.index;
    rows.push_back(row_of.at({resource.kind, index}));
  }
  return rows;
}

Outcome run(const Algorithm& algorithm, const Collective& collective,
            const AlgorithmOptions& options) {
  switch (collective.operation()) {
    case Operation::kReduce:
      return gathered(collective, algorithm.run_reduction(*collective.reduction(), options));
    case Operation::kAllreduce:
      return algorithm.entry->name == kOptimal ? optimal_allreduce(collective, options)
                                               : both_halves(algorithm, collective, options);
    case Operation::kBroadcast:
      break;
  }
  return algorithm.run(*collective.broadcast(), options);
}

Outcome prove_optimum(const Collective& collective, const AlgorithmOptions& options) {
  switch (collective.operation()) {
    case Operation::kReduce:
      return gathered(collective, prove_optimum(*collective.reduction(), options));
    case Operation::kAllreduce: {
      const JointPacking joint(collective);
      return joint.split(outcome_of(joint.solve(options, Deadline(options.time_limit), false)));
    }
    case Operation::kBroadcast:
      break;
  }
  return prove_optimum(*collective.broadcast(), options);
}

BytesPerSecond throughput_of(const Outcome& outcome) {
  return {std::max(total_rate(outcome.reduce_trees), total_rate(outcome.trees))};
}

}  // namespace espalier::planner
