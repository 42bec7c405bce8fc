#include "tests/engine/pull/pull_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "engine/pull/puller.hpp"
#include "support/quantities.hpp"

namespace espalier::testing::pull {
namespace {

namespace rule = engine::pull;
using Random = std::mt19937_64;

// A rank broke a rule.
struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};

std::uint64_t below(std::uint64_t end, Random& random) {
  return random() % end;
}
bool chance(std::uint64_t of_100, Random& random) {
  return below(100, random) < of_100;
}

struct Case {
  explicit Case(Random& random);
  [[nodiscard]] std::string shape() const;

  std::size_t ranks;
  // Of a broadcast, or of an allgather whose parts may be on few of the ranks.
  std::uint64_t segment;
  std::vector<rule::PulledMessage::Block> blocks;
  rule::PulledMessage message;
  std::size_t most_outstanding = SIZE_MAX;
  std::size_t most_items = rule::kMostItems;
  rule::Rule rule{};
  std::vector<std::uint64_t> slowness;  // of each rank: its sends go on in one of so many steps
  std::uint64_t telling;                // of 100 chances to tell, so many are used
  std::vector<std::size_t> mortal;      // ranks that die
  std::optional<std::size_t> stops;     // the rank whose store fails
  std::vector<int> host_of;             // by rank; empty: each has its own
};

std::vector<rule::PulledMessage::Block> some_blocks(std::size_t ranks, std::uint64_t segment,
                                                    Random& random) {
  const std::uint64_t most = chance(10, random) ? 2 * segment : 4000;
  const std::size_t count = chance(50, random) ? 1 : 1 + below(2 * ranks, random);
  std::vector<rule::PulledMessage::Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back({below(ranks, random), below(most / count + 1, random)});
  }
  return blocks;
}

Case::Case(Random& random)
    : ranks(1 + below(8, random)),
      segment(1 + below(40, random)),
      blocks(some_blocks(ranks, segment, random)),
      message(blocks, segment),
      telling(chance(50, random) ? 100 : 1 + below(40, random)) {
  if (chance(30, random)) most_outstanding = 1 + below(6, random);
  if (chance(30, random)) most_items = 1 + below(8, random);
  if (chance(50, random)) rule.outstanding = 0;  // some rank is always preferred
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    slowness.push_back(chance(70, random) ? 1 : 1 + below(60, random));
  }
  if (chance(40, random)) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (chance(30, random)) mortal.push_back(rank);
    }
  }
  if (chance(8, random)) stops = below(ranks, random);
  if (chance(40, random)) {
    const std::uint64_t hosts = 1 + below(ranks, random);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      host_of.push_back(static_cast<int>(below(hosts, random)));
    }
  }
}

std::string Case::shape() const {
  return fmt::format("{} ranks, {} of {} bytes in segments of {}, {} die{}{}", ranks,
                     counted(blocks.size(), "block"), message.bytes(), segment, mortal.size(),
                     stops ? ", one stops" : "", host_of.empty() ? "" : ", some on one host");
}

// Byte `at` of the message.
std::uint8_t byte_at(std::uint64_t at) {
  return static_cast<std::uint8_t>(at * 131 + at / 251);
}

class World {
 public:
  World(Random& random, const Case& of);
  Course run();

 private:
  // From one rank to another.
  struct Channel {
    std::deque<std::vector<std::byte>> bulletins{};
    std::deque<std::uint32_t> to_send{};
    std::deque<std::uint32_t> in_flight{};  // segments, which arrive in any order
    bool is_cut = false;                    // the receiver has noticed the sender's death
  };
  struct Rank {
    std::unique_ptr<rule::Puller> puller;
    std::vector<std::uint8_t> message;
    std::vector<bool> expects;  // by segment: a receive is posted
    std::size_t expected = 0;
    bool is_alive = true;
    bool has_left = false;
    std::uint64_t arrivals = 0;
  };

  Channel& channel(std::size_t from, std::size_t to) { return channels_[from * of_.ranks + to]; }
  void step();
  void act(std::size_t rank);
  void move_bulletins(std::size_t from, std::size_t to);
  void move_segments(std::size_t from, std::size_t to);
  void deliver(std::size_t from, std::size_t to, std::uint32_t segment);
  void kill(std::size_t rank);
  void notice_deaths();
  void choose(std::size_t rank);
  void check_bounds(std::size_t rank) const;
  [[nodiscard]] bool all_have_left() const;
  void check_end(Course& course) const;

  Random& random_;
  Case of_;
  std::vector<Rank> ranks_;
  std::vector<Channel> channels_;
  double now_s_ = 1;
  std::size_t deaths_ = 0;
};

