// One message for a plan's trees: what both ways to run it, greedy and by schedule, start from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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
};

}  // namespace espalier::simulate
