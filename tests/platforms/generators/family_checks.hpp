// Helpers for the tests of generated families.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/platforms/figures.hpp"

namespace espalier::testing {

// Whether every node can be reached from the first.
inline bool is_connected(const platforms::Platform& platform) {
  std::vector<bool> reached(platform.nodes().size());
  std::vector<platforms::NodeId> left{platforms::NodeId{0}};
  std::size_t count = 1;
  reached[0] = true;
  while (!left.empty()) {
    const auto [first, last] = platform.arcs_out_of(left.back());
    left.pop_back();
    for (std::uint32_t i = first; i < last; ++i) {
      const platforms::NodeId to = platform.arcs()[i].to;
      if (reached[index_of(to)]) continue;
      reached[index_of(to)] = true;
      ++count;
      left.push_back(to);
    }
  }
  return count == reached.size();
}

// Bytes per second of the arc; 0 if there is none.
inline double rate(const platforms::Platform& platform, std::string_view from,
                   std::string_view to) {
  const auto arc =
      platform.find_arc(platform.find_node(from).value(), platform.find_node(to).value());
  return arc ? platform.arc(*arc).bandwidth.value : 0;
}

}  // namespace espalier::testing
