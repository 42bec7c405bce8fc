#include "lp/steiner/terminal_sets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace espalier::lp {
namespace {

constexpr double kNoTree = std::numeric_limits<double>::infinity();

}  // namespace

double TerminalSets::work(const HostNetwork& network) {
  constexpr std::size_t kMostMembers = 20;
  if (network.members.size() > kMostMembers) return kNoTree;
  const auto members = static_cast<double>(network.members.size());
  return std::pow(3.0, members) * network.nodes / 2 +
         std::exp2(members) * 4 * static_cast<double>(network.tail.size());
}

TerminalSets::TerminalSets(const HostNetwork& network, const Deadline& deadline)
    : network_(network),
      watch_(deadline),
      cost_of_((std::size_t{1} << network.members.size()) * network.nodes),
      start_of_(cost_of_.size()) {}

SteinerTree TerminalSets::solve(std::span<const double> cost) {
  std::ranges::fill(cost_of_, kNoTree);
  std::ranges::fill(start_of_, Start{});
  const auto sets = std::uint32_t{1} << network_.members.size();
  for (std::uint32_t set = 1; set < sets; ++set) {
    for (std::size_t k = 0; k < network_.members.size(); ++k) {
      if (set == std::uint32_t{1} << k) cost_of_[at(set, network_.members[k])] = 0;
    }
    merge(set);
    extend(set, cost);
  }
  return tree(cost);
}

void TerminalSets::merge(std::uint32_t set) {
  const std::uint32_t lowest = set & (~set + 1);
  for (std::uint32_t part = (set - 1) & set; part > 0; part = (part - 1) & set) {
    if ((part & lowest) == 0) continue;  // each division once
    watch_.require(network_.nodes);
    const std::uint32_t rest = set ^ part;
    for (std::uint32_t node = 0; node < network_.nodes; ++node) {
      const double both = cost_of_[at(part, node)] + cost_of_[at(rest, node)];
      if (both >= cost_of_[at(set, node)]) continue;
      cost_of_[at(set, node)] = both;
      start_of_[at(set, node)] = {kNone, part};
    }
  }
}

// Searches backwards from all nodes with a tree.
void TerminalSets::extend(std::uint32_t set, std::span<const double> cost) {
  watch_.require(network_.tail.size());
  frontier_.clear();
  for (std::uint32_t node = 0; node < network_.nodes; ++node) {
    if (cost_of_[at(set, node)] < kNoTree) frontier_.emplace_back(cost_of_[at(set, node)], node);
  }
  std::ranges::make_heap(frontier_, std::greater<>());
  while (!frontier_.empty()) {
    std::ranges::pop_heap(frontier_, std::greater<>());
    const auto [reached, node] = frontier_.back();
    frontier_.pop_back();
    if (reached > cost_of_[at(set, node)]) continue;
    for (const std::uint32_t arc : network_.into.of(node)) {
      const std::uint32_t from = network_.tail[arc];
      const double candidate = reached + cost[arc];
      if (candidate >= cost_of_[at(set, from)]) continue;
      cost_of_[at(set, from)] = candidate;
      start_of_[at(set, from)] = {arc, 0};
      frontier_.emplace_back(candidate, from);
      std::ranges::push_heap(frontier_, std::greater<>());
    }
  }
}

// Where arcs cost nothing, the trees of two parts may share nodes: only the first arc into a node
// is kept, and only arcs that lead to a member.
SteinerTree TerminalSets::tree(std::span<const double> cost) const {
  std::vector<std::uint32_t> into(network_.nodes, kNone);
  const auto all = (std::uint32_t{1} << network_.members.size()) - 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waiting{{all, network_.root}};
  while (!waiting.empty()) {
    const auto [set, node] = waiting.back();
    waiting.pop_back();
    const Start& start = start_of_[at(set, node)];
    if (start.arc != kNone) {
      const std::uint32_t to = network_.head[start.arc];
      if (into[to] == kNone) into[to] = start.arc;
      waiting.emplace_back(set, to);
    } else if (start.part != 0) {
      waiting.emplace_back(start.part, node);
      waiting.emplace_back(set ^ start.part, node);
    }
  }
  SteinerTree tree;
  std::vector<char> is_kept(network_.nodes, 0);
  is_kept[network_.root] = 1;
  for (const std::uint32_t member : network_.members) {
    for (std::uint32_t node = member; is_kept[node] == 0; node = network_.tail[into[node]]) {
      is_kept[node] = 1;
      tree.arcs.push_back(into[node]);
      tree.cost += cost[into[node]];
    }
  }
  return tree;
}

}  // namespace espalier::lp
