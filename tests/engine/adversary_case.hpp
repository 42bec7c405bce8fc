// A random call along random trees, and what goes wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "planner/plan/plan.hpp"
#include "tests/engine/adversary_network.hpp"

namespace espalier::testing::adversary {

// A block as all ranks know it. Node i of its trees is rank i.
struct CaseBlock {
  engine::Kind kind = engine::Kind::kSpread;
  int root = 0;
  std::optional<int> to{};     // set: it routes, along paths to this rank
  std::vector<int> members{};  // the ranks of its trees, the root first
  std::vector<planner::PlanTree> trees{};
  engine::Range range{};               // in elements
  std::optional<std::size_t> after{};  // has the same root, members and range
  bool in_rounds = false;
  Bytes least_in_flight{};

  [[nodiscard]] bool combines() const { return kind == engine::Kind::kCombine; }
  [[nodiscard]] bool has_member(int rank) const;
  // The trees of which the rank is a part.
  [[nodiscard]] std::vector<bool> trees_of(int rank) const;
};

struct Case {
  explicit Case(Random& random);

  int ranks = 1;
  std::vector<CaseBlock> blocks;
  std::optional<engine::Slots> slots;  // of all blocks
  // Of each block. Made once a case: that is half of what all its ranks calculate.
  std::vector<planner::SegmentAssignment> assignments;
  engine::Options options;  // the same on all ranks; without timetable
  bool copies_synchronously = false;
  std::optional<std::uint64_t> capacity;  // of the stores of a single block; unset: the message
  bool stoppable = false;
  int failing = engine::kNoRank;  // the rank whose store fails, after this many segments
  std::uint64_t fails_after = UINT64_MAX;
  bool compares_calls = false;
  int odd = engine::kNoRank;     // the rank whose last block has another size
  int frozen = engine::kNoRank;  // the rank that stops, after this many of its steps
  std::uint64_t freezes_after = 0;
  bool in_place = false;
  std::uint64_t shift = 0;  // of what is routed, on the ranks that receive or forward it
  std::uint64_t most_forwarded = UINT64_MAX;  // segments of a tree on a rank that forwards it
  std::uint32_t synchronous_every = 0;        // send to a rank that forwards
  bool is_sparse = false;                     // ranks leave out blocks that route without them
  std::vector<engine::Risk> risks;            // of the edges into each rank

  [[nodiscard]] bool combines_any() const;
  [[nodiscard]] bool routes_all() const;
  [[nodiscard]] bool routes_any() const;
  // The blocks that a rank has, in their order. The functions below are of these.
  [[nodiscard]] std::vector<std::size_t> blocks_at(int rank) const;
  // A block's result is copied by a later block.
  [[nodiscard]] bool is_final(std::size_t block) const;
  [[nodiscard]] engine::Block block_of(std::size_t block, int rank) const;
  [[nodiscard]] std::optional<SendLimit> limit_at(int rank) const;
  [[nodiscard]] std::vector<engine::Range> ranges_of(int rank) const;
  [[nodiscard]] engine::Message message() const;
  [[nodiscard]] std::string shape() const;

 private:
  [[nodiscard]] int any_rank(Random& random) const;
  void choose_blocks(Random& random);
  void add_block(engine::Kind kind, int root, Random& random);
  // A block that copies what the last one has combined.
  void add_copies(Random& random);
  void choose_trees(CaseBlock& block, Random& random) const;
  // Of a broadcast, a reduction or an allreduce.
  void choose_schedule(Random& random);
  // Some operations whose parts are routed, or anything with such parts.
  void choose_routes(Random& random);
  void add_route(int from, int to, Random& random);
  // Blocks are of different parts of the message.
  void divide(Random& random);
  // One block, which copies to several ranks.
  [[nodiscard]] bool copies_only() const;
  void choose_options(Random& random);
  void choose_faults(Random& random);
};

// Element `at` of what tree `tree` of the block combines.
std::uint64_t expected_sum(const CaseBlock& of, const planner::PlanTree& tree, std::uint64_t at);

}  // namespace espalier::testing::adversary
