#include "lp/graph/min_cost_arborescence.hpp"

#include <algorithm>

namespace espalier::lp {

namespace {

struct Dearer {
  template <class InArc>
  bool operator()(const InArc& a, const InArc& b) const {
    return a.cost > b.cost || (a.cost == b.cost && a.arc > b.arc);
  }
};

}  // namespace

MinCostArborescence::MinCostArborescence(std::uint32_t node_count,
                                         std::span<const std::uint32_t> tail,
                                         std::span<const std::uint32_t> head, std::uint32_t root,
                                         const Deadline& deadline)
    : Contraction(node_count, root),
      watch_(deadline),
      first_in_(node_count + 1, 0),
      top_(node_count, 0),
      in_end_(node_count, 0),
      head_(head.begin(), head.end()) {
  const auto wanted = [&](std::size_t arc) { return head[arc] != root && tail[arc] != head[arc]; };
  for (std::size_t arc = 0; arc < head.size(); ++arc) {
    watch_.require(1);
    if (wanted(arc)) ++first_in_[head[arc] + 1];
  }
  for (std::uint32_t node = 0; node < node_count; ++node) first_in_[node + 1] += first_in_[node];
  watch_.require(head.size());
  arc_of_.resize(first_in_[node_count]);
  tail_of_.resize(arc_of_.size());
  std::vector<std::uint32_t> next(first_in_.begin(), first_in_.end() - 1);
  for (std::uint32_t arc = 0; arc < head.size(); ++arc) {
    watch_.require(1);
    if (!wanted(arc)) continue;
    const std::uint32_t position = next[head[arc]]++;
    arc_of_[position] = arc;
    tail_of_[position] = tail[arc];
  }
  watch_.require(head.size());
  in_arcs_.resize(arc_of_.size());
  result_.reserve(node_count);
}

bool MinCostArborescence::contract(std::span<const double> cost) {
  for (std::size_t position = 0; position < arc_of_.size(); ++position) {
    watch_.require(1);
    in_arcs_[position] = {cost[arc_of_[position]], tail_of_[position], arc_of_[position]};
  }
  return contract_all();
}

std::span<const std::uint32_t> MinCostArborescence::chosen_arcs() {
  result_.clear();
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (node != root()) result_.push_back(chosen(node));
  }
  return result_;
}

std::span<const std::uint32_t> MinCostArborescence::solve(std::span<const double> cost) {
  total_cost_ = 0;
  if (!contract(cost)) return {};
  expand();
  for (const std::uint32_t arc : chosen_arcs()) total_cost_ += cost[arc];
  return result_;
}

bool MinCostArborescence::solve_from_each(std::span<const double> cost,
                                          std::vector<double>& from_each) {
  if (!contract(cost)) return false;
  costs_from_each(from_each);
  return true;
}

std::span<const std::uint32_t> MinCostArborescence::tree_from(std::uint32_t root_arc) {
  expand_from(root_arc);
  return chosen_arcs();
}

bool MinCostArborescence::choose(std::uint32_t node) {
  const std::uint32_t first = first_in_[node];
  const std::uint32_t last = first_in_[node + 1];
  watch_.require(last - first);
  std::uint32_t best = first;
  for (std::uint32_t position = first + 1; position < last; ++position) {
    if (in_arcs_[position].cost < in_arcs_[best].cost) best = position;
  }
  top_[node] = best;
  return first != last;
}

void MinCostArborescence::open(std::uint32_t node) {
  const std::uint32_t first = first_in_[node];
  in_end_[node] = first_in_[node + 1];
  watch_.require(std::size_t{4} * (in_end_[node] - first));
  std::make_heap(in_arcs_.begin() + first, in_arcs_.begin() + in_end_[node], Dearer{});
  top_[node] = first;
}

bool MinCostArborescence::drop_top(std::uint32_t node, std::uint32_t /*component*/) {
  watch_.require(16);
  const std::uint32_t first = first_in_[node];
  std::pop_heap(in_arcs_.begin() + first, in_arcs_.begin() + in_end_[node], Dearer{});
  return --in_end_[node] > first;
}

}  // namespace espalier::lp
