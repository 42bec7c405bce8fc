// The cheapest tree from a root to a few members, exactly: for every set of members and every node
// the cheapest tree from there to the set (Dreyfus and Wagner, Networks 1 (1971),
// doi:10.1002/net.3230010302, for directed arcs). Time O(3^k n + 2^k m log n), memory O(2^k n),
// with k members.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lp/steiner/host_network.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class TerminalSets {
 public:
  // Steps of work for the network; infinite for more than 20 members.
  static double work(const HostNetwork& network);

  // Keeps a reference. The network is connected.
  explicit TerminalSets(const HostNetwork& network, const Deadline& deadline = Deadline());

  // cost: per arc, >= 0. Throws LimitReached when the deadline passes.
  SteinerTree solve(std::span<const double> cost);

 private:
  // How the cheapest tree from a node to a set begins: with an arc, or (`arc` is kNone) with two
  // trees, one of them to `part` of the set, or (part 0) not at all.
  struct Start {
    std::uint32_t arc = kNone;
    std::uint32_t part = 0;
  };
  void merge(std::uint32_t set);
  void extend(std::uint32_t set, std::span<const double> cost);
  [[nodiscard]] SteinerTree tree(std::span<const double> cost) const;
  [[nodiscard]] std::size_t at(std::uint32_t set, std::uint32_t node) const {
    return std::size_t{set} * network_.nodes + node;
  }

  const HostNetwork& network_;
  DeadlineWatch watch_;
  std::vector<double> cost_of_;  // by set and node
  std::vector<Start> start_of_;  // likewise
  std::vector<std::pair<double, std::uint32_t>> frontier_;
};

}  // namespace espalier::lp
