#include "planner/problem/collective.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lp/graph/crowding.hpp"
#include "planner/algorithms/one_best_pair.hpp"
#include "planner/algorithms/optimal.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/rack_packing.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::Resource;

// Converts the outcome of an algorithm on the reversed platform to the collective's platform.
Outcome gathered(const Collective& collective, Outcome outcome) {
  for (WeightedTree& tree : outcome.trees) {
    outcome.reduce_trees.push_back({collective.gathering(tree.tree), tree.rate, tree.colors});
  }
  outcome.trees.clear();
  if (outcome.prices.empty()) return outcome;
  const std::vector<std::uint32_t> row = collective.rows_of_reduction();
  for (PricedResource& priced : outcome.prices) priced.row = row[priced.row];
  return outcome;
}

Outcome both_halves(const Algorithm& algorithm, const Collective& collective,
                    AlgorithmOptions options, const Packings* packings) {
  const Deadline whole = options.deadline;
  options.deadline = whole.share(0.5);
  options.packing = packings != nullptr ? &*packings->reduction : nullptr;
  Outcome up = gathered(collective, algorithm.run_reduction(*collective.reduction(), options));
  options.deadline = whole;
  options.packing = packings != nullptr ? &*packings->broadcast : nullptr;
  Outcome down = algorithm.run(*collective.broadcast(), options);
  Outcome outcome;
  outcome.reduce_trees = std::move(up.reduce_trees);
  outcome.trees = std::move(down.trees);
  for (auto* trees : {&outcome.reduce_trees, &outcome.trees}) {
    const double sum = sum_of_rates(*trees).value;
    for (WeightedTree& tree : *trees) tree.rate.value /= sum;
  }
  fill_first_resource(outcome, collective.occupation());
  outcome.ends = up.ends.with(down.ends);
  outcome.iterations = up.iterations + down.iterations;
  return outcome;
}

// Trees to start each half's packing from that the operation has, in links, in the direction of the
// data.
StartingTrees seeds_of(const Collective& collective, const Deadline& deadline, Purpose purpose) {
  StartingTrees seeds;
  const bool both = goes_both_ways(collective.operation());
  if (const Instance* half = collective.reduction()) {
    for (const lp::RoutedTree& tree :
         heuristic_trees(*half, both ? deadline.share(0.5) : deadline, purpose)) {
      seeds.up.push_back(collective.gathering(tree));
    }
  }
  if (const Instance* half = collective.broadcast()) {
    seeds.down = heuristic_trees(*half, deadline, purpose);
  }
  return seeds;
}

// Of a broadcast or a reduce, those that reach a plain bound.
StartingTrees quick_trees(const Collective& collective, const Deadline& deadline) {
  StartingTrees trees;
  if (const Instance* half = collective.broadcast()) {
    trees.down = trees_at_plain_bound(*half, deadline);
    return trees;
  }
  for (const lp::RoutedTree& tree : trees_at_plain_bound(*collective.reduction(), deadline)) {
    trees.up.push_back(collective.gathering(tree));
  }
  return trees;
}

lp::Packing solve_joint(const CollectiveProblem& joint, const Collective& collective,
                        const AlgorithmOptions& options, const lp::Packing* start) {
  lp::PackingOptions packing{options};
  packing.seeds =
      joint.with_each(seeds_of(collective, options.deadline.share(kSeedShare), Purpose::kPlan));
  if (start != nullptr) return pack_from(*start, joint.problem(), packing);
  return lp::pack_arborescences(joint.problem(), packing);
}

