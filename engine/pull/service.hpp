// The requests that a rank has not served yet, whom it serves first, and how fast it serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace espalier::engine::pull {

// Every reader is served at once, in the order in which it asked, unless one of them is preferred:
// then the others wait while anything is on the way to that one, but nobody for longer than
// kMostPassedOver of its segments.
class Service {
 public:
  static constexpr std::size_t kMostPassedOver = 64;

  // least_s: the shortest time in which a rate is measured.
  Service(std::size_t ranks, double least_s) : least_s_(least_s), readers_(ranks) {}

  void ask(std::size_t reader, std::uint32_t segment, double now);
  // The reader has the segment, of so many bytes. Nothing unless it was sent from here.
  void note_arrival(std::size_t reader, std::uint32_t segment, double bytes, double now);
  // The reader is dead.
  void forget(std::size_t reader) { readers_[reader] = {}; }

  struct Due {
    std::size_t reader;
    std::uint32_t segment;
  };
  // What is to be sent now; to each reader in this order. Valid until the next call.
  std::span<const Due> take_due(std::optional<std::size_t> preferred);

  // The highest rate at which all readers together received from here, bytes/s; 0: not measured.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  struct Reader {
    std::deque<std::uint32_t> waiting{};
    std::vector<std::uint32_t> on_the_way{};
    std::size_t passed_over = 0;  // segments that were sent to the preferred one instead
  };
  void send(std::size_t reader);

  double least_s_;
  std::vector<Reader> readers_;
  std::vector<Due> due_;
  double rate_ = 0;
  // --- since the last measurement ---
  double since_s_ = 0;  // 0: nothing has been asked for
  double bytes_ = 0;
  std::size_t arrivals_ = 0;
};

}  // namespace espalier::engine::pull
