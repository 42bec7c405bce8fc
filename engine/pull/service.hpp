// The requests that a rank has not served yet, whom it serves first, and how fast it serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace espalier::engine::pull {

// Readers are served at once and in turns, each in the order in which it asked, with two
// exceptions:
// - Where all readers together get only few segments in a given time, no more than these are on the
//   way, but two, or more where readers then get more. What this rank asks and tells others waits
//   behind them, in its own buffers and in the network's, which hold seconds of a thin uplink.
// - One reader may be preferred. Then the others wait while anything is on the way to that one, but
//   nobody for longer than kMostPassedOver of its segments, over a thin uplink twice what may be on
//   the way.
class Service {
 public:
  static constexpr std::size_t kMostPassedOver = 64;

  // least_s: the shortest time in which a rate is measured.
  Service(std::size_t ranks, double segment_bytes, double least_s)
      : segment_bytes_(segment_bytes), least_s_(least_s), readers_(ranks) {}

  void ask(std::size_t reader, std::uint32_t segment, double now);
  // The reader has the segment, of so many bytes. Nothing unless it was sent from here.
  void note_arrival(std::size_t reader, std::uint32_t segment, double bytes, double now);
  // Nothing can be sent to the reader any more.
  void forget(std::size_t reader);

  struct Due {
    std::size_t reader;
    std::uint32_t segment;
  };
  // What is to be sent now; to each reader in this order. most_s: the time that what is on the way
  // may take. Valid until the next call.
  std::span<const Due> take_due(std::optional<std::size_t> preferred, double most_s);

  // The highest rate at which all readers together received from here, bytes/s; 0: not measured.
  [[nodiscard]] double rate() const { return rate_; }
  // How long what this rank says next waits behind what is on the way; 0: not measured.
  [[nodiscard]] double delay_s() const {
    return rate_ > 0 ? static_cast<double>(on_the_way_) * segment_bytes_ / rate_ : 0;
  }

 private:
  struct Reader {
    std::deque<std::uint32_t> waiting{};
    std::vector<std::uint32_t> on_the_way{};
    std::size_t passed_over = 0;  // segments that were sent to the preferred one instead
  };
  void measure(double rate);
  [[nodiscard]] bool is_limited() const;
  [[nodiscard]] bool has_room() const { return !is_limited() || on_the_way_ < most_; }
  void send(std::size_t reader);

  double segment_bytes_;
  double least_s_;
  std::vector<Reader> readers_;
  std::size_t on_the_way_ = 0;  // to all readers
  double most_s_ = 0;           // the last most_s
  std::size_t most_ = 2;        // on the way, where the rate limits them
  std::size_t next_ = 0;        // the reader whose turn it is
  std::vector<Due> due_;
  double rate_ = 0;
  // --- whether more on the way would be received faster ---
  std::optional<double> rate_before_{};  // of half as many; unset: not being tried
  std::size_t pause_ = 0;                // measurements until the next attempt
  // --- since the last measurement ---
  double since_s_ = 0;  // 0: nothing has been asked for
  double bytes_ = 0;
  std::size_t arrivals_ = 0;
  bool has_waited_ = false;  // requests, for room
};

}  // namespace espalier::engine::pull
