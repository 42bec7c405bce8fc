#include "planner/problem/reach.hpp"

namespace espalier::planner {

std::vector<char> reached_from(const platforms::Platform& platform, platforms::NodeId from,
                               const std::vector<char>& closed) {
  std::vector<char> reached(platform.nodes().size(), 0);
  std::vector<platforms::NodeId> frontier{from};
  reached[index_of(from)] = 1;
  while (!frontier.empty()) {
    const auto [first, last] = platform.arcs_out_of(frontier.back());
    frontier.pop_back();
    for (std::uint32_t arc = first; arc < last; ++arc) {
      const platforms::NodeId head = platform.arcs()[arc].to;
      if (reached[index_of(head)] != 0) continue;
      if (!closed.empty() && closed[index_of(head)] != 0) continue;
      reached[index_of(head)] = 1;
      frontier.push_back(head);
    }
  }
  return reached;
}

}  // namespace espalier::planner
