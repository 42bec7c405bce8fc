#include "simulate/model/fair_shares.hpp"

#include <algorithm>
#include <limits>

#include "simulate/model/agenda.hpp"

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
  for (const Holding& need : needs(lane)) users_[need.resource].push_back(lane);
  touch(lane);
}

void FairShares::close(std::uint32_t lane) {
  for (const Holding& need : needs(lane)) {
    std::vector<std::uint32_t>& users = users_[need.resource];
    users.erase(std::ranges::find(users, lane));
  }
  touch(lane);
}

void FairShares::gather_resources_of(std::uint32_t lane) {
  for (const Holding& need : needs(lane)) {
    if (is_gathered_[need.resource] != 0) continue;
    is_gathered_[need.resource] = 1;
    shares_[need.resource] = {};
    resources_.push_back(need.resource);
  }
}

// Gathers all lanes that are connected to a changed one through resources in use.
std::span<const std::uint32_t> FairShares::gather() {
  resources_.clear();
  affected_.clear();
  for (const std::uint32_t lane : changed_) gather_resources_of(lane);
  changed_.clear();
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    for (const std::uint32_t lane : users_[resources_[i]]) {
      if (lanes_[lane].is_waiting) continue;
      lanes_[lane].is_waiting = true;
      affected_.push_back(lane);
      gather_resources_of(lane);
    }
  }
  for (const std::uint32_t resource : resources_) is_gathered_[resource] = 0;
  return affected_;
}

void FairShares::compute() {
  for (const std::uint32_t index : affected_) {
    const double weight = lanes_[index].weight * lanes_[index].count;
    for (const Holding& need : needs(index)) {
      Share& share = shares_[need.resource];
      share.demand += weight * need.seconds;
      ++share.lanes;
    }
  }
  // Levels only rise as rates are fixed, so a level is a lower bound on later ones.
  Earliest<Level> levels;
  const auto level_of = [&](std::uint32_t resource, double least) {
    const Share& share = shares_[resource];
    return std::max(least, share.left / share.demand);
  };
  for (const std::uint32_t resource : resources_) {
    if (shares_[resource].lanes > 0) levels.push({level_of(resource, 0), resource});
  }
  while (!levels.empty()) {
    const Level first = levels.top();
    levels.pop();
    if (shares_[first.resource].lanes == 0) continue;
    const double level = level_of(first.resource, first.level);
    if (!levels.empty() && level > levels.top().level) {
      levels.push({level, first.resource});
      continue;
    }
    for (const std::uint32_t lane : users_[first.resource]) {
      if (lanes_[lane].is_waiting) fix_rate(lane, level);
    }
  }
}

void FairShares::fix_rate(std::uint32_t index, double level) {
  Lane& lane = lanes_[index];
  lane.is_waiting = false;
  lane.rate = level * lane.weight;
  const double weight = lane.weight * lane.count;
  for (const Holding& need : needs(index)) {
    Share& share = shares_[need.resource];
    share.left -= level * weight * need.seconds;
    share.demand -= weight * need.seconds;
    --share.lanes;
  }
}

}  // namespace espalier::simulate
