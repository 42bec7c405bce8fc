#include "planner/problem/multicast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lp/packing/few_trees.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "planner/algorithms/sub_problem.hpp"
#include "planner/problem/part_of.hpp"
#include "planner/problem/reach.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

std::vector<NodeId> in_order(std::span<const NodeId> hosts) {
  std::vector<NodeId> sorted(hosts.begin(), hosts.end());
  std::ranges::sort(sorted);
  return sorted;
}

void check_receivers(const Platform& platform, NodeId source, std::span<const NodeId> receivers) {
  const auto refuse = [&](NodeId node, std::string_view what) {
    throw InputError(fmt::format("{}: '{}' {}", platform.name(), platform.node(node).name, what));
  };
  if (platform.node(source).relay) refuse(source, "is a relay and cannot be the source");
  if (receivers.empty()) {
    throw InputError(fmt::format("{}: a multicast needs at least one receiver", platform.name()));
  }
  const std::vector<char> is_reached = reached_from(platform, source);
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    const NodeId node = receivers[i];
    if (platform.node(node).relay) refuse(node, "is a relay and cannot be a receiver");
    if (node == source) refuse(node, "is the source and has the data already");
    if (i > 0 && receivers[i - 1] == node) refuse(node, "is named twice as a receiver");
    if (is_reached[index_of(node)] == 0) {
      throw InfeasibleError(fmt::format("{}: '{}' cannot be reached from '{}'", platform.name(),
                                        platform.node(node).name, platform.node(source).name));
    }
  }
}

// Source and receivers alone.
SubProblem without_help(const Multicast& problem, const Instance& whole) {
  std::vector<NodeId> members = problem.receivers();
  members.push_back(problem.source());
  return {whole, in_order(members), problem.source()};
}

// One tree, made whatever the time limit: the cheapest one if all links were free of contention.
lp::RoutedTree fast_tree(const Multicast& problem) {
  const lp::PackingProblem packing = problem.problem();
  const std::vector<double> even(problem.occupation().resources.size(), 1.0);
  return lp::TreePricer(packing).cheapest_tree(even).tree;
}

lp::Packing packed(const Multicast& problem, const AlgorithmOptions& options,
                   std::span<const WeightedTree> start) {
  lp::PackingOptions packing{options};
  for (const WeightedTree& tree : start) packing.seeds.push_back(tree.tree);
  packing.seeds.push_back(fast_tree(problem));
  return lp::pack_arborescences(problem.problem(), packing);
}

Outcome solved(const lp::Packing& packing) {
  Outcome outcome = outcome_of(packing);
  // No cheaper tree is known, though one may exist: the gap tells.
  if (outcome.ends.packing == Termination::kStalled) outcome.ends.packing = Termination::kDone;
  return outcome;
}

// As few trees as carry what all of them do, up to the gap; at most options.max_trees.
void make_few(const Multicast& problem, const AlgorithmOptions& options,
              std::vector<lp::PackedTree>& trees) {
  const double rate = lp::total_rate(trees);
  const auto with_at_most = [&](std::size_t count) {
    return lp::thinned(problem.problem(), trees, rate, count, options.deadline);
  };
  if (options.max_trees > 0 && trees.size() > options.max_trees) {
    trees = with_at_most(options.max_trees);
  }
  const double enough = std::min(rate * (1 - options.gap), lp::total_rate(trees));
  while (trees.size() > 1 && !options.deadline.passed()) {
    std::vector<lp::PackedTree> fewer = with_at_most(trees.size() - 1);
    if (lp::total_rate(fewer) < enough) break;
    trees = std::move(fewer);
  }
}

}  // namespace

Multicast::Multicast(const Platform& platform, NodeId source, std::span<const NodeId> receivers,
                     platforms::Model model, const platforms::OccupationOptions& options)
    : platform_(&platform),
      source_(source),
      receivers_(in_order(receivers)),
      model_(model),
      options_(options),
      is_receiver_(platform.nodes().size(), 0) {
  check_receivers(platform, source, receivers_);
  for (const NodeId receiver : receivers_) is_receiver_[index_of(receiver)] = 1;
  occupation_ = platforms::occupation(platform, model, options);
  digraph_ = digraph_of(platform);
}

lp::PackingProblem Multicast::problem() const {
  return {.graph = digraph_,
          .root = static_cast<std::uint32_t>(source_),
          .occupation = occupation_.seconds_per_byte,
          .is_member = is_receiver_};
}

Platform part_for(const Platform& whole, platforms::Model model,
                  const platforms::OccupationOptions& options, NodeId source,
                  std::span<const NodeId> receivers, std::span<const NodeId> helpers) {
  check_receivers(whole, source, in_order(receivers));
  const std::vector<char> is_reached = reached_from(whole, source);
  std::vector<NodeId> members(receivers.begin(), receivers.end());
  members.push_back(source);
  for (const NodeId helper : helpers) {
    if (whole.node(helper).relay) {
      throw InputError(fmt::format("{}: '{}' is a relay, which cannot copy", whole.name(),
                                   whole.node(helper).name));
    }
    if (is_reached[index_of(helper)] != 0) members.push_back(helper);
  }
  members = in_order(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return part_of(whole, model, platforms::occupation(whole, model, options), members);
}

Outcome solve(const Multicast& problem, const AlgorithmOptions& options,
              std::span<const WeightedTree> start) {
  return solved(packed(problem, options, start));
}

bool is_for(const Algorithm& algorithm, const Multicast& problem) {
  if (algorithm.entry->name == kOptimal) return true;
  try {
    const Instance whole(problem.platform(), problem.source(), problem.model(), problem.options());
    const SubProblem part = without_help(problem, whole);
    return algorithm.entry->is_for(part.instance());
  } catch (const InfeasibleError&) {
    return false;
  }
}

Outcome run(const Algorithm& algorithm, const Multicast& problem, const AlgorithmOptions& options) {
  if (algorithm.entry->name == kOptimal) {
    lp::Packing packing = packed(problem, options, {});
    const bool too_many = options.max_trees > 0 && packing.trees.size() > options.max_trees;
    make_few(problem, options, packing.trees);
    Outcome outcome = solved(packing);
    if (too_many) outcome.ends.few = Termination::kTreeLimit;
    return outcome;
  }
  const Instance whole(problem.platform(), problem.source(), problem.model(), problem.options());
  const SubProblem part = without_help(problem, whole);
  Outcome outcome = algorithm.run(part.instance(), options);
  for (WeightedTree& weighted : outcome.trees) {
    lp::RoutedTree tree;
    part.add_to(tree, weighted.tree);
    weighted.tree = std::move(tree);
  }
  // Those of a broadcast without help say nothing of others.
  outcome.bound.reset();
  outcome.single_tree_bound.reset();
  outcome.prices.clear();
  return outcome;
}

}  // namespace espalier::planner
