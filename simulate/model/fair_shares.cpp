#include "simulate/model/fair_shares.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace espalier::simulate {

namespace {

// Beside a lane of weight 1 less would be lost in the digits of a sum, and 0 would never end.
constexpr double kLeastWeight = 1e-12;

}  // namespace

std::uint32_t FairShares::add(std::span<const Holding> needs) {
  Lane lane;
  lane.first = static_cast<std::uint32_t>(needs_.size());
  needs_.insert(needs_.end(), needs.begin(), needs.end());
  lane.last = static_cast<std::uint32_t>(needs_.size());
  lanes_.push_back(lane);
  return static_cast<std::uint32_t>(lanes_.size() - 1);
}

void FairShares::weigh(std::span<const double> latencies_s) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const double latency : latencies_s) {
    if (latency > 0) shortest = std::min(shortest, latency);
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const double latency = latencies_s[i];
    if (latency > 0) lanes_[i].weight = std::max(shortest / latency, kLeastWeight);
  }
}

void FairShares::open(std::uint32_t lane) {
  lanes_[lane].is_open = true;
  for (const Holding& need : needs(lane)) resources_[need.resource].users.push_back(lane);
  touch(lane);
}

void FairShares::close(std::uint32_t index) {
  Lane& lane = lanes_[index];
  lane.is_open = false;
  if (std::exchange(lane.is_held, false)) --resources_[lane.bottleneck].held;
  unload(index);
  for (const Holding& need : needs(index)) {
    Resource& resource = resources_[need.resource];
    resource.users.erase(std::ranges::find(resource.users, index));
    if (resource.users.empty()) resource.left = 1;  // without the sums' rounding
  }
  touch(index);
}

std::span<const std::uint32_t> FairShares::compute() {
  gathered_.clear();
  free_.clear();
  computed_.clear();
  free_what_changed();
  do {
    fill();
  } while (free_what_is_unfair());
  for (const std::uint32_t resource : gathered_) resources_[resource].is_gathered = false;
  for (const std::uint32_t index : free_) {
    Lane& lane = lanes_[index];
    Resource& bottleneck = resources_[lane.bottleneck];
    ++bottleneck.held;
    lane.is_held = true;
    bottleneck.held_level = lane.level;
    const double before = std::exchange(lane.rate, lane.level * lane.weight);
    if (lane.rate != before || lane.is_changed) computed_.push_back(index);
    lane.is_free = lane.is_changed = false;
  }
  return computed_;
}

void FairShares::free_what_changed() {
  for (const std::uint32_t index : changed_) {
    gather_resources_of(index);
    if (!lanes_[index].is_open) continue;
    lanes_[index].is_changed = true;
    free(index);
  }
  changed_.clear();
  const std::size_t own = gathered_.size();
  for (std::size_t i = 0; i < own; ++i) {
    if (resources_[gathered_[i]].held == 0) continue;
    free_users(gathered_[i], [&](const Lane& lane) { return lane.bottleneck == gathered_[i]; });
  }
}

void FairShares::free(std::uint32_t index) {
  Lane& lane = lanes_[index];
  if (std::exchange(lane.is_free, true)) return;
  if (std::exchange(lane.is_held, false)) --resources_[lane.bottleneck].held;
  free_.push_back(index);
  gather_resources_of(index);
}

void FairShares::free_users(std::uint32_t resource, const auto& is_unfair) {
  for (const std::uint32_t lane : resources_[resource].users) {
    if (!lanes_[lane].is_free && is_unfair(lanes_[lane])) free(lane);
  }
}

void FairShares::gather_resources_of(std::uint32_t lane) {
  for (const Holding& need : needs(lane)) {
    if (!std::exchange(resources_[need.resource].is_gathered, true))
      gathered_.push_back(need.resource);
  }
}

void FairShares::unload(std::uint32_t index) {
  const double load = std::exchange(lanes_[index].load, 0);
  for (const Holding& need : needs(index)) resources_[need.resource].left += load * need.seconds;
}

// Gives the free lanes their levels, beside the others.
void FairShares::fill() {
  for (const std::uint32_t index : gathered_) {
    Resource& resource = resources_[index];
    resource.is_bottleneck = false;
    resource.waiting = 0;
    resource.demand = resource.level = 0;
  }
  for (const std::uint32_t index : free_) {
    unload(index);
    Lane& lane = lanes_[index];
    lane.is_waiting = true;
    for (const Holding& need : needs(index)) {
      resources_[need.resource].demand += lane.weight * lane.count * need.seconds;
      ++resources_[need.resource].waiting;
    }
  }
  for (const std::uint32_t resource : gathered_) {
    if (resources_[resource].waiting > 0)
      levels_.push_back({level_of(resources_[resource], 0), resource});
  }
  std::ranges::make_heap(levels_, std::greater());
  while (!levels_.empty()) {
    std::ranges::pop_heap(levels_, std::greater());
    const Level first = levels_.back();
    levels_.pop_back();
    Resource& resource = resources_[first.resource];
    if (resource.waiting == 0) continue;
    const double level = level_of(resource, first.level);
    if (!levels_.empty() && level > levels_.front().level) {
      levels_.push_back({level, first.resource});
      std::ranges::push_heap(levels_, std::greater());
      continue;
    }
    resource.is_bottleneck = true;
    for (const std::uint32_t lane : resource.users) {
      if (lanes_[lane].is_waiting) fix_level(lane, {level, first.resource});
    }
  }
}

// Levels only rise as they are fixed, so one level is a lower bound on later ones.
double FairShares::level_of(const Resource& resource, double least) {
  return std::max(least, resource.left / resource.demand);
}

void FairShares::fix_level(std::uint32_t index, const Level& level) {
  Lane& lane = lanes_[index];
  lane.is_waiting = false;
  lane.level = level.level;
  lane.bottleneck = level.resource;
  const double weight = lane.weight * lane.count;
  lane.load = level.level * weight;
  for (const Holding& need : needs(index)) {
    Resource& resource = resources_[need.resource];
    resource.left -= lane.load * need.seconds;
    resource.demand -= weight * need.seconds;
    resource.level = level.level;
    --resource.waiting;
  }
}

bool FairShares::free_what_is_unfair() {
  const std::size_t free_before = free_.size();
  const std::size_t filled = gathered_.size();
  for (std::size_t i = 0; i < filled; ++i) {
    const std::uint32_t index = gathered_[i];
    const Resource& resource = resources_[index];
    const double level = resource.level;
    const bool is_full = resource.left <= kRounding;
    if (resource.held > 0 && (!is_full || resource.held_level < (1 - kRounding) * level)) {
      free_users(index, [&](const Lane& lane) { return lane.bottleneck == index; });
    }
    if (resource.is_bottleneck) {
      free_users(index, [&](const Lane& lane) { return lane.level > (1 + kRounding) * level; });
    }
  }
  return free_.size() > free_before;
}

}  // namespace espalier::simulate