// packing: of `joint`; null: solved here.
Outcome optimal_along(const CollectiveProblem& joint, const Collective& collective,
                      const AlgorithmOptions& options, const lp::Packing* packing) {
  if (const auto direct = direct_allreduce(joint, collective, options)) {
    return joint.outcome_of(*direct);
  }
  lp::Packing own;
  if (packing == nullptr) {
    const auto racks = rack_packing(joint, collective, options, Purpose::kPlan);
    if (racks && is_plan(joint.problem(), *racks, options)) return joint.outcome_of(*racks);
    AlgorithmOptions before = options;
    before.deadline = options.deadline.share(tree_algorithms::packing_share(options));
    own = solve_joint(joint, collective, before, racks ? &*racks : nullptr);
  }
  return joint.in_links(
      tree_algorithms::few_shallow_trees(joint.problem(), packing != nullptr ? *packing : own,
                                         options, collective.platform(), collective.source()));
}

Outcome optimal_allreduce(const Collective& collective, const AlgorithmOptions& options,
                          const Packings* packings) {
  const CollectiveProblem same(collective);
  const lp::Packing* packing = packings != nullptr ? &*packings->joint : nullptr;
  Outcome along_same = optimal_along(same, collective, options, packing);
  const double crowding = crowding_of(along_same, *collective.broadcast());
  if (!same.reduces_along_same_trees() || crowding < lp::kTolerableCrowding) return along_same;
  // A host at a long link has fewer near sends beside it where only one of its halves sends them.
  const CollectiveProblem any(collective, ReducesAlong::kAnyTrees);
  lp::Packing converted;
  if (packing != nullptr) converted = any.converted(*packing, same);
  AlgorithmOptions own = options;
  own.few_trees = nullptr;  // of the other problem
  try {
    Outcome along_any =
        optimal_along(any, collective, own, packing != nullptr ? &converted : nullptr);
    const bool is_less_crowded = crowding_of(along_any, *collective.broadcast()) < crowding;
    if (is_less_crowded && !is_slower(along_any, along_same, options.gap)) return along_any;
  } catch (const LimitReached&) {  // those along the same trees are there
  }
  return along_same;
}

Outcome fabric_allreduce(const Collective& collective, const AlgorithmOptions& options,
                         const Packings* /*packings*/) {
  return best_direct_allreduce(CollectiveProblem(collective), collective, options);
}

// Algorithms that plan both halves of an allreduce jointly.
struct JointAlgorithm {
  std::string_view name;
  Outcome (*run)(const Collective& collective, const AlgorithmOptions& options,
                 const Packings* packings);
};
constexpr std::array kJointAlgorithms{JointAlgorithm{kOptimal, optimal_allreduce},
                                      JointAlgorithm{"fabric", fabric_allreduce},
                                      JointAlgorithm{"best-tree", tree_algorithms::best_pair},
                                      JointAlgorithm{"exact-tree", tree_algorithms::exact_pair}};

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
  platforms::OccupationOptions reversed = options;
  reversed.reversed = true;
  reduction_.emplace(reversed_->platform, source, model, reversed);
  if (!broadcast_) occupation_ = platforms::occupation(platform, model, options);
}

const platforms::Occupation& Collective::occupation() const {
  return broadcast_ ? broadcast_->occupation() : *occupation_;
}

lp::RoutedTree Collective::gathering(const lp::RoutedTree& tree) const {
  lp::RoutedTree gathering;
  const auto original = [&](std::uint32_t arc) {
    return static_cast<std::uint32_t>(reversed_->original[arc]);
  };
  gathering.append(tree, original, true);
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
    const bool is_link = resource.kind == Resource::Kind::kLink;
    const std::uint32_t index =
        is_link ? static_cast<std::uint32_t>(reversed_->original[resource.index]) : resource.index;
    rows.push_back(row_of.at({resource.kind, index}));
  }
  return rows;
}

