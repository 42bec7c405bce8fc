#include "platforms/core/summary.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/property_map/property_map.hpp>
#include <cmath>
#include <map>
#include <utility>

namespace espalier::platforms {

namespace {

// A sum of logarithms if 8 times the rate overflows.
int power_of(BytesPerSecond rate) {
  const double bits = 8 * rate.value;
  return static_cast<int>(std::floor(
      std::isfinite(bits) ? std::log10(bits) : std::log10(8.0) + std::log10(rate.value)));
}

std::vector<Decade> decades_of(const Platform& platform) {
  std::map<int, std::size_t> counts;
  for (const Arc& arc : platform.arcs()) {
    ++counts[power_of(arc.bandwidth)];
  }
  std::vector<Decade> decades;
  if (counts.empty()) return decades;
  for (int power = counts.begin()->first; power <= counts.rbegin()->first; ++power) {
    const auto found = counts.find(power);
    decades.push_back({power, found == counts.end() ? 0 : found->second});
  }
  return decades;
}

// Fills in one_way, both_ways and asymmetry.
void compare_directions(const Platform& platform, Summary& summary) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < platform.arcs().size(); ++i) {
    const Arc& arc = platform.arcs()[i];
    const auto back = platform.find_arc(arc.to, arc.from);
    if (!back) {
      ++summary.one_way;
      continue;
    }
    if (arc.to < arc.from) continue;  // counted with the other direction
    const double forward = arc.bandwidth.value;
    const double reverse = platform.arc(*back).bandwidth.value;
    ratios.push_back(std::max(forward, reverse) / std::min(forward, reverse));
    if (ratios.back() <= summary.asymmetry.greatest) continue;
    summary.asymmetry.greatest = ratios.back();
    summary.asymmetry.fastest = forward > reverse ? static_cast<ArcId>(i) : *back;
  }
  summary.both_ways = ratios.size();
  summary.asymmetry.pairs = ratios.size();
  if (!ratios.empty()) summary.asymmetry.median = quartiles_of(std::move(ratios)).median;
}

void count_components(const Platform& platform, Summary& summary) {
  const std::size_t nodes = platform.nodes().size();
  if (nodes == 0) return;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (const Arc& arc : platform.arcs()) edges.emplace_back(index_of(arc.from), index_of(arc.to));
  const boost::compressed_sparse_row_graph<boost::directedS> graph(
      boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), nodes);
  std::vector<std::size_t> component(nodes);
  summary.components = boost::strong_components(
      graph,
      boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<std::size_t> sizes(summary.components, 0);
  for (const std::size_t number : component) ++sizes[number];
  summary.largest_component = *std::ranges::max_element(sizes);
}

void count_cap(const std::optional<BytesPerSecond>& cap, CapCount& count) {
  if (!cap) return;
  count.least = count.nodes == 0 ? *cap : std::min(count.least, *cap);
  count.greatest = std::max(count.greatest, *cap);
  ++count.nodes;
}

}  // namespace

Summary summary_of(const Platform& platform) {
  Summary summary;
  summary.hosts = platform.hosts().size();
  summary.relays = platform.nodes().size() - summary.hosts;
  summary.arcs = platform.arcs().size();
  const auto nodes = static_cast<double>(platform.nodes().size());
  if (nodes > 1) summary.density = static_cast<double>(summary.arcs) / (nodes * (nodes - 1));
  std::vector<double> bandwidths;
  std::vector<double> latencies;
  std::vector<double> overheads;
  for (const Arc& arc : platform.arcs()) {
    bandwidths.push_back(arc.bandwidth.value);
    latencies.push_back(arc.latency.value);
    overheads.push_back(arc.overhead.value);
  }
  summary.bandwidth_Bps = quartiles_of(std::move(bandwidths));
  summary.latency_s = quartiles_of(std::move(latencies));
  summary.overhead_s = quartiles_of(std::move(overheads));
  summary.decades = decades_of(platform);
  compare_directions(platform, summary);
  count_components(platform, summary);
  std::map<std::string, std::size_t> groups;
  for (const Node& node : platform.nodes()) {
    if (!node.group.empty()) ++groups[node.group];
    count_cap(node.send, summary.send_caps);
    count_cap(node.receive, summary.receive_caps);
  }
  for (const auto& [group, count] : groups) summary.groups.push_back({group, count});
  return summary;
}

}  // namespace espalier::platforms
