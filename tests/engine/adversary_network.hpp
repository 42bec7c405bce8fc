// A network in one process that completes what was begun in any order that a seed says: the worst
// that an engine's transport may do. It checks the engine's side of engine::Transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "engine/engine.hpp"

namespace espalier::testing::adversary {

// The engine broke a rule.
struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};
// A rank ended with an error that it may end with.
struct Ended : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Messages consist of such.
using Element = std::uint64_t;

using Random = std::mt19937_64;
// A number below `end`.
inline std::uint64_t below(std::uint64_t end, Random& random) {
  return random() % end;
}
inline bool chance(std::uint64_t of_100, Random& random) {
  return below(100, random) < of_100;
}

class Transport;

class Network {
 public:
  struct Calls {
    std::size_t ranks;
    bool are_compared;
    bool differ;
  };
  Network(Random& random, const Calls& calls) : random_(random), calls_(calls) {}

  // Something that may happen somewhere in the network, or nothing.
  void step();
  // Everything that can happen without the ranks. Returns whether anything has.
  bool settle();
  [[nodiscard]] Random& random() { return random_; }
  // A rank is about to do something. It may then use its transport only so often: an engine that
  // does not end would otherwise hang the test.
  void begin_step() { uses_ = 0; }

  double now_s = 0;
  bool is_overdue = false;   // all waits
  std::uint64_t events = 0;  // operations that have begun or gone on

 private:
  friend class Transport;
  // The memory of an operation in progress.
  struct Buffer {
    int rank;
    bool is_written;
    const std::byte* begin;
    const std::byte* end;
    const Transport* of;
    engine::Operation operation;
  };
  struct Send {
    Transport* from;
    engine::Operation operation;
    const std::byte* buffer;
    std::size_t bytes;
    bool synchronous;
    std::optional<std::vector<std::byte>> copy{};  // once it is eager data
    bool is_complete = false;
    bool is_delivered = false;
  };
  struct Receive {
    Transport* to;
    engine::Operation operation;
    std::byte* buffer;
    std::size_t bytes;
    bool may_be_longer;  // a longer message would be written past the buffer
    bool is_cancelled = false;
    bool is_delivered = false;
  };
  // The transfers along one edge: the n-th send matches the n-th receive.
  struct Channel {
    std::deque<Send> sends;
    std::deque<Receive> receives;
    std::size_t first_send = 0;  // number of the first that is kept
    std::size_t first_receive = 0;
  };
  using Key = std::tuple<std::size_t, int, int>;  // tree, sender, receiver

  // No operation may write where another one in progress reads or writes.
  void add_buffer(const Buffer& added);
  void remove_buffer(const Transport* of, const engine::Operation& operation);
  Channel& channel(std::size_t tree, int sender, int receiver);
  bool step(Channel& channel, std::size_t at);
  static bool deliver(Send& send, Receive& receive);
  void count_use() {
    constexpr std::size_t kMostUses = 2'000'000;
    if (++uses_ > kMostUses) throw Violation("a step of a rank does not end");
  }

  Random& random_;
  Calls calls_;
  std::size_t have_begun_ = 0;  // ranks that have begun the message
  std::size_t uses_ = 0;        // of transports in this step
  std::vector<Buffer> buffers_;
  std::map<Key, std::size_t> index_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

// How many sends of its own parts a rank may have in progress. Of each path the first ones count.
struct SendLimit {
  std::size_t most;
  std::uint64_t of_each;
};

// One rank's transport.
class Transport {
 public:
  Transport(Network& network, int rank, int root, std::vector<engine::TreeRole> roles)
      : network_(network), rank_(rank), root_(root), roles_(std::move(roles)) {}

  // The root learns of a rank whose store has failed.
  std::vector<Transport*>* of_ranks = nullptr;
  [[nodiscard]] bool has_anything() const { return !reports_.empty() || aborts_ > 0; }
  [[nodiscard]] std::size_t in_progress() const { return in_progress_; }

  // --- engine::Transport ---
  static constexpr bool kMovesBytes = true;
  std::optional<SendLimit> limit;  // unset: none, or that of the pace
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] double now() const { return network_.now_s; }
  void set_windows(std::vector<engine::TreeWindows> windows);
  [[nodiscard]] std::span<const engine::TreeWindows> windows() const {
    network_.count_use();
    return windows_;
  }
  void begin(bool stoppable);
  int receive(const engine::Operation& operation, const engine::Segment& segment,
              std::byte* buffer);
  int send(const engine::Operation& operation, const engine::Segment& segment,
           const std::byte* buffer, bool synchronous);
  void cancel(const engine::Operation& operation);
  [[nodiscard]] bool is_complete(const engine::Operation& operation) const;
  [[nodiscard]] int peer_of(const engine::Operation& operation) const {
    return edge_of(operation).peer;
  }
  [[nodiscard]] bool is_checked() const { return is_checked_; }
  // All ranks have begun, so the comparison will end, which this rank does not see any more.
  void await_check() const {
    if (network_.calls_.differ) throw Ended("the calls differ");
  }
  [[nodiscard]] std::string check_name() const { return "comparing calls"; }
  std::span<const engine::Completion> poll();
  std::optional<std::span<const engine::Completion>> wait();
  [[nodiscard]] bool has_to_poll() const { return chance(20, network_.random()); }
  void note_progress() {}
  [[nodiscard]] bool is_overdue() const { return network_.is_overdue; }
  void relax(double, bool) {}
  void raise_abort();
  [[nodiscard]] bool is_abort_raised() const { return abort_is_raised_; }
  [[noreturn]] void fail(int, const std::string& doing) const { throw Ended(doing); }
  [[noreturn]] void give_up(const std::string& waits) const { throw Ended(waits); }

 private:
  friend class Network;
  struct Slots {
    std::vector<std::uint64_t> open;  // number of the operation in progress plus one; 0: none
    std::uint64_t begun = 0;
  };

  [[nodiscard]] const engine::Edge& edge_of(const engine::Operation& of) const {
    return (of.is_send ? roles_[of.tree].out : roles_[of.tree].in)[of.edge];
  }
  [[nodiscard]] std::size_t number_of(const engine::Operation& of) const {
    return roles_[of.tree].number;
  }
  [[nodiscard]] Slots& slots_of(const engine::Operation& of) {
    return slots_[of.is_send ? 1 : 0][of.tree][of.edge];
  }
  [[nodiscard]] const Slots& slots_of(const engine::Operation& of) const {
    return slots_[of.is_send ? 1 : 0][of.tree][of.edge];
  }
  void open(const engine::Operation& operation, const std::byte* buffer, std::size_t length);
  void close(const engine::Operation& operation);
  [[nodiscard]] bool is_limited(const engine::Operation& operation) const {
    return limit && operation.is_send && operation.nth < limit->of_each &&
           roles_[operation.tree].in.empty();
  }
  // Takes a random part of what has happened.
  void take_reports(std::uint64_t of_100);

  Network& network_;
  int rank_;
  int root_;  // of the first block
  std::vector<engine::TreeRole> roles_;
  std::vector<engine::TreeWindows> windows_;
  std::vector<std::vector<Slots>> slots_[2];  // of in-edges, then of out-edges
  bool stoppable_ = false;
  bool is_checked_ = true;
  bool abort_is_raised_ = false;
  std::size_t aborts_ = 0;  // signals that the root has not seen
  std::size_t in_progress_ = 0;
  std::size_t limited_in_progress_ = 0;
  std::vector<engine::Completion> reports_;
  std::vector<engine::Completion> taken_;
};

}  // namespace espalier::testing::adversary
