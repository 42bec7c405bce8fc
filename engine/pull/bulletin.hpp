// The control messages of a pull: what a rank asks of another one and what it tells it, gathered
// into one small message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::engine::pull {

// Of a message: each takes two bits for each rank on every rank. Their numbers have 30 bits, and
// the other two give the kind of news.
inline constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 24U;

// What a rank tells all others of one of its segments.
enum class News : std::uint8_t {
  kHave,    // it has arrived
  kWant,    // it is asked for
  kUnwant,  // it is not asked for any more, because the rank that was asked is dead
};

struct NewsItem {
  News kind;
  std::uint32_t segment;
  bool operator==(const NewsItem&) const = default;
};

struct Bulletin {
  // The sender's clock, and the latest time that the reader sent it, plus the time for which the
  // sender has kept it: the reader's clock minus this is a round trip. 0: none yet. Seconds.
  double sent_s = 0;
  double echo_s = 0;
  double best_out = 0;     // the best rate at which any rank receives from the sender, in bytes/s
  double rate = 0;         // the highest at which all ranks together received from the sender
  double from_reader = 0;  // the rate at which the sender receives from the reader; 0: unknown
  // Which ranks the sender knows to be dead: equal for equal sets. All that it has got before it
  // knew is told.
  std::uint64_t dead = 0;
  bool is_stopped = false;  // the message has failed on some rank, and nobody asks any more
  // The last one: the sender asks for nothing any more, and tells nothing any more.
  bool is_last = false;
  std::vector<std::uint32_t> requests{};  // segments that the reader is to send
  std::vector<NewsItem> news{};           // in the order of the events; a request is a want, too

  bool operator==(const Bulletin&) const = default;
};

// Most requests and news together in a bulletin, so that MPI sends it eagerly.
inline constexpr std::size_t kMostItems = 960;
// The bytes of such a bulletin.
inline constexpr std::size_t kMostBulletinBytes = 5 * sizeof(double) + 8 + 4 * (2 + kMostItems);

// As bytes, for ranks whose machines have the same byte order.
std::vector<std::byte> to_bytes(const Bulletin& bulletin);
// Throws std::invalid_argument for bytes that to_bytes cannot have written.
Bulletin bulletin_from_bytes(const std::byte* bytes, std::size_t count);

}  // namespace espalier::engine::pull
