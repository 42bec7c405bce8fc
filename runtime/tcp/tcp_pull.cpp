#include "runtime/tcp/tcp_pull.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::runtime::tcp {
namespace {

namespace pull = engine::pull;

// A host that has nothing to tell says so, and the most that counts of a silence between two turns:
// a host that is slow itself has not listened.
constexpr double kBeat_s = 1;
constexpr double kLongestLook_s = 0.25;
// How long to wait for something to happen: a part of the time since something has.
constexpr double kLeastWait_s = 50e-6;
constexpr double kMostWait_s = 2e-3;
constexpr double kWaitPart = 0.1;

constexpr std::size_t kGreetingBytes = 16 + sizeof(std::uint32_t);
constexpr std::uint64_t kMagic = 0x3170637472617073;

// Above the 0 at which nothing has happened yet.
double now_s() {
  return 1 + steady_now().value;
}

pull::Job job_of(const TcpSetting& setting, const SegmentMap& map) {
  pull::SegmentSet has(map.grid().count());
  for (std::uint64_t i = 0; i < map.grid().count(); ++i) {
    if (map.contains(i)) has.insert(i);
  }
  return {.ranks = setting.peers.size(),
          .rank = setting.rank,
          .message = {setting.source, map.grid()},
          .seed = 1 + setting.rank * 0x9e3779b97f4a7c15,
          .has = std::move(has)};
}

}  // namespace

TcpPull::TcpPull(const TcpSetting& setting, Descriptor listener, KeptMessage& message)
    : setting_(setting),
      rank_(setting.rank),
      listener_(std::move(listener)),
      message_(&message),
      puller_(job_of(setting, message.map())),
      peers_(setting.peers.size()),
      looked_s_(now_s()) {
  if (setting_.encrypts) encryption_.emplace(setting_.token);
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (!setting_.peers[peer].is_alive) died(peer);
    if (setting_.peers[peer].is_alive && peer < rank_) connect_to(peer);
  }
}

void TcpPull::connect_to(std::size_t peer) {
  const TcpPeer& other = setting_.peers[peer];
  try {
    const auto begin = [&](std::size_t most) {
      return stream_on(begin_to_connect(other.address, other.port), most, true);
    };
    peers_[peer].control = begin(pull::kMostBulletinBytes);
    peers_[peer].data = begin(message_->map().grid().segment);
    greet(peers_[peer].control, Kind::kControl);
    greet(peers_[peer].data, Kind::kData);
  } catch (const InputError& fault) {
    lose(peer, fault.what());
  }
}

Stream TcpPull::stream_on(Descriptor socket, std::size_t most, bool connects) const {
  auto encrypted = encryption_ ? encryption_->of(socket.get(), connects) : nullptr;
  return {std::move(socket), most, std::move(encrypted)};
}

void TcpPull::greet(Stream& stream, Kind kind) {
  std::vector<std::byte> body(kGreetingBytes);
  std::memcpy(body.data(), setting_.token.data(), setting_.token.size());
  std::memcpy(body.data() + setting_.token.size(), &kind, sizeof kind);
  stream.put({static_cast<std::uint32_t>(rank_), kGreetingBytes, kMagic}, std::move(body));
}

void TcpPull::admit_strangers() {
  for (Descriptor one = accept_one(listener_); one.is_open(); one = accept_one(listener_)) {
    strangers_.push_back(stream_on(std::move(one), kGreetingBytes, false));
  }
  for (Stream& stranger : strangers_) {
    const auto admit = [&](const FrameHeader& header, std::span<const std::byte> body) {
      Kind kind{};
      const std::size_t rank = header.number;
      const bool is_ours = header.mark == kMagic && body.size() == kGreetingBytes &&
                           std::memcmp(body.data(), setting_.token.data(), 16) == 0;
      if (!is_ours || rank <= rank_ || rank >= peers_.size() || peers_[rank].is_lost) {
        return stranger.close();
      }
      std::memcpy(&kind, body.data() + 16, sizeof kind);
      Peer& peer = peers_[rank];
      Stream& place = kind == Kind::kControl ? peer.control : peer.data;
      stranger.set_most(kind == Kind::kControl ? pull::kMostBulletinBytes
                                               : message_->map().grid().segment);
      place = std::move(stranger);
    };
    if (!stranger.receive(admit)) stranger.close();
  }
  std::erase_if(strangers_, [](const Stream& one) { return !one.is_open(); });
}

void TcpPull::turn(int also) {
  const double now = now_s();
  has_moved_ = false;
  admit_strangers();
  move_all(now);
  look_at_silence(now);
  if (has_moved_) moved_s_ = now;
  wait(also, std::clamp((now - moved_s_) * kWaitPart, kLeastWait_s, kMostWait_s));
}

void TcpPull::move_all(double now) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer != rank_ && !peers_[peer].is_lost) receive_from(peer);
  }
  if (has_moved_ || now - chosen_s_ >= pull::Rule{}.poll_s) {
    chosen_s_ = now;
    // Segments need no preparation: each names itself.
    static_cast<void>(puller_.choose(now));
  }
  for (const auto& [reader, segment] : puller_.take_due()) {
    if (!peers_[reader].is_lost) peers_[reader].to_send.push_back(segment);
  }
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer == rank_ || peers_[peer].is_lost) continue;
    tell(peer, now);
    serve(peer);
  }
}

void TcpPull::receive_from(std::size_t peer) {
  Peer& from = peers_[peer];
  const auto hears = [&](const FrameHeader&, std::span<const std::byte> bytes) {
    has_moved_ = true;
    from.silent_s = 0;
    if (!bytes.empty()) hear(peer, bytes);
  };
  const auto takes = [&](const FrameHeader& header, std::span<const std::byte> bytes) {
    has_moved_ = true;
    from.silent_s = 0;
    take_segment(peer, header, bytes);
  };
  // A request must not wait behind segments.
  if (from.control.is_open() && !from.control.receive(hears)) return lose(peer, "connection lost");
  if (from.data.is_open() && !from.data.receive(takes)) return lose(peer, "connection lost");
}

