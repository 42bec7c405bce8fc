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
  rate_ = std::max(rate_, bytes_ / took_s);
  since_s_ = now;
  bytes_ = 0;
  arrivals_ = 0;
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

bool Service::has_room(double most_s) const {
  constexpr std::size_t kLeast = 2;
  constexpr double kMost = 4;
  const double segments = rate_ * most_s / segment_bytes_;
  if (rate_ == 0 || segments > kMost || on_the_way_ < kLeast) return true;
  return static_cast<double>(on_the_way_) < segments;
}

std::span<const Service::Due> Service::take_due(std::optional<std::size_t> preferred,
                                                double most_s) {
  due_.clear();
  if (preferred) {
    while (!readers_[*preferred].waiting.empty() && has_room(most_s)) {
      send(*preferred);
      for (Reader& reader : readers_) ++reader.passed_over;
    }
  }
  const bool others_wait = preferred && !readers_[*preferred].on_the_way.empty();
  for (std::size_t skipped = 0; skipped < readers_.size() && has_room(most_s);) {
    const std::size_t index = next_;
    next_ = (next_ + 1) % readers_.size();
    const Reader& reader = readers_[index];
    if (reader.waiting.empty() || (others_wait && reader.passed_over < kMostPassedOver)) {
      ++skipped;
    } else {
      send(index);
      skipped = 0;
    }
  }
  return due_;
}

}  // namespace espalier::engine::pull
