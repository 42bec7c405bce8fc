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

struct Cheaper {
  template <class InArc>
  bool operator()(const InArc& a, const InArc& b) const {
    return Dearer{}(b, a);
  }
};

// So often all of a node's arcs are searched for the cheapest from outside its component: mostly a
// few times suffice, at half the time of a heap. Then a heap, for the sake of the worst case.
constexpr std::uint32_t kSearches = 16;

}  // namespace

MinCostArborescence::MinCostArborescence(std::uint32_t node_count,
                                         std::span<const std::uint32_t> tail,
                                         std::span<const std::uint32_t> head, std::uint32_t root,
                                         const Deadline& deadline)
    : Contraction(node_count, root),
      watch_(deadline),
      first_in_(node_count + 1, 0),
      in_end_(node_count, 0),
      searches_(node_count, 0),
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
  if (first == last) return false;
  std::swap(in_arcs_[first], in_arcs_[best]);
  return true;
}

void MinCostArborescence::open(std::uint32_t node) {
  in_end_[node] = first_in_[node + 1];
  searches_[node] = 0;
}

bool MinCostArborescence::drop_top(std::uint32_t node, std::uint32_t component) {
  const auto first = in_arcs_.begin() + first_in_[node];
  auto last = in_arcs_.begin() + in_end_[node];
  if (searches_[node] == kSearches) {
    watch_.require(16);
    std::pop_heap(first, last--, Dearer{});
  } else {
    watch_.require(std::size_t{4} * (in_end_[node] - first_in_[node]));
    last = std::remove_if(first, last,
                          [&](const InArc& arc) { return is_within(component, arc.tail); });
    if (++searches_[node] == kSearches) {
      std::make_heap(first, last, Dearer{});
    } else {
      std::iter_swap(first, std::min_element(first, last, Cheaper{}));
    }
  }
  in_end_[node] = static_cast<std::uint32_t>(last - in_arcs_.begin());
  return last != first;
}

}  // namespace espalier::lp
