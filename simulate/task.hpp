// One message for a plan's trees: what both ways to run it, greedy and by schedule, start from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/slice_dealer.hpp"
#include "simulate/flows.hpp"

namespace espalier::simulate {

struct Task {
  const Flows& flows;
  const Holdings& full;                     // of a whole slice
  const Holdings& last;                     // of the message's last one, where that is shorter
  std::uint32_t source;                     // index into Plan::nodes
  std::vector<std::uint64_t> slices;        // of each tree
  std::optional<std::uint32_t> short_tree;  // whose last slice is shorter

  [[nodiscard]] bool is_short(std::uint32_t tree, std::uint64_t nth) const {
    return tree == short_tree && nth + 1 == slices[tree];
  }
  // The first `count` slices (at least 1) go to the trees as `dealer` deals them; the last one may
  // be a short one.
  void deal(const planner::SliceDealer& dealer, std::uint64_t count, bool last_is_short) {
    slices.clear();
    for (std::size_t tree = 0; tree < dealer.trees(); ++tree) {
      slices.push_back(dealer.count(tree, count));
    }
    short_tree.reset();
    if (last_is_short) short_tree = static_cast<std::uint32_t>(dealer.tree_of(count - 1));
  }
};

}  // namespace espalier::simulate
