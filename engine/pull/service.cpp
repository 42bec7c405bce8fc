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

void Service::send(std::size_t index) {
  Reader& reader = readers_[index];
  const std::uint32_t segment = reader.waiting.front();
  reader.waiting.pop_front();
  reader.passed_over = 0;
  reader.on_the_way.push_back(segment);
  due_.push_back({index, segment});
}

std::span<const Service::Due> Service::take_due(std::optional<std::size_t> preferred) {
  due_.clear();
  if (preferred) {
    for (std::size_t left = readers_[*preferred].waiting.size(); left > 0; --left) {
      send(*preferred);
      for (Reader& reader : readers_) ++reader.passed_over;
    }
  }
  const bool others_wait = preferred && !readers_[*preferred].on_the_way.empty();
  for (std::size_t index = 0; index < readers_.size(); ++index) {
    Reader& reader = readers_[index];
    while (!reader.waiting.empty() && (!others_wait || reader.passed_over >= kMostPassedOver)) {
      send(index);
    }
  }
  return due_;
}

}  // namespace espalier::engine::pull
