// Networks of many ranks in clusters.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/runtime/measure/calculated_network.hpp"

namespace espalier::testing {

// How ranks are numbered.
enum class Numbering { kInOrder, kCyclic, kShuffled };

struct Racks {
  std::size_t count;
  std::size_t size;
  Numbering numbering = Numbering::kInOrder;

  [[nodiscard]] std::size_t ranks() const { return count * size; }
  // The ranks in each rack, ascending.
  [[nodiscard]] std::vector<std::vector<std::size_t>> members() const {
    std::vector<std::size_t> order(ranks());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(5);
    for (std::size_t i = ranks(); i > 1 && numbering == Numbering::kShuffled; --i) {
      std::swap(order[i - 1], order[random() % i]);
    }
    std::vector<std::vector<std::size_t>> racks(count);
    for (std::size_t place = 0; place < ranks(); ++place) {
      const bool is_cyclic = numbering == Numbering::kCyclic;
      racks[is_cyclic ? place % count : place / size].push_back(order[place]);
    }
    for (auto& rack : racks) std::ranges::sort(rack);
    return racks;
  }
  // Ascending.
  [[nodiscard]] std::vector<std::size_t> outside(std::size_t rack) const {
    const std::vector<std::vector<std::size_t>> racks = members();
    std::vector<std::size_t> others;
    for (std::size_t other = 0; other < count; ++other) {
      if (other != rack) others.insert(others.end(), racks[other].begin(), racks[other].end());
    }
    std::ranges::sort(others);
    return others;
  }

  // Hosts with cables of these rates, and a cable in either direction from each rack to a core that
  // is never saturated. Two racks are connected directly.
  [[nodiscard]] Truth behind_uplinks(const std::vector<double>& cables, double uplink_Bps) const {
    Truth truth = Truth::star(cables);
    for (std::size_t rack = 0; rack < count; ++rack) {
      truth.join(members()[rack], outside(rack), uplink_Bps);
      if (count > 2) truth.join(outside(rack), members()[rack], uplink_Bps);
    }
    return truth;
  }
  [[nodiscard]] Truth behind_uplinks(double host_Bps, double uplink_Bps) const {
    return behind_uplinks(std::vector<double>(ranks(), host_Bps), uplink_Bps);
  }
};

}  // namespace espalier::testing
