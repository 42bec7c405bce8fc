// A lower bound of the cheapest tree from a root to some members, by raising the prices of cuts
// (Wong, Mathematical Programming 28 (1984), doi:10.1007/BF02612335).
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "lp/steiner/host_network.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class DualAscent {
 public:
  // Keeps a reference.
  explicit DualAscent(const HostNetwork& network, const Deadline& deadline = Deadline());

  // cost: per arc, >= 0. Every tree from the root to all members costs at least this; at most what
  // the best flows to each member cost, of which each arc pays the largest. Throws LimitReached.
  double solve(std::span<const double> cost);

  // Afterwards: per node, whether arcs without cost left over lead there from the root. Good trees
  // are often among these nodes, all members included.
  [[nodiscard]] const std::vector<char>& within_reach() const { return within_reach_; }

 private:
  // The nodes from which arcs without cost lead to the member: false if the root is one of them.
  bool collect(std::uint32_t member);
  double raise();

  const HostNetwork& network_;
  DeadlineWatch watch_;
  std::vector<double> left_;             // per arc, cost that no cut has used
  std::vector<char> in_set_;             // per node
  std::vector<std::uint32_t> set_;       // the nodes with in_set_
  std::vector<std::uint32_t> cut_arcs_;  // into the set
  std::vector<char> within_reach_;
  // Members that the root does not reach yet, by the size of their cuts: small cuts first.
  using Waiting = std::pair<std::size_t, std::uint32_t>;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace espalier::lp
