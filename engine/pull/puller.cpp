#include "engine/pull/puller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/errors.hpp"

namespace espalier::engine::pull {
namespace {

// A rate is news when it differs so much from the one that was told.
constexpr double kNotable = 1.25;
// Of a byte: no link is faster, and several arrivals that are found at once are not infinitely
// fast.
constexpr double kLeastByte_s = 1e-12;
// Of usual_segment().
constexpr std::uint64_t kSmallestSegment = std::uint64_t{8} << 10U;
constexpr std::uint64_t kFewSegments = 1024;
constexpr std::uint64_t kManySegments = 16384;

std::uint64_t rounded_up(std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 4096;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

bool differs_notably(double now, double told) {
  return now > told * kNotable || now * kNotable < told;
}

// Sums of these tell sets of ranks apart (the mixing function of SplitMix64).
std::uint64_t mark_of(std::size_t rank) {
  std::uint64_t mark = (rank + 1) * 0x9e3779b97f4a7c15;
  mark = (mark ^ mark >> 30U) * 0xbf58476d1ce4e5b9;
  mark = (mark ^ mark >> 27U) * 0x94d049bb133111eb;
  return mark ^ mark >> 31U;
}

std::uint64_t checked_count(const PulledMessage& message) {
  require_few_segments(message);
  return message.segments();
}

}  // namespace

void require_few_segments(const PulledMessage& message) {
  if (message.segments() <= kMostSegments) return;
  throw InputError(
      fmt::format("a message of {} bytes has {} segments of {} bytes; make them larger, "
                  "for at most {}",
                  message.bytes(), message.segments(), message.segment_bytes(), kMostSegments));
}

std::uint64_t usual_segment(std::uint64_t message_bytes, std::uint64_t most) {
  const std::uint64_t small = rounded_up(message_bytes / kFewSegments);
  const std::uint64_t large = rounded_up(message_bytes / kManySegments);
  return std::max(std::clamp(small, kSmallestSegment, most), large);
}

planner::SegmentGrid grid_of(std::uint64_t message_bytes, std::optional<std::uint64_t> segment) {
  const std::uint64_t wanted = segment ? *segment : usual_segment(message_bytes, kMostOverTcp);
  return {message_bytes, std::min(wanted, std::max<std::uint64_t>(message_bytes, 1))};
}

Puller::Puller(const Job& job)
    : job_(job),
      count_(checked_count(job.message)),
      possession_(job.ranks, count_),
      peers_(job.ranks),
      service_(job.ranks, segment_bytes(), job.rule.poll_s),
      random_(job.seed) {
  for (std::size_t rank = 0; rank < job_.host_of.size(); ++rank) {
    peers_[rank].shares_host = rank != job_.rank && job_.host_of[rank] == job_.host_of[job_.rank];
    has_mates_ = has_mates_ || peers_[rank].shares_host;
  }
  job_.message.for_each_segment(
      [&](std::uint64_t i, std::size_t origin) { possession_.add_have(origin, i); });
  if (!job_.has.words().empty()) {
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (!job_.has.contains(i) || has(i)) continue;
      possession_.add_have(job_.rank, i);
      tell(News::kHave, static_cast<std::uint32_t>(i));
    }
  }
  conclude();
}

void Puller::require_segment(std::uint64_t segment) const {
  if (segment < count_) return;
  throw std::logic_error(fmt::format("segment {} of {}", segment, count_));
}

void Puller::hear(std::size_t from, const Bulletin& bulletin, double now) {
  Peer& peer = peers_[from];
  if (peer.is_dead) return;
  if (peer.has_ended) throw std::logic_error("a rank speaks after its last word");
  for (const std::uint32_t segment : bulletin.requests) {
    require_segment(segment);
    if (!has(segment)) throw std::logic_error("a rank is asked for what it does not have");
    possession_.add_want(from, segment);
    service_.ask(from, segment, now);
  }
  if (!bulletin.requests.empty()) peer.has_asked = true;
  for (const NewsItem& item : bulletin.news) hear_news(from, item, now);
  peer.sent_s = bulletin.sent_s;
  peer.heard_s = now;
  peer.best_out = bulletin.best_out;
  peer.all_out = bulletin.rate;
  if (bulletin.from_reader > 0) peer.gets = bulletin.from_reader;
  peer.dead = bulletin.dead;
  if (bulletin.echo_s > 0) {
    const double round_trip = std::max(now - bulletin.echo_s, 0.0);
    if (peer.round_trip_s == 0 || round_trip < peer.round_trip_s) peer.round_trip_s = round_trip;
  }
  if (bulletin.is_stopped) is_stopped_ = true;
  if (bulletin.is_last) {
    peer.has_ended = true;
    another_has_ended_ = true;
  }
  conclude();
}

void Puller::hear_news(std::size_t from, const NewsItem& item, double now) {
  require_segment(item.segment);
  switch (item.kind) {
    case News::kHave:
      possession_.add_have(from, item.segment);
      service_.note_arrival(from, item.segment, length_of(item.segment), now);
      peers_[from].barren_until_s = 0;
      break;
    case News::kWant:
      possession_.add_want(from, item.segment);
      break;
    case News::kUnwant:
      possession_.drop_want(from, item.segment);
      break;
  }
}

std::optional<double> Puller::arrived(std::size_t from, std::uint64_t segment, double now) {
  Peer& source = peers_[from];
  const auto found = std::ranges::find(source.outstanding, segment, &Asked::segment);
  if (found == source.outstanding.end()) return {};
  const double begin = note_time(source, *found, now);
  source.outstanding.erase(found);
  --outstanding_;
  possession_.add_have(job_.rank, segment);
  tell(News::kHave, static_cast<std::uint32_t>(segment));
  if (outstanding_ == 0) {
    // Rules that need something outstanding have refused sources.
    for (Peer& peer : peers_) peer.barren_until_s = 0;
  }
  conclude();
  return begin;
}

double Puller::latency_to(const Peer& source) const {
  return source.round_trip_s > 0 ? source.round_trip_s / 2 : job_.rule.latency_s;
}

// A segment's time begins a round trip after it was asked for, when it would have arrived had it no
// length, or when the segment before it has arrived, whichever is later. The way back counted as
// time, the windows of sources that are far away would be too small to keep their links busy.
double Puller::note_time(Peer& source, const Asked& asked, double now) const {
  const double took_s = now - asked.at_s;
  double round_trip_s = 2 * latency_to(source);
  if (took_s < round_trip_s) {
    // It was too long, so that nothing is known of the segment's part in this time.
    source.round_trip_s = took_s;
    round_trip_s = took_s / 2;
  }
  const double begin = std::max(asked.at_s + round_trip_s, source.last_arrival_s);
  const double byte_s = std::max((now - begin) / length_of(asked.segment), kLeastByte_s);
  const double newest = job_.rule.newest;
  source.byte_s = source.byte_s > 0 ? (1 - newest) * source.byte_s + newest * byte_s : byte_s;
  ++source.arrivals;
  source.last_arrival_s = now;
  return begin;
}

void Puller::died(std::size_t rank) {
  Peer& peer = peers_[rank];
  if (peer.is_dead) return;
  peer.is_dead = true;
  dead_ += mark_of(rank);
  possession_.forget(rank);
  for (const Asked& asked : peer.outstanding) {
    possession_.drop_want(job_.rank, asked.segment);
    tell(News::kUnwant, asked.segment);
  }
  outstanding_ -= peer.outstanding.size();
  peer.outstanding.clear();
  peer.requests.clear();
  peer.gets = 0;
  service_.forget(rank);
  for (Peer& other : peers_) other.barren_until_s = 0;
  drop_told_news();
  conclude();
}

void Puller::stop() {
  is_stopped_ = true;
  conclude();
}

void Puller::conclude() {
  best_out_ = 0;
  for (const Peer& peer : peers_) best_out_ = std::max(best_out_, peer.gets);
  may_end_ = may_end();
}

bool Puller::has_news_for(std::size_t rank, double now) const {
  const Peer& peer = peers_[rank];
  if (!is_living_other(rank) || peer.told_last) return false;
  if (!peer.requests.empty() || may_end_ || is_stopped_ != peer.told_stopped) return true;
  // Its windows need the round trip, and the source may have nothing else to tell.
  if (peer.has_asked && !peer.is_echoed) return true;
  const std::size_t untold = dropped_news_ + news_.size() - peer.told;
  if (untold >= job_.most_items) return true;
  const double quiet_s = job_.rule.quiet_s * static_cast<double>(job_.ranks);
  if (peer.told_s > 0 && now - peer.told_s < quiet_s) return false;
  if (untold > 0 || dead_ != peer.told_dead) return true;
  return differs_notably(best_out_, peer.told_best_out) ||
         differs_notably(service_.rate(), peer.told_rate);
}

Bulletin Puller::take_news_for(std::size_t rank, double now) {
  Peer& peer = peers_[rank];
  Bulletin bulletin{
      .sent_s = now, .best_out = best_out_, .rate = service_.rate(), .from_reader = peer.rate()};
  peer.told_s = now;
  if (peer.heard_s > 0) {
    bulletin.echo_s = peer.sent_s + (now - peer.heard_s);
    peer.is_echoed = true;
  }
  const std::size_t asked = std::min(peer.requests.size(), job_.most_items);
  const auto end = peer.requests.begin() + static_cast<std::ptrdiff_t>(asked);
  bulletin.requests.assign(peer.requests.begin(), end);
  peer.requests.erase(peer.requests.begin(), end);
  const std::size_t first = peer.told - dropped_news_;
  const std::size_t last = std::min(news_.size(), first + job_.most_items - asked);
  bulletin.news.assign(news_.begin() + static_cast<std::ptrdiff_t>(first),
                       news_.begin() + static_cast<std::ptrdiff_t>(last));
  peer.told = dropped_news_ + last;
  peer.told_best_out = bulletin.best_out;
  peer.told_rate = bulletin.rate;
  // Neither is said before all that led to it is told.
  const bool is_all = peer.requests.empty() && last == news_.size();
  if (is_all) peer.told_dead = dead_;
  bulletin.dead = peer.told_dead;
  bulletin.is_stopped = peer.told_stopped = is_stopped_;
  bulletin.is_last = peer.told_last = is_all && may_end_;
  drop_told_news();
  return bulletin;
}

void Puller::drop_told_news() {
  std::size_t least = dropped_news_ + news_.size();
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (is_living_other(rank) && !peers_[rank].told_last)
      least = std::min(least, peers_[rank].told);
  }
  const std::size_t drop = least - dropped_news_;
  news_.erase(news_.begin(), news_.begin() + static_cast<std::ptrdiff_t>(drop));
  dropped_news_ = least;
}