World::World(Random& random, const Case& of)
    : random_(random), of_(of), ranks_(of.ranks), channels_(of.ranks * of.ranks) {
  for (std::size_t rank = 0; rank < of.ranks; ++rank) {
    ranks_[rank].puller =
        std::make_unique<rule::Puller>(rule::Job{.ranks = of.ranks,
                                                 .rank = rank,
                                                 .message = of.message,
                                                 .most_outstanding = of.most_outstanding,
                                                 .most_items = of.most_items,
                                                 .seed = random(),
                                                 .rule = of.rule,
                                                 .host_of = of.host_of});
    ranks_[rank].message.resize(of.message.bytes());
    ranks_[rank].expects.resize(of.message.segments());
  }
  std::uint64_t at = 0;
  for (const auto& [origin, bytes] : of.blocks) {
    for (const std::uint64_t end = at + bytes; at < end; ++at) {
      ranks_[origin].message[at] = byte_at(at);
    }
  }
}

void World::choose(std::size_t rank) {
  Rank& mine = ranks_[rank];
  for (const auto& [source, segment] : mine.puller->choose(now_s_)) {
    if (mine.expects[segment]) throw Violation("a segment is asked for twice");
    if (mine.puller->has(segment)) throw Violation("a segment is asked for that is here");
    mine.expects[segment] = true;
    ++mine.expected;
  }
  check_bounds(rank);
}

void World::check_bounds(std::size_t rank) const {
  const Rank& mine = ranks_[rank];
  if (mine.expected > of_.most_outstanding) throw Violation("too much is outstanding");
  for (std::size_t other = 0; other < of_.ranks; ++other) {
    if (mine.puller->outstanding_at(other) > rule::Rule{}.most_outstanding) {
      throw Violation("too much is outstanding at a source");
    }
  }
  // A want and a have for each segment, and for each death a want withdrawn and a new one.
  if (mine.puller->kept_news() > 2 * of_.message.segments() * (1 + deaths_)) {
    throw Violation("news pile up");
  }
}

void World::act(std::size_t rank) {
  Rank& mine = ranks_[rank];
  if (of_.stops == rank && mine.arrivals >= of_.message.segments() / 3) mine.puller->stop();
  choose(rank);
  for (const auto& [reader, segment] : mine.puller->take_due()) {
    channel(rank, reader).to_send.push_back(segment);
  }
  for (std::size_t to = 0; to < of_.ranks; ++to) {
    if (to == rank || !mine.puller->has_news_for(to, now_s_) || !chance(of_.telling, random_))
      continue;
    channel(rank, to).bulletins.push_back(rule::to_bytes(mine.puller->take_news_for(to, now_s_)));
    if (channel(rank, to).bulletins.back().size() > rule::kMostBulletinBytes) {
      throw Violation("a bulletin is too long");
    }
  }
  if (mine.puller->is_done()) mine.has_left = true;
}

void World::move_bulletins(std::size_t from, std::size_t to) {
  Channel& way = channel(from, to);
  while (!way.bulletins.empty() && chance(60, random_)) {
    const std::vector<std::byte> bytes = way.bulletins.front();
    way.bulletins.pop_front();
    if (!ranks_[to].is_alive || way.is_cut) continue;
    if (ranks_[to].has_left) throw Violation("a rank is told something after it has left");
    ranks_[to].puller->hear(from, rule::bulletin_from_bytes(bytes.data(), bytes.size()), now_s_);
  }
}

void World::move_segments(std::size_t from, std::size_t to) {
  Channel& way = channel(from, to);
  if (ranks_[from].is_alive && !ranks_[from].has_left) {
    for (; !way.to_send.empty(); way.to_send.pop_front()) way.in_flight.push_back(way.to_send[0]);
  }
  if (way.in_flight.empty() || below(of_.slowness[from], random_) != 0) return;
  const auto place = static_cast<std::ptrdiff_t>(below(way.in_flight.size(), random_));
  const std::uint32_t segment = way.in_flight[static_cast<std::size_t>(place)];
  way.in_flight.erase(way.in_flight.begin() + place);
  if (ranks_[to].is_alive && !way.is_cut) deliver(from, to, segment);
}

void World::deliver(std::size_t from, std::size_t to, std::uint32_t segment) {
  Rank& receiver = ranks_[to];
  if (receiver.has_left) throw Violation("a segment arrives after a rank has left");
  if (!receiver.expects[segment]) throw Violation("a segment arrives that is not expected");
  const std::uint64_t offset = of_.message.offset(segment);
  std::memcpy(receiver.message.data() + offset, ranks_[from].message.data() + offset,
              of_.message.length(segment));
  receiver.expects[segment] = false;
  --receiver.expected;
  ++receiver.arrivals;
  if (!receiver.puller->arrived(from, segment, now_s_)) {
    throw Violation("a segment arrives of which its receiver knows nothing");
  }
}

