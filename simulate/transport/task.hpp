// One message on a plan's trees: the input of the greedy run and of the run by schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/segment_grid.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// The time a processor takes to add one child's segment to its own.
struct Combining {
  double full_s = 0;  // a whole segment
  double last_s = 0;  // the message's last one, if it is shorter
};

// compute: bytes per second; unset: no time. rest: the last segment if it is shorter; otherwise 0.
inline Combining combining_at(std::optional<BytesPerSecond> compute, Bytes segment, Bytes rest) {
  if (!compute) return {};
  const auto seconds = [&](Bytes bytes) {
    return static_cast<double>(bytes.value) / compute->value;
  };
  return {seconds(segment), seconds(rest)};
}

struct Task {
  const Flows& flows;
  const Holdings& full;                   // of a whole segment
  const Holdings& last;                   // of the message's last one, if it is shorter
  std::uint32_t source;                   // index into Plan::nodes; of several roots, any
  Combining combining{};                  // unset in a broadcast
  std::uint64_t count = 0;                // segments of the message; only of a run by schedule
  std::vector<std::uint64_t> segments{};  // per tree
  std::vector<char> ends_short{};         // per tree: whether its last segment is the shorter one
  // Only of a run of engines, per tree; a message has several roots and parts of different sizes.
  std::vector<std::uint32_t> roots{};
  std::uint64_t full_bytes = 0;  // of a whole segment of any tree
  std::vector<std::uint64_t> last_bytes{};
  std::vector<double> last_combining_s{};  // empty if combining takes no time

  [[nodiscard]] std::uint32_t root_of(std::uint32_t tree) const {
    return roots.empty() ? source : roots[tree];
  }
  // The time to add a tree's last segment, if it is shorter.
  [[nodiscard]] double last_combining(std::uint32_t tree) const {
    return last_combining_s.empty() ? combining.last_s : last_combining_s[tree];
  }
  [[nodiscard]] bool is_short(std::uint32_t tree, std::uint64_t nth) const {
    return ends_short[tree] != 0 && nth + 1 == segments[tree];
  }
  // Assigns each block's segments to its trees. grids: of each block.
  void assign_segments(const Assignments& assignments,
                       std::span<const planner::SegmentGrid> grids) {
    segments.clear();
    ends_short.clear();
    for (std::size_t block = 0; block < grids.size(); ++block) {
      const planner::SegmentGrid& grid = grids[block];
      const planner::SegmentAssignment& assignment = assignments.blocks()[block];
      const bool last_is_short = grid.message % grid.segment != 0;
      for (std::size_t tree = 0; tree < assignment.trees(); ++tree) {
        segments.push_back(assignment.count(tree, grid.count()));
        const bool is_short = last_is_short && assignment.tree_of(grid.count() - 1) == tree;
        ends_short.push_back(is_short ? 1 : 0);
      }
    }
  }
};

// The number of segments at the host with the most sends and receives.
std::uint64_t most_handled(const Task& task);

// The power of two of a second of which 2^61 are enough for the longest possible run, all steps in
// sequence. Throws InputError when its time exceeds the range of a double.
double tick_for(const Task& task);

}  // namespace espalier::simulate
