#include "planner/problem/fastest_paths.hpp"

#include <algorithm>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <utility>

namespace espalier::planner {

FastestPaths::FastestPaths(const platforms::Platform& platform, std::vector<double> arc_s)
    : platform_(platform), weight_(std::move(arc_s)) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const platforms::Arc& arc : platform_.arcs()) {
    ends.emplace_back(index_of(arc.from), index_of(arc.to));
  }
  // The platform's arcs are sorted by sender, so edge i of the graph is arc i.
  graph_ = Graph(boost::edges_are_sorted, ends.begin(), ends.end(),
                 static_cast<std::uint32_t>(platform_.nodes().size()));
}

std::vector<std::uint32_t> FastestPaths::path(platforms::NodeId from, platforms::NodeId to) {
  if (const auto direct = platform_.find_arc(from, to)) {
    return {static_cast<std::uint32_t>(*direct)};
  }
  if (from_ != from) run_from(from);
  std::vector<std::uint32_t> arcs;
  if (before_[index_of(to)] == index_of(to)) return arcs;  // Dijkstra's mark of the unreached
  for (platforms::NodeId node = to; node != from;) {
    const platforms::NodeId before{before_[index_of(node)]};
    arcs.push_back(static_cast<std::uint32_t>(*platform_.find_arc(before, node)));
    node = before;
    work_ += 8;
  }
  std::reverse(arcs.begin(), arcs.end());
  return arcs;
}

std::span<const double> FastestPaths::times_from(platforms::NodeId from) {
  if (from_ != from) run_from(from);
  return times_;
}

void FastestPaths::run_from(platforms::NodeId from) {
  before_.resize(platform_.nodes().size());
  times_.resize(platform_.nodes().size());
  work_ += 8 * platform_.arcs().size();
  const auto edge_index = boost::get(boost::edge_index, graph_);
  const auto vertex_index = boost::get(boost::vertex_index, graph_);
  boost::dijkstra_shortest_paths_no_color_map(
      graph_, static_cast<std::uint32_t>(index_of(from)),
      boost::predecessor_map(boost::make_iterator_property_map(before_.begin(), vertex_index))
          .distance_map(boost::make_iterator_property_map(times_.begin(), vertex_index))
          .weight_map(boost::make_iterator_property_map(weight_.begin(), edge_index)));
  from_ = from;
}

std::vector<FarthestHost> farthest_hosts(const platforms::Platform& platform,
                                         std::vector<double> arc_s) {
  FastestPaths paths(platform, std::move(arc_s));
  std::vector<FarthestHost> farthest;
  for (const platforms::NodeId from : platform.hosts()) {
    const std::span<const double> times = paths.times_from(from);
    const auto last = std::ranges::max_element(
        platform.hosts(), {}, [&](platforms::NodeId host) { return times[index_of(host)]; });
    farthest.push_back({*last, times[index_of(*last)]});
  }
  return farthest;
}

}  // namespace espalier::planner
