#include "tests/engine/adversary_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tests/engine/adversary_case.hpp"
#include "tests/engine/adversary_network.hpp"
#include "tests/engine/adversary_stores.hpp"

namespace espalier::testing::adversary {
namespace {

using Engine = engine::Engine<Transport>;

struct Member {
  enum class State { kWaiting, kRunning, kDone, kEnded };
  State state = State::kWaiting;
  std::uint64_t steps = 0;
  std::string said;  // when it ended by an error
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Store> store;

  [[nodiscard]] bool is_over() const { return state == State::kDone || state == State::kEnded; }
};

class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed),
        case_(random_),
        network_(random_, {static_cast<std::size_t>(case_.ranks), case_.compares_calls,
                           case_.odd != engine::kNoRank}) {
    members_.resize(static_cast<std::size_t>(case_.ranks));
    for (int rank = 0; rank < case_.ranks; ++rank) make(rank);
    for (Member& member : members_) transports_.push_back(member.transport.get());
    for (Transport* one : transports_) one->of_ranks = &transports_;
  }

  Course run() {
    Course course;
    course.shape = case_.shape();
    try {
      go();
      check_end(course);
    } catch (const Violation& violation) {
      course.fault = violation.what();
    }
    return course;
  }

 private:
  void make(int rank);
  void begin(int rank);
  [[nodiscard]] Store::Shape store_of(int rank) const;
  // A rank's part in a path.
  void forward(int rank, const CaseBlock& block, const engine::TreeWindows& windows,
               Store::Tree& tree) const;
  // A step of a rank; its errors are kept.
  void step(int rank);
  void step_once(int rank);
  [[nodiscard]] bool is_frozen(int rank) const {
    return rank == case_.frozen && member(rank).steps >= case_.freezes_after;
  }
  [[nodiscard]] const Member& member(int rank) const {
    return members_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool all_are_over() const;
  void go();
  // Lets everything happen that can. Returns whether any rank got on.
  bool settle();
  [[nodiscard]] std::string waits() const;
  void check_end(Course& course) const;
  void check_reports() const;
  void check_results() const;
  void check_result(std::size_t block, int rank) const;
  void check_routed(std::size_t block, int rank) const;
  // The rank's number of the block's first tree.
  [[nodiscard]] std::size_t first_tree(std::size_t block, int rank) const;

  Random random_;
  Case case_;
  Network network_;
  std::vector<Member> members_;
  std::vector<Transport*> transports_;
};

void World::make(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  std::vector<engine::Block> blocks;
  for (const std::size_t i : case_.blocks_at(rank)) blocks.push_back(case_.block_of(i, rank));
  engine::Options options = case_.options;
  if (case_.slots) {
    std::vector<int> nodes(members_.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    options.timetable = case_.slots->of_rank(nodes, rank, engine::trees_of(blocks));
  }
  mine.transport =
      std::make_unique<Transport>(network_, rank, case_.blocks[0].root, engine::trees_of(blocks));
  mine.transport->limit = case_.limit_at(rank);
  mine.engine = std::make_unique<Engine>(*mine.transport, std::move(blocks), std::move(options));
}

// Call it after prepare.
Store::Shape World::store_of(int rank) const {
  Store::Shape shape{.rank = rank,
                     .elements = 0,
                     .blocks = case_.blocks.size(),
                     .trees = {},
                     .in_place = case_.in_place && case_.combines_any(),
                     .capacity = case_.capacity,
                     .fails_after = rank == case_.failing ? case_.fails_after : UINT64_MAX};
  const auto ranges = case_.ranges_of(rank);
  std::size_t nth = 0;
  for (const std::size_t i : case_.blocks_at(rank)) {
    const CaseBlock& block = case_.blocks[i];
    const engine::Range& range = ranges[nth++];
    shape.elements = std::max(shape.elements, range.first + range.grid.message);
    const bool keeps_result = rank == block.root || !case_.is_final(i);
    for (std::size_t left = block.trees.size(); left > 0; --left) {
      Store::Tree& tree = shape.trees.emplace_back(Store::Tree{i,
                                                               block.root,
                                                               block.combines(),
                                                               block.after.has_value(),
                                                               keeps_result,
                                                               {},
                                                               block.range.grid.segment});
      const auto windows = member(rank).transport->windows();
      if (block.to) forward(rank, block, windows[shape.trees.size() - 1], tree);
      if (!tree.combines) continue;
      tree.buffers = engine::combining_buffers(windows[shape.trees.size() - 1], keeps_result);
    }
  }
  return shape;
}

void World::forward(int rank, const CaseBlock& block, const engine::TreeWindows& windows,
                    Store::Tree& tree) const {
  tree.shift = rank == block.root ? 0 : case_.shift;
  tree.is_forwarded = !windows.in.empty() && !windows.out.empty();
  if (!tree.is_forwarded) return;
  tree.buffers = {std::min(engine::forwarding_buffers(windows), case_.most_forwarded)};
}

void World::begin(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  mine.state = Member::State::kRunning;
  mine.engine->prepare(case_.message(), case_.ranges_of(rank));
  mine.store = std::make_unique<Store>(store_of(rank));
  mine.engine->begin(*mine.store);
}

void World::step_once(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  network_.begin_step();
  if (mine.state == Member::State::kWaiting) {
    begin(rank);
  } else if (chance(50, random_)) {
    mine.engine->wait();
  } else {
    mine.engine->progress();
  }
  if (mine.engine->is_done()) mine.state = Member::State::kDone;
}

void World::step(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  if (mine.is_over() || is_frozen(rank)) return;
  ++mine.steps;
  try {
    step_once(rank);
  } catch (const Ended& ended) {
    mine.state = Member::State::kEnded;
    mine.said = ended.what();
  } catch (const InputError& error) {
    mine.state = Member::State::kEnded;
    mine.said = error.what();
  }
}

bool World::all_are_over() const {
  for (int rank = 0; rank < case_.ranks; ++rank) {
    if (!member(rank).is_over() && !is_frozen(rank)) return false;
  }
  return true;
}

void World::go() {
  constexpr int kStepsBetweenChecks = 2000;
  constexpr int kMostChecks = 200;
  for (int checks = 0; !all_are_over(); ++checks) {
    if (checks == kMostChecks) throw Violation("the call does not end");
    for (int i = 0; i < kStepsBetweenChecks && !all_are_over(); ++i) {
      if (chance(60, random_)) {
        network_.step();
      } else {
        step(static_cast<int>(below(static_cast<std::uint64_t>(case_.ranks), random_)));
      }
    }
    if (all_are_over() || settle()) continue;
    if (network_.is_overdue) throw Violation("a rank neither ends nor gives up");
    if (case_.frozen == engine::kNoRank) throw Violation("no rank gets on: " + waits());
    network_.is_overdue = true;
  }
}

bool World::settle() {
  constexpr int kRounds = 40;
  const std::uint64_t before = network_.events;
  for (int round = 0; round < kRounds; ++round) {
    network_.now_s += 1e6;  // no segment waits for its pace
    network_.settle();
    for (int rank = 0; rank < case_.ranks; ++rank) step(rank);
    if (network_.events != before || all_are_over()) return true;
  }
  return false;
}

std::string World::waits() const {
  std::string text;
  for (int rank = 0; rank < case_.ranks; ++rank) {
    const Member& one = member(rank);
    text += fmt::format(" rank {} {}{};", rank, one.is_over() ? "is over" : "waits",
                        one.said.empty() ? "" : " " + one.said);
  }
  return text;
}

void World::check_end(Course& course) const {
  bool has_ended = false;
  for (const Member& one : members_) has_ended = has_ended || !one.said.empty();
  if (case_.odd != engine::kNoRank) {
    for (const Member& one : members_) {
      if (one.state != Member::State::kEnded) throw Violation("a call that differs is not noticed");
    }
    course.is_refused = true;
    return;
  }
  if (case_.frozen != engine::kNoRank) {
    if (has_ended) check_reports();
    course.gave_up = has_ended;
    return;
  }
  for (const Member& one : members_) {
    if (one.transport->in_progress() != 0) {
      throw Violation("a rank is done while operations are in progress");
    }
  }
  if (has_ended) throw Violation("a rank ended without a reason:" + waits());
  course.is_stopped = case_.failing != engine::kNoRank && member(case_.failing).store->failed();
  if (course.is_stopped) return;
  check_results();
  course.is_complete = true;
}

// At least one of the ranks that gave up names the rank that is the reason.
void World::check_reports() const {
  const std::string name = fmt::format("rank {}", case_.frozen);
  for (const Member& one : members_) {
    for (const std::string& reason : {name, std::string("comparing"), std::string("more in")}) {
      if (one.said.find(reason) != std::string::npos) return;
    }
  }
  throw Violation("nobody names the rank that is frozen:" + waits());
}

void World::check_results() const {
  for (std::size_t block = 0; block < case_.blocks.size(); ++block) {
    for (const int rank : case_.blocks[block].members) {
      if (case_.blocks[block].to) {
        check_routed(block, rank);
      } else {
        check_result(block, rank);
      }
    }
  }
}

std::size_t World::first_tree(std::size_t block, int rank) const {
  std::size_t first = 0;
  for (const std::size_t i : case_.blocks_at(rank)) {
    if (i < block) first += case_.blocks[i].trees.size();
  }
  return first;
}

// The store has compared the bytes.
void World::check_routed(std::size_t block, int rank) const {
  const CaseBlock& of = case_.blocks[block];
  const planner::SegmentAssignment& assignment = case_.assignments[block];
  const std::vector<bool> is_on = of.trees_of(rank);
  if (std::ranges::find(is_on, true) == is_on.end()) return;
  const std::size_t first = first_tree(block, rank);
  for (std::size_t tree = 0; tree < is_on.size(); ++tree) {
    const std::uint64_t due = is_on[tree] ? assignment.count(tree, of.range.grid.count()) : 0;
    if (member(rank).store->moved(first + tree) == due) continue;
    throw Violation("segments are missing, or where they should not be");
  }
}

void World::check_result(std::size_t block, int rank) const {
  const CaseBlock& of = case_.blocks[block];
  const Store& store = *member(rank).store;
  const planner::SegmentAssignment& assignment = case_.assignments[block];
  if (!of.combines()) {
    const std::size_t first = first_tree(block, rank);
    const std::vector<bool> is_on = of.trees_of(rank);
    for (std::size_t tree = 0; tree < of.trees.size(); ++tree) {
      const bool is_combined = of.after && rank == of.root;
      const bool gets_segments = rank == of.root || is_on[tree];
      const std::uint64_t due = gets_segments ? assignment.count(tree, of.range.grid.count()) : 0;
      if (is_combined || store.moved(first + tree) == due) continue;
      throw Violation("segments are missing, or where they should not be");
    }
    return;
  }
  if (case_.is_final(block) && rank != of.root) return;
  for (std::uint64_t at = 0; at < of.range.grid.message; ++at) {
    const planner::PlanTree& tree = of.trees[assignment.tree_of(at / of.range.grid.segment)];
    if (store.result()[of.range.first + at] != expected_sum(of, tree, of.range.first + at)) {
      throw Violation("a result is wrong");
    }
  }
}

}  // namespace

Course run(std::uint64_t seed) {
  return World(seed).run();
}

}  // namespace espalier::testing::adversary
