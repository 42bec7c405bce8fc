#include "engine/pull/service.hpp"

#include <algorithm>

namespace espalier::engine::pull {

void Service::ask(std::size_t reader, std::uint32_t segment, double now) {
  if (since_s_ == 0) since_s_ = now;
  Reader& asks = readers_[reader];
  if (asks.waiting.empty()) asks.passed_over = 0;
  asks.waiting.push_back(segment);
}

void Service::note_arrival(std::size_t reader, std::uint32_t segment, double bytes, double now) {
  std::vector<std::uint32_t>& sent = readers_[reader].on_the_way;
  const auto found = std::ranges::find(sent, segment);
  if (found == sent.end()) return;
  sent.erase(found);
  --on_the_way_;
  bytes_ += bytes;
  ++arrivals_;
  // Readers that share a link get their segments at the same time, one each.
  constexpr std::size_t kSample = 16;
  const double took_s = now - since_s_;
  if (arrivals_ < std::max(kSample, readers_.size()) || took_s < least_s_) return;
  measure(bytes_ / took_s);
  since_s_ = now;
  bytes_ = 0;
  arrivals_ = 0;
  has_waited_ = false;
}

// News of arrivals may be late because the readers' uplinks are thin, not this one. So from time to
// time twice as many are on the way, for good where readers then get more.
void Service::measure(double rate) {
  constexpr double kMore = 1.25;
  constexpr std::size_t kPause = 4;
  rate_ = std::max(rate_, rate);
  if (!is_limited()) return;
  most_ = std::max(most_, static_cast<std::size_t>(rate_ * most_s_ / segment_bytes_));
  if (!has_waited_) return;
  if (rate_before_ && rate < kMore * *rate_before_) {
    most_ /= 2;
    rate_before_.reset();
    pause_ = kPause;
  } else if (pause_ > 0) {
    --pause_;
  } else {
    most_ *= 2;
    rate_before_ = rate;
  }
}

void Service::forget(std::size_t reader) {
  on_the_way_ -= readers_[reader].on_the_way.size();
  readers_[reader] = {};
}

void Service::send(std::size_t index) {
  Reader& reader = readers_[index];
  const std::uint32_t segment = reader.waiting.front();
  reader.waiting.pop_front();
  reader.passed_over = 0;
  reader.on_the_way.push_back(segment);
  ++on_the_way_;
  due_.push_back({index, segment});
}

bool Service::is_limited() const {
  constexpr double kMost = 4;
  return rate_ > 0 && rate_ * most_s_ <= kMost * segment_bytes_;
}

std::span<const Service::Due> Service::take_due(std::optional<std::size_t> preferred,
                                                double most_s) {
  due_.clear();
  most_s_ = most_s;
  if (preferred) {
    while (!readers_[*preferred].waiting.empty() && has_room()) {
      send(*preferred);
      for (Reader& reader : readers_) ++reader.passed_over;
    }
  }
  // A thin uplink needs long for each.
  const std::size_t most_passed_over =
      is_limited() ? std::min(2 * most_, kMostPassedOver) : kMostPassedOver;
  const bool others_wait = preferred && !readers_[*preferred].on_the_way.empty();
  for (std::size_t skipped = 0; skipped < readers_.size() && has_room();) {
    const std::size_t index = next_;
    next_ = (next_ + 1) % readers_.size();
    const Reader& reader = readers_[index];
    if (reader.waiting.empty() || (others_wait && reader.passed_over < most_passed_over)) {
      ++skipped;
    } else {
      send(index);
      skipped = 0;
    }
  }
  const auto waits = [](const Reader& reader) { return !reader.waiting.empty(); };
  has_waited_ = has_waited_ || (!has_room() && std::ranges::any_of(readers_, waits));
  return due_;
}

}  // namespace espalier::engine::pull
