#include "lp/steiner/dual_ascent.hpp"

#include <algorithm>
#include <limits>

namespace espalier::lp {

DualAscent::DualAscent(const HostNetwork& network, const Deadline& deadline)
    : network_(network), watch_(deadline), left_(network.tail.size()), in_set_(network.nodes, 0) {}

double DualAscent::solve(std::span<const double> cost) {
  std::ranges::copy(cost, left_.begin());
  for (const std::uint32_t member : network_.members) {
    waiting_.emplace(network_.into.of(member).size(), member);
  }
  double bound = 0;
  while (!waiting_.empty()) {
    const std::uint32_t member = waiting_.top().second;
    waiting_.pop();
    if (!collect(member)) continue;
    // The cut may have grown since the member began to wait.
    if (waiting_.empty() || cut_arcs_.size() <= waiting_.top().first) bound += raise();
    waiting_.emplace(cut_arcs_.size(), member);
  }
  within_reach_ =
      reached_along(std::span(&network_.root, 1), network_.out_of, network_.head, network_.nodes,
                    [&](std::uint32_t arc) { return !(left_[arc] > 0); });
  return bound;
}

bool DualAscent::collect(std::uint32_t member) {
  for (const std::uint32_t node : set_) in_set_[node] = 0;
  set_.assign(1, member);
  in_set_[member] = 1;
  cut_arcs_.clear();
  for (std::size_t i = 0; i < set_.size(); ++i) {
    watch_.require(network_.into.of(set_[i]).size());
    for (const std::uint32_t arc : network_.into.of(set_[i])) {
      const std::uint32_t from = network_.tail[arc];
      if (in_set_[from] != 0) continue;
      if (left_[arc] > 0) {
        cut_arcs_.push_back(arc);
      } else {
        if (from == network_.root) return false;
        in_set_[from] = 1;
        set_.push_back(from);
      }
    }
  }
  // Arcs from nodes that joined the set later do not cross.
  std::erase_if(cut_arcs_, [&](std::uint32_t arc) { return in_set_[network_.tail[arc]] != 0; });
  return true;
}

double DualAscent::raise() {
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t arc : cut_arcs_) least = std::min(least, left_[arc]);
  for (const std::uint32_t arc : cut_arcs_) left_[arc] -= least;
  return least;
}

}  // namespace espalier::lp
