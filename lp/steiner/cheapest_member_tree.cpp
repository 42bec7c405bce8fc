#include "lp/steiner/cheapest_member_tree.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier::lp {
namespace {

// Of one exact solution; some milliseconds.
constexpr double kMostSteps = 4e6;
// The bound and the tree come from sums in different orders.
constexpr double kSameCost = 1e-12;

double work_of_one_choice(const HostNetwork& network) {
  return 4 * static_cast<double>(network.tail.size() + network.nodes);
}
double work_of_all_choices(const HostNetwork& network) {
  return std::exp2(static_cast<double>(network.helpers.size())) * work_of_one_choice(network);
}

}  // namespace

CheapestMemberTree::CheapestMemberTree(const Digraph& graph, std::uint32_t root,
                                       std::span<const char> is_member, const Deadline& deadline)
    : hosts_(graph, deadline),
      network_(HostNetwork::of(graph.node_count, hosts_.tail(), hosts_.head(), root, is_member)),
      cost_(network_.tail.size()) {
  if (!network_.is_connected) return;
  ascent_.emplace(network_, deadline);
  choice_.emplace(network_, deadline);
  const double all_choices = work_of_all_choices(network_);
  const double all_sets = TerminalSets::work(network_);
  tries_all_ = all_choices <= std::min(kMostSteps, all_sets);
  if (!tries_all_ && all_sets <= kMostSteps) sets_.emplace(network_, deadline);
}

std::optional<PricedTree> CheapestMemberTree::solve(std::span<const double> cost) {
  if (!network_.is_connected) return std::nullopt;
  const std::span<const double> between_hosts = hosts_.reprice(cost);
  for (std::size_t arc = 0; arc < cost_.size(); ++arc) {
    cost_[arc] = between_hosts[network_.given[arc]];
  }
  double bound = network_.helpers.empty() ? 0 : ascent_->solve(cost_);
  choice_->set_costs(cost_);
  SteinerTree best = good_tree();
  const bool is_open = bound < best.cost * (1 - kSameCost);
  if (is_open && tries_all_) best = best_choice(std::move(best));
  if (is_open && sets_) {
    SteinerTree exact = sets_->solve(cost_);
    if (exact.cost < best.cost) best = std::move(exact);
  }
  if (tries_all_ || sets_) bound = best.cost;
  PricedTree priced{{}, best.cost, std::min(bound, best.cost)};
  std::vector<std::uint32_t> path;
  for (const std::uint32_t arc : best.arcs) {
    path.clear();
    hosts_.append_path(network_.given[arc], path);
    priced.tree.add_edge(path);
  }
  return priced;
}

// The cheapest tree with the helpers that the bound's prices suggest, improved by trying the others
// one by one.
SteinerTree CheapestMemberTree::good_tree() {
  std::vector<char> helps(network_.nodes, 0);
  if (!network_.helpers.empty()) helps = ascent_->within_reach();
  for (std::uint32_t node = 0; node < network_.nodes; ++node) {
    helps[node] = helps[node] != 0 ? network_.is_helper[node] : char{0};
  }
  std::optional<SteinerTree> best = choice_->tree_with(helps);
  if (!best) {  // members may need others on the way
    helps = network_.is_helper;
    best = choice_->tree_with(helps);
  }
  try_others(*best, helps);
  return *std::move(best);
}

// Ends when no single helper more or less makes the tree cheaper, or at the limit of work.
void CheapestMemberTree::try_others(SteinerTree& best, std::vector<char>& helps) {
  const std::size_t helpers = network_.helpers.size();
  const auto most = static_cast<std::size_t>(kMostSteps / work_of_one_choice(network_));
  std::size_t in_vain = 0;
  for (std::size_t tried = 0; tried < most && in_vain < helpers; ++tried, ++in_vain) {
    const std::uint32_t helper = network_.helpers[next_helper_++ % helpers];
    std::vector<char> other = helps;
    other[helper] = helps[helper] != 0 ? 0 : 1;
    std::optional<SteinerTree> tree = choice_->tree_with(other);
    if (!tree || !(tree->cost < best.cost * (1 - kSameCost))) continue;
    best = *std::move(tree);
    helps = std::move(other);
    in_vain = 0;
  }
}

SteinerTree CheapestMemberTree::best_choice(SteinerTree best) {
  const std::size_t helpers = network_.helpers.size();
  for (std::uint32_t choice = 0; choice < std::uint32_t{1} << helpers; ++choice) {
    std::vector<char> helps(network_.nodes, 0);
    for (std::size_t i = 0; i < helpers; ++i) {
      helps[network_.helpers[i]] = static_cast<char>(choice >> i & 1U);
    }
    std::optional<SteinerTree> tree = choice_->tree_with(helps);
    if (tree && tree->cost < best.cost) best = *std::move(tree);
  }
  return best;
}

}  // namespace espalier::lp