std::span<const Service::Due> Puller::take_due() {
  if (is_stopped_) return service_.take_due({}, INFINITY);
  double longest_s = 0;
  for (const Peer& peer : peers_) {
    if (!peer.is_dead) longest_s = std::max(longest_s, peer.round_trip_s);
  }
  return service_.take_due(preferred_reader(), job_.rule.queue_s + longest_s);
}

std::optional<std::size_t> Puller::preferred_reader() const {
  std::optional<std::size_t> best;
  double rate = 0;
  double second_rate = 0;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!is_living_other(rank)) continue;
    const double other_rate = std::min(rate, peers_[rank].all_out);
    if (peers_[rank].all_out > rate) {
      best = rank;
      rate = peers_[rank].all_out;
    }
    second_rate = std::max(second_rate, other_rate);
  }
  if (second_rate == 0 || rate < job_.rule.outstanding * second_rate) return std::nullopt;
  // Arrivals that it does not tell would never end.
  const std::uint64_t has = segments_of(*best);
  return has > 0 && has < count_ ? best : std::nullopt;
}

bool Puller::lacks_any() const {
  if (is_complete()) return false;
  const std::span<const std::uint64_t> mine = possession_.have(job_.rank).words();
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!is_living_other(rank)) continue;
    const std::span<const std::uint64_t> theirs = possession_.have(rank).words();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if ((theirs[i] & ~mine[i]) != 0) return true;
    }
  }
  return false;
}

bool Puller::may_end() const {
  if (outstanding_ > 0) return false;
  if (is_stopped_ || another_has_ended_) return true;
  const std::uint64_t mine = segments_of(job_.rank);
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!is_living_other(rank)) continue;
    const Peer& peer = peers_[rank];
    if (peer.dead != dead_ || segments_of(rank) != mine) return false;
  }
  return !lacks_any();
}

bool Puller::is_done() const {
  if (!may_end_) return false;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!is_living_other(rank)) continue;
    if (!peers_[rank].told_last || !peers_[rank].has_ended) return false;
  }
  return true;
}

}  // namespace espalier::engine::pull
