#include "engine/pull/bulletin.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

namespace espalier::engine::pull {
namespace {

constexpr std::uint32_t kStopped = 1;
constexpr std::uint32_t kLast = 2;
constexpr unsigned kKindShift = 30;
constexpr std::uint32_t kSegmentBits = (std::uint32_t{1} << kKindShift) - 1;

struct Header {
  std::array<double, 5> figures;
  std::uint64_t dead;
  std::uint32_t flags;
  std::uint32_t requests;
};
static_assert(sizeof(Header) == 56);

}  // namespace

std::vector<std::byte> to_bytes(const Bulletin& bulletin) {
  const Header header{
      {bulletin.sent_s, bulletin.echo_s, bulletin.best_out, bulletin.rate, bulletin.from_reader},
      bulletin.dead,
      (bulletin.is_stopped ? kStopped : 0) | (bulletin.is_last ? kLast : 0),
      static_cast<std::uint32_t>(bulletin.requests.size())};
  std::vector<std::uint32_t> words = bulletin.requests;
  for (const NewsItem& item : bulletin.news) {
    words.push_back(static_cast<std::uint32_t>(item.kind) << kKindShift | item.segment);
  }
  std::vector<std::byte> bytes(sizeof header + 4 * words.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!words.empty()) std::memcpy(bytes.data() + sizeof header, words.data(), 4 * words.size());
  return bytes;
}

Bulletin bulletin_from_bytes(const std::byte* bytes, std::size_t count) {
  Header header{};
  if (count < sizeof header || (count - sizeof header) % 4 != 0) {
    throw std::invalid_argument("a control message of a wrong size");
  }
  std::memcpy(&header, bytes, sizeof header);
  std::vector<std::uint32_t> words((count - sizeof header) / 4);
  if (header.requests > words.size()) {
    throw std::invalid_argument("a control message with more requests than words");
  }
  if (!words.empty()) std::memcpy(words.data(), bytes + sizeof header, 4 * words.size());
  Bulletin bulletin{.sent_s = header.figures[0],
                    .echo_s = header.figures[1],
                    .best_out = header.figures[2],
                    .rate = header.figures[3],
                    .from_reader = header.figures[4],
                    .dead = header.dead,
                    .is_stopped = (header.flags & kStopped) != 0,
                    .is_last = (header.flags & kLast) != 0};
  const auto news = words.begin() + static_cast<std::ptrdiff_t>(header.requests);
  bulletin.requests.assign(words.begin(), news);
  for (auto word = news; word != words.end(); ++word) {
    const std::uint32_t kind = *word >> kKindShift;
    if (kind > static_cast<std::uint32_t>(News::kUnwant)) {
      throw std::invalid_argument("a control message with unknown news");
    }
    bulletin.news.push_back({static_cast<News>(kind), *word & kSegmentBits});
  }
  return bulletin;
}

}  // namespace espalier::engine::pull