// What it has sent may be lost, from a random point on.
void World::kill(std::size_t rank) {
  if (!ranks_[rank].is_alive || ranks_[rank].has_left) return;
  ranks_[rank].is_alive = false;
  ++deaths_;
  for (std::size_t to = 0; to < of_.ranks; ++to) {
    Channel& way = channel(rank, to);
    way.bulletins.resize(below(way.bulletins.size() + 1, random_));
    way.in_flight.resize(below(way.in_flight.size() + 1, random_));
    way.to_send.clear();
  }
}

// Each at its own time.
void World::notice_deaths() {
  for (std::size_t dead = 0; dead < of_.ranks; ++dead) {
    if (ranks_[dead].is_alive) continue;
    for (std::size_t rank = 0; rank < of_.ranks; ++rank) {
      Channel& way = channel(dead, rank);
      Rank& mine = ranks_[rank];
      if (!mine.is_alive || mine.has_left || way.is_cut || !chance(5, random_)) continue;
      way.is_cut = true;
      const std::size_t lost = mine.puller->outstanding_at(dead);
      const std::vector<bool> before = mine.expects;
      mine.puller->died(dead);
      mine.expected -= lost;
      // Receives that were posted for the dead are cancelled.
      for (std::uint32_t segment = 0; segment < before.size(); ++segment) {
        if (before[segment] && !mine.puller->is_asked(segment)) mine.expects[segment] = false;
      }
    }
  }
}

void World::step() {
  now_s_ += 1e-4 * static_cast<double>(below(20, random_));
  for (std::size_t rank = 0; rank < of_.ranks; ++rank) {
    if (ranks_[rank].is_alive && !ranks_[rank].has_left && chance(70, random_)) act(rank);
  }
  for (std::size_t from = 0; from < of_.ranks; ++from) {
    for (std::size_t to = 0; to < of_.ranks; ++to) {
      if (chance(60, random_)) move_bulletins(from, to);
      move_segments(from, to);
    }
  }
  for (const std::size_t rank : of_.mortal) {
    if (below(2 + of_.message.segments(), random_) == 0) kill(rank);
  }
  notice_deaths();
}

bool World::all_have_left() const {
  return std::ranges::all_of(ranks_, [](const Rank& one) { return !one.is_alive || one.has_left; });
}

Course World::run() {
  constexpr std::uint64_t kMostSteps = 2'000'000;
  Course course;
  for (std::uint64_t steps = 0; !all_have_left(); ++steps) {
    if (steps == kMostSteps) throw Violation("it does not end");
    step();
  }
  check_end(course);
  return course;
}

void World::check_end(Course& course) const {
  course.deaths = deaths_;
  course.source_died = std::ranges::any_of(
      of_.blocks, [&](const auto& block) { return !ranks_[block.origin].is_alive; });
  std::vector<bool> exists(of_.message.segments());
  for (const Rank& rank : ranks_) {
    if (!rank.is_alive) continue;
    course.is_stopped = course.is_stopped || rank.puller->is_stopped();
    for (std::uint64_t i = 0; i < exists.size(); ++i) {
      if (!rank.puller->has(i)) continue;
      exists[i] = true;
      for (std::uint64_t at = of_.message.offset(i);
           at < of_.message.offset(i) + of_.message.length(i); ++at) {
        if (rank.message[at] != byte_at(at)) throw Violation("a byte is wrong");
      }
    }
  }
  course.segments = static_cast<std::uint64_t>(std::ranges::count(exists, true));
  course.is_complete = course.segments == exists.size() && !course.is_stopped;
  for (const Rank& rank : ranks_) {
    if (!rank.is_alive || course.is_stopped) continue;
    for (std::uint64_t i = 0; i < exists.size(); ++i) {
      if (exists[i] && !rank.puller->has(i)) throw Violation("a survivor lacks what exists");
    }
  }
  if (!course.is_stopped && deaths_ == 0 && !course.is_complete) {
    throw Violation("nobody died, and not all have everything");
  }
}

}  // namespace

Course run(std::uint64_t seed) {
  Random random(seed);
  const Case of(random);
  Course course;
  try {
    course = World(random, of).run();
  } catch (const std::exception& fault) {
    course.fault = fault.what();
  }
  course.shape = of.shape();
  return course;
}

}  // namespace espalier::testing::pull