lp::Packing solve_packing(const CollectiveProblem& problem, const Collective& collective,
                          const AlgorithmOptions& options, Purpose purpose,
                          const StartingTrees& start) {
  const Deadline deadline = options.deadline.share(kSeedShare);
  lp::PackingOptions packing{options};
  packing.seeds_may_do = true;
  packing.seeds = problem.with_each(start);
  const auto add_seeds = [&](StartingTrees trees) {
    for (lp::RoutedTree& tree : problem.with_each(std::move(trees))) {
      packing.seeds.push_back(std::move(tree));
    }
  };
  const bool both = goes_both_ways(collective.operation());
  if (both) {
    if (auto direct = direct_allreduce(problem, collective, options)) return *std::move(direct);
  }
  StartingTrees quick = both ? StartingTrees{} : quick_trees(collective, deadline);
  if (!quick.up.empty() || !quick.down.empty()) {
    add_seeds(std::move(quick));
  } else {
    auto racks = rack_packing(problem, collective, options, purpose);
    if (racks && racks->end == lp::PackingEnd::kGapReached) return *std::move(racks);
    add_seeds(seeds_of(collective, deadline, purpose));
    if (racks) return pack_from(*racks, problem.problem(), packing);
  }
  return lp::pack_arborescences(problem.problem(), packing);
}

Packings solve_packings(const Collective& collective, const AlgorithmOptions& options) {
  AlgorithmOptions limits = options;
  Packings packings;
  const bool both = goes_both_ways(collective.operation());
  const auto solve = [&](double share, const auto& make) {
    limits.deadline = options.deadline.share(share);
    return std::optional(make());
  };
  if (both) {
    packings.joint = solve(0.5, [&] {
      return solve_joint(CollectiveProblem(collective), collective, limits, nullptr);
    });
  }
  if (const Instance* half = collective.reduction()) {
    packings.reduction = solve(both ? 0.5 : 1, [&] { return solve_packing(*half, limits); });
  }
  if (const Instance* half = collective.broadcast()) {
    packings.broadcast = solve(1, [&] { return solve_packing(*half, limits); });
  }
  return packings;
}

bool is_for(const Algorithm& algorithm, const Collective& collective) {
  return algorithm.entry->is_for(collective.broadcast() != nullptr ? *collective.broadcast()
                                                                   : *collective.reduction());
}

Outcome run(const Algorithm& algorithm, const Collective& collective,
            const AlgorithmOptions& options, const Packings* packings) {
  AlgorithmOptions own = options;
  if (packings != nullptr) own.few_trees = packings->few_trees.get();
  if (goes_both_ways(collective.operation())) {
    const auto joint =
        std::ranges::find(kJointAlgorithms, algorithm.entry->name, &JointAlgorithm::name);
    if (joint == kJointAlgorithms.end()) {
      return both_halves(algorithm, collective, options, packings);
    }
    algorithm.require_platform(*collective.broadcast());
    return joint->run(collective, own, packings);
  }
  if (packings != nullptr) own.packing = &packings->whole();
  if (collective.operation() == Operation::kBroadcast) {
    return algorithm.run(*collective.broadcast(), own);
  }
  return gathered(collective, algorithm.run_reduction(*collective.reduction(), own));
}

Outcome prove_optimum(const Collective& collective, const AlgorithmOptions& options,
                      const StartingTrees& start) {
  const CollectiveProblem problem(collective);
  const bool from_plan = !start.up.empty() || !start.down.empty();
  return problem.outcome_of(solve_packing(problem, collective, options,
                                          from_plan ? Purpose::kCheck : Purpose::kProof, start));
}

BytesPerSecond throughput_of(const Outcome& outcome) {
  BytesPerSecond up = sum_of_rates(outcome.reduce_trees);
  BytesPerSecond down = sum_of_rates(outcome.trees);
  for (const BlockOfTrees& block : outcome.blocks) {
    (block.kind == BlockKind::kCombine ? up : down).value += sum_of_rates(block.trees).value;
  }
  return {std::max(up, down).value / outcome.carried};
}

bool is_slower(const Outcome& one, const Outcome& other, double gap) {
  constexpr double kRounding = 1e-9;
  return throughput_of(one).value < throughput_of(other).value * (1 - gap - kRounding);
}

}  // namespace espalier::planner
