#include "tests/engine/adversary_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "planner/plan/send_windows.hpp"
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
  std::unique_ptr<Transport> up_transport;
  std::unique_ptr<Transport> down_transport;
  std::unique_ptr<Engine> up;
  std::unique_ptr<Engine> down;
  std::unique_ptr<SumStore> sums;
  std::unique_ptr<CopyStore> copies;
  std::unique_ptr<ReducedStore> reduced;

  [[nodiscard]] bool is_over() const { return state == State::kDone || state == State::kEnded; }
};

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed), case_(random_), network_(random_) {
    up_ = {sizeof(Element), static_cast<std::size_t>(case_.ranks), 0, case_.compares_calls,
           case_.odd != engine::kNoRank};
    down_ = up_;
    down_.unit = 1;
    if (case_.reduces()) down_.compares_calls = down_.calls_differ = false;
    members_.resize(static_cast<std::size_t>(case_.ranks));
    for (int rank = 0; rank < case_.ranks; ++rank) make(rank);
    for (Member& member : members_) transports_.push_back(member.down_transport.get());
    for (Transport* one : transports_) {
      if (one != nullptr) one->of_ranks = &transports_;
    }
  }

  Course run() {
    Course course;
    course.shape = shape();
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
  [[nodiscard]] std::string shape() const;
  void check_end(Course& course) const;
  void check_reports() const;
  void check_results() const;

  Random random_;
  Case case_;
  Network network_;
  Half up_;
  Half down_;
  std::vector<Member> members_;
  std::vector<Transport*> transports_;
};

void World::make(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  const std::vector<int> nodes = case_.rank_of_node();
  const auto make_half = [&](Half& half, std::span<const planner::PlanTree> trees,
                             engine::Direction direction, std::unique_ptr<Transport>& transport,
                             std::unique_ptr<Engine>& made) {
    auto roles = engine::roles_of(trees, nodes, rank, {}, direction);
    const auto risk =
        half.compares_calls ? case_.risks[static_cast<std::size_t>(rank)] : engine::Risk::kNone;
    for (engine::TreeRole& role : roles) {
      for (engine::Edge& edge : role.in) edge.risk = risk;
    }
    engine::Options options = case_.options;
    options.most_in_flight = planner::most_bytes_in_flight(trees);
    if (direction == engine::Direction::kUp) options.synchronous = true;
    if (case_.in_rounds) options.rounds = engine::rounds_of(case_.plan, nodes, rank);
    if (case_.slots) options.timetable = case_.slots->of_rank(nodes, rank, roles);
    transport = std::make_unique<Transport>(network_, half, rank, case_.root, roles);
    made = std::make_unique<Engine>(
        *transport, roles, case_.slots ? case_.slots->assignment() : planner::assignment_for(trees),
        options);
  };
  if (case_.reduces()) {
    make_half(up_, case_.plan.reduce_trees, engine::Direction::kUp, mine.up_transport, mine.up);
  }
  if (case_.copies()) {
    make_half(down_, case_.plan.broadcast_trees, engine::Direction::kDown, mine.down_transport,
              mine.down);
  }
}

void World::begin(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  const engine::SegmentGrid grid = case_.grid_of(rank);
  mine.state = Member::State::kRunning;
  if (mine.up) {
    mine.up->prepare({grid, sizeof(Element), false, grid.segment == 1});
    mine.sums = std::make_unique<SumStore>(
        grid, rank,
        engine::roles_of(case_.plan.reduce_trees, case_.rank_of_node(), rank, {},
                         engine::Direction::kUp),
        mine.up_transport->windows(), mine.down || rank == case_.root, case_.in_place);
    mine.up->begin(*mine.sums);
  }
  if (!mine.down) return;
  if (mine.up) {
    mine.reduced = std::make_unique<ReducedStore>(*mine.sums, *mine.up);
    mine.down->prepare(
        {{grid.message * sizeof(Element), grid.segment * sizeof(Element)}, 1, false, false});
    return mine.down->begin(*mine.reduced);
  }
  mine.copies = std::make_unique<CopyStore>(grid, case_.plan.broadcast_trees.size(), case_.capacity,
                                            rank == case_.failing ? case_.fails_after : UINT64_MAX);
  mine.down->prepare({grid, 1, case_.stoppable, false});
  mine.down->begin(*mine.copies);
}

void World::step_once(int rank) {
  Member& mine = members_[static_cast<std::size_t>(rank)];
  if (mine.state == Member::State::kWaiting) {
    begin(rank);
  } else {
    Engine& last = mine.down ? *mine.down : *mine.up;
    if (chance(50, random_)) {
      last.wait();
    } else {
      last.progress();
    }
  }
  if ((mine.down ? *mine.down : *mine.up).is_done()) mine.state = Member::State::kDone;
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
  while (!all_are_over()) {
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

std::string World::shape() const {
  const auto trees = [](const std::vector<planner::PlanTree>& all) {
    std::string text;
    for (const planner::PlanTree& tree : all) {
      text += " [";
      for (const auto [parent, child] : tree.edges) text += fmt::format(" {}>{}", parent, child);
      text += fmt::format("{} ]", tree.exchange.empty() ? "" : " with exchange edges");
    }
    return text;
  };
  const engine::Options& with = case_.options;
  return fmt::format(
      "{} ranks, root {}; up{}; down{}; {} in segments of {}; windows {} out, {} in; ports {}{}{}{}"
      "; buffers {}; fails {}, odd {}, frozen {}{}",
      case_.ranks, case_.root, trees(case_.plan.reduce_trees), trees(case_.plan.broadcast_trees),
      case_.grid.message, case_.grid.segment, with.sends_in_flight, with.receives_in_flight,
      with.ports, case_.in_rounds ? "; in rounds" : "", case_.slots ? "; by schedule" : "",
      case_.in_place ? "; in place" : "", case_.capacity.value_or(0), case_.failing, case_.odd,
      case_.frozen, case_.compares_calls ? "; compares calls" : "");
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
    for (const auto* transport : {one.up_transport.get(), one.down_transport.get()}) {
      if (transport != nullptr && transport->in_progress() != 0) {
        throw Violation("a rank is done while operations are in progress");
      }
    }
  }
  if (has_ended) throw Violation("a rank ended without a reason:" + waits());
  course.is_stopped = case_.failing != engine::kNoRank && member(case_.failing).copies->failed();
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
  for (const Member& one : members_) {
    if (one.copies && !one.copies->is_complete()) throw Violation("segments are missing");
  }
  if (!case_.reduces()) return;
  const planner::SegmentAssignment& assignment = planner::assignment_for(case_.plan.reduce_trees);
  for (std::uint64_t at = 0; at < case_.grid.message; ++at) {
    const std::size_t tree = assignment.tree_of(at / case_.grid.segment);
    const Element sum = expected_sum(case_, case_.plan.reduce_trees[tree], at);
    for (int rank = 0; rank < case_.ranks; ++rank) {
      if (!case_.copies() && rank != case_.root) continue;
      if (member(rank).sums->result()[at] != sum) throw Violation("a result is wrong");
    }
  }
}

}  // namespace

Course run(std::uint64_t seed) {
  return World(seed).run();
}

}  // namespace espalier::testing::adversary
