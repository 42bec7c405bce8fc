// The rule by which a rank chooses what to ask of whom.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "engine/pull/puller.hpp"

namespace espalier::engine::pull {
namespace {

// From 0 to below 1; the same with every standard library.
double fraction_of(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11U) * 0x1p-53;
}

}  // namespace

std::span<const Puller::Request> Puller::choose(double now) {
  chosen_.clear();
  const std::uint64_t taken = segments_of(job_.rank) + possession_.want(job_.rank).size();
  if (is_stopped_ || another_has_ended_ || taken == count_) return chosen_;
  measure_now(now);
  rank_sources(now);
  for (const auto& [key, source] : ranked_) {
    Peer& peer = peers_[source];
    while (outstanding_ < job_.most_outstanding && may_ask(peer)) {
      const std::optional<std::uint32_t> segment = pick(source);
      if (!segment) {
        peer.barren_until_s = now + job_.rule.poll_s;
        break;
      }
      ask(source, *segment, now);
    }
  }
  return chosen_;
}

void Puller::measure_now(double now) {
  double sum = 0;
  std::size_t measured = 0;
  rates_in_use_ = 0;
  for (const Peer& peer : peers_) {
    if (peer.is_dead || peer.byte_s == 0) continue;
    sum += peer.rate();
    ++measured;
    if (!peer.outstanding.empty()) rates_in_use_ += peer.rate();
  }
  mean_rate_ = measured > 0 ? sum / static_cast<double>(measured) : 0;
  const std::uint64_t missing = count_ - segments_of(job_.rank);
  missing_bytes_ = static_cast<double>(missing) * segment_bytes();
  tried_ = 0;
  for (const Peer& peer : peers_) {
    if (peer.byte_s > 0 || peer.outstanding.empty()) continue;
    const double usual_s = mean_rate_ > 0 ? segment_bytes() / mean_rate_ : INFINITY;
    const double due_s = peer.outstanding.front().at_s + 2 * usual_s + 2 * latency_to(peer);
    if (now <= due_s) ++tried_;
  }
}

// Those that have anything, the fastest first.
void Puller::rank_sources(double now) {
  ranked_.clear();
  for (std::size_t source = 0; source < peers_.size(); ++source) {
    if (!is_living_other(source) || segments_of(source) == 0) continue;
    if (peers_[source].barren_until_s > now) continue;
    const double rate =
        peers_[source].byte_s > 0 ? peers_[source].rate() : job_.rule.hope * mean_rate_;
    ranked_.push_back({rate * (1 + job_.rule.spread * fraction_of(random_)), source});
  }
  std::ranges::sort(ranked_, std::greater<>());
}

bool Puller::may_ask(const Peer& source) const {
  if (source.outstanding.size() >= window_of(source)) return false;
  return source.byte_s > 0 ? !is_late(source) : may_try();
}

// Slow links must not hold the last segments. A round trip makes a link long, not slow.
bool Puller::is_late(const Peer& source) const {
  if (outstanding_ == 0 || source.rate() >= job_.rule.late_share * rates_in_use_) return false;
  const double segments = static_cast<double>(source.outstanding.size() + 1);
  const double needs_s = segments * segment_bytes() * source.byte_s;
  const double remaining_s = missing_bytes_ / rates_in_use_;
  const double least_s = 4 * job_.rule.poll_s + 2 * latency_to(source);
  return needs_s > std::max(job_.rule.late_part * remaining_s, least_s);
}

bool Puller::may_try() const {
  return outstanding_ == 0 || tried_ < job_.rule.most_tried;
}

std::size_t Puller::window_of(const Peer& source) const {
  if (source.byte_s == 0) return 1;
  double round_trip_s = 2 * latency_to(source) + job_.rule.slack_s;
  // A request waits behind what this rank serves; worth while with a source that can serve far
  // more.
  if (source.all_out > job_.rule.outstanding * service_.rate()) round_trip_s += service_.delay_s();
  const double in_flight = source.rate() * round_trip_s / segment_bytes();
  const double most = static_cast<double>(job_.rule.most_outstanding);
  const double window = std::min(std::ceil(in_flight + job_.rule.slack), most);
  const double grown = 1 + job_.rule.growth * static_cast<double>(source.arrivals);
  return static_cast<std::size_t>(job_.message.source() ? window : std::min(window, grown));
}

// What these have or want is not asked of the source: it comes to a host, and across a thin or long
// link, once.
void Puller::find_near(std::size_t source) {
  near_.clear();
  const Peer& far = peers_[source];
  const bool is_outside = has_mates_ && !far.shares_host;
  const bool waits = outstanding_ > 0;
  const bool is_slow = waits && far.byte_s > 0 && far.rate() * job_.rule.far < far.best_out;
  const bool is_distant = waits && far.round_trip_s > job_.rule.distant_s;
  if (!is_outside && !is_slow && !is_distant) return;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank == source || !is_living_other(rank)) continue;
    const Peer& peer = peers_[rank];
    const bool is_mate = is_outside && peer.shares_host;
    const bool is_faster = is_slow && peer.rate() >= job_.rule.near * far.rate();
    const bool is_nearer = is_distant && peer.round_trip_s > 0 &&
                           peer.round_trip_s * job_.rule.nearer <= far.round_trip_s;
    const bool has_all = rank == job_.message.source();
    if (is_mate || (!has_all && (is_faster || is_nearer))) near_.push_back(rank);
  }
}

std::uint64_t Puller::askable(std::size_t source, std::size_t word) const {
  std::uint64_t mask = possession_.have(source).words()[word] &
                       ~possession_.have(job_.rank).words()[word] &
                       ~possession_.want(job_.rank).words()[word];
  for (const std::size_t rank : near_) {
    if (mask == 0) break;
    mask &= ~possession_.have(rank).words()[word] & ~possession_.want(rank).words()[word];
  }
  return mask;
}

// The rarest of some segments from a random place on, at random among equals.
std::optional<std::uint32_t> Puller::pick(std::size_t source) {
  find_near(source);
  const std::size_t words = possession_.have(source).words().size();
  const std::size_t first = random_() % words;
  std::optional<std::uint32_t> best;
  std::uint32_t best_rarity = 0;
  std::size_t equals = 0;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < words && seen < job_.rule.candidates; ++i) {
    const std::size_t word = first + i < words ? first + i : first + i - words;
    for (std::uint64_t mask = askable(source, word); mask != 0; mask &= mask - 1) {
      const auto segment =
          static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(mask)));
      const std::uint32_t rarity = possession_.rarity(segment);
      ++seen;
      if (best && rarity > best_rarity) continue;
      equals = best && rarity == best_rarity ? equals + 1 : 1;
      best_rarity = rarity;
      if (equals == 1 || random_() % equals == 0) best = segment;
    }
  }
  return best;
}

void Puller::ask(std::size_t source, std::uint32_t segment, double now) {
  Peer& peer = peers_[source];
  if (peer.byte_s == 0) {
    ++tried_;
  } else if (peer.outstanding.empty()) {
    rates_in_use_ += peer.rate();
  }
  peer.outstanding.push_back({segment, now});
  ++outstanding_;
  may_end_ = false;
  peer.requests.push_back(segment);
  possession_.add_want(job_.rank, segment);
  tell(News::kWant, segment);
  chosen_.push_back({source, segment});
}

}  // namespace espalier::engine::pull