void TcpPull::hear(std::size_t peer, std::span<const std::byte> bytes) {
  try {
    puller_.hear(peer, pull::bulletin_from_bytes(bytes.data(), bytes.size()), now_s());
  } catch (const std::logic_error& fault) {
    lose(peer, fault.what());
  }
}

void TcpPull::take_segment(std::size_t peer, const FrameHeader& header,
                           std::span<const std::byte> bytes) {
  if (header.number >= puller_.segments()) return lose(peer, "sends unknown segments");
  if (!puller_.is_asked(header.number)) return lose(peer, "sends what was not asked for");
  if (!message_->store(header.number, bytes, header.mark)) {
    return lose(peer, fmt::format("sends damaged bytes (segment {})", header.number));
  }
  static_cast<void>(puller_.arrived(peer, header.number, now_s()));
}

void TcpPull::serve(std::size_t peer) {
  Peer& to = peers_[peer];
  if (!to.data.is_open()) return;
  while (true) {
    const std::size_t before = to.data.unsent();
    if (!to.data.flush()) return lose(peer, "connection lost");
    if (to.data.unsent() < before) has_moved_ = true;
    if (to.data.unsent() > 0 || to.to_send.empty()) return;
    const std::uint32_t segment = to.to_send.front();
    to.to_send.pop_front();
    std::vector<std::byte> bytes(message_->map().grid().length(segment));
    const std::uint64_t checksum = message_->load(segment, bytes.data());
    const auto length = static_cast<std::uint32_t>(bytes.size());
    to.data.put({segment, length, checksum}, std::move(bytes));
  }
}

void TcpPull::tell(std::size_t peer, double now) {
  Peer& to = peers_[peer];
  if (!to.control.is_open()) return;
  // One bulletin at a time: what happens meanwhile goes into the next one.
  if (to.control.unsent() == 0) {
    std::vector<std::byte> bytes;
    if (puller_.has_news_for(peer, now)) {
      bytes = pull::to_bytes(puller_.take_news_for(peer, now));
      has_moved_ = true;
    }
    if (!bytes.empty() || now - to.told_s >= kBeat_s) {
      const auto length = static_cast<std::uint32_t>(bytes.size());
      to.control.put({0, length, 0}, std::move(bytes));
      to.told_s = now;
    }
  }
  if (!to.control.flush()) lose(peer, "connection lost");
}

void TcpPull::look_at_silence(double now) {
  const double since_s = std::min(now - std::exchange(looked_s_, now), kLongestLook_s);
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer == rank_ || peers_[peer].is_lost) continue;
    peers_[peer].silent_s += since_s;
    if (peers_[peer].silent_s > setting_.silence.value) {
      lose(peer, fmt::format("silent for {}", format_duration(setting_.silence)));
    }
  }
}

void TcpPull::lose(std::size_t peer, const std::string& reason) {
  Peer& lost = peers_[peer];
  if (lost.is_lost) return;
  lost.is_lost = true;
  lost.control.close();
  lost.data.close();
  lost.to_send.clear();
  puller_.lost(peer);
  if (!puller_.is_dead(peer)) complaints_.push_back({peer, reason});
}

void TcpPull::died(std::size_t rank) {
  puller_.died(rank);
  lose(rank, {});
  has_moved_ = true;
}

std::vector<Complaint> TcpPull::take_complaints() {
  return std::exchange(complaints_, {});
}

bool TcpPull::is_done() const {
  if (!puller_.is_done()) return false;
  return std::ranges::all_of(peers_, [](const Peer& peer) {
    return peer.control.unsent() == 0 && peer.data.unsent() == 0 && peer.to_send.empty();
  });
}

void TcpPull::wait(int also, double seconds) const {
  bool is_awaited = true;
  std::vector<pollfd> watched{{also, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  const auto watch = [&](const Stream& stream) {
    if (!stream.is_open()) return;
    const int events = POLLIN | (stream.unsent() > 0 ? POLLOUT : 0);
    watched.push_back({stream.descriptor(), static_cast<short>(events), 0});
    if (stream.holds_bytes()) is_awaited = false;
  };
  for (const Peer& peer : peers_) {
    watch(peer.control);
    watch(peer.data);
  }
  for (const Stream& stranger : strangers_) watch(stranger);
  const timespec limit{0, is_awaited ? static_cast<long>(seconds * 1e9) : 0};
  static_cast<void>(::ppoll(watched.data(), watched.size(), &limit, nullptr));
}

std::vector<std::size_t> given_up(std::vector<Rift> rifts, std::size_t source) {
  std::vector<std::size_t> lost;
  while (!rifts.empty()) {
    std::map<std::size_t, std::size_t> counts;
    for (const Rift& rift : rifts) {
      ++counts[rift.by];
      ++counts[rift.about];
    }
    // The one with the most; of equals who is complained about, and not the source.
    const auto weight = [&](std::size_t host) {
      const auto is_about = [&](const Rift& rift) { return rift.about == host; };
      return std::tuple(counts[host], host != source, std::ranges::count_if(rifts, is_about), host);
    };
    std::size_t worst = rifts.front().about;
    for (const auto& [host, count] : counts) {
      if (weight(host) > weight(worst)) worst = host;
    }
    lost.push_back(worst);
    std::erase_if(rifts, [&](const Rift& rift) { return rift.by == worst || rift.about == worst; });
  }
  return lost;
}

}  // namespace espalier::runtime::tcp
