// A random message along random trees, and what goes wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "planner/plan/plan.hpp"
#include "tests/engine/adversary_network.hpp"

namespace espalier::testing::adversary {

struct Case {
  explicit Case(Random& random);

  int ranks = 1;
  int root = 0;
  planner::Plan plan;  // node i is rank i; broadcast trees, reduce trees or both
  std::optional<engine::Slots> slots;
  bool in_rounds = false;
  engine::SegmentGrid grid;               // of the elements
  engine::Options options;                // the same on all ranks; without rounds and timetable
  std::optional<std::uint64_t> capacity;  // of the stores of a broadcast; unset: the whole message
  bool stoppable = false;
  int failing = engine::kNoRank;  // the rank whose store fails, after this many segments
  std::uint64_t fails_after = UINT64_MAX;
  bool compares_calls = false;
  int odd = engine::kNoRank;     // the rank whose message has another size
  int frozen = engine::kNoRank;  // the rank that stops, after this many of its steps
  std::uint64_t freezes_after = 0;
  bool in_place = false;
  std::vector<engine::Risk> risks;  // of the edges into each rank

  [[nodiscard]] bool reduces() const { return !plan.reduce_trees.empty(); }
  [[nodiscard]] bool copies() const { return !plan.broadcast_trees.empty(); }
  [[nodiscard]] std::vector<int> rank_of_node() const;
  [[nodiscard]] engine::SegmentGrid grid_of(int rank) const;

 private:
  void choose_trees(Random& random);
  void choose_rounds(Random& random);
  void choose_schedule(Random& random);
  void choose_options(Random& random);
  void choose_faults(Random& random);
};

// Element `at` of the result of a reduction, which tree `tree` carries.
std::uint64_t expected_sum(const Case& of, const planner::PlanTree& tree, std::uint64_t at);

}  // namespace espalier::testing::adversary
