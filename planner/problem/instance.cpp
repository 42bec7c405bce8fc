#include "planner/problem/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/reach.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::planner {

using platforms::NodeId;
using platforms::Platform;

Instance::Instance(const Platform& platform, NodeId source, platforms::Model model,
                   const platforms::OccupationOptions& options)
    : platform_(&platform), source_(source), model_(model), options_(options) {
  if (platform.node(source).relay) {
    throw InputError(fmt::format("{}: '{}' is a relay and cannot be the source", platform.name(),
                                 platform.node(source).name));
  }
  if (platform.hosts().size() < 2) {
    throw InputError(fmt::format("{}: has a single host; a {} needs at least two", platform.name(),
                                 options.reversed ? "reduction" : "broadcast"));
  }
  require_reachable(platform, source, options.reversed);
  occupation_ = platforms::occupation(platform, model, options);
  digraph_ = digraph_of(platform);
}

std::vector<double> Instance::arc_seconds_per_byte() const {
  return planner::arc_seconds_per_byte(*platform_, options_);
}

lp::HostArcs Instance::fastest_host_arcs(const Deadline& deadline) const {
  return {digraph_, occupation_.seconds_per_byte, arc_seconds_per_byte(), deadline};
}

std::vector<double> Instance::load_seconds_per_byte(const lp::RoutedTree& tree) const {
  return lp::tree_load(occupation_.seconds_per_byte, tree);
}

BytesPerSecond Instance::throughput(const lp::RoutedTree& tree) const {
  const std::vector<double> load = load_seconds_per_byte(tree);
  const double busiest = load.empty() ? 0 : *std::max_element(load.begin(), load.end());
  return {busiest > 0 ? 1 / busiest : std::numeric_limits<double>::infinity()};
}

lp::Digraph digraph_of(const Platform& platform) {
  lp::Digraph graph;
  graph.node_count = static_cast<std::uint32_t>(platform.nodes().size());
  for (const platforms::Arc& arc : platform.arcs()) {
    graph.tail.push_back(static_cast<std::uint32_t>(arc.from));
    graph.head.push_back(static_cast<std::uint32_t>(arc.to));
    graph.latency_s.push_back(arc.latency.value);
  }
  if (std::ranges::all_of(graph.latency_s, [](double latency) { return latency == 0; })) {
    graph.latency_s.clear();
  }
  if (platform.hosts().size() < platform.nodes().size()) {
    for (const platforms::Node& node : platform.nodes()) graph.is_relay.push_back(node.relay);
  }
  return graph;
}

std::vector<std::uint32_t> host_numbers(const Platform& platform) {
  std::vector<std::uint32_t> number(platform.nodes().size(), UINT32_MAX);
  std::uint32_t hosts = 0;
  for (const NodeId host : platform.hosts()) number[index_of(host)] = hosts++;
  return number;
}

std::vector<double> arc_seconds_per_byte(const Platform& platform,
                                         const platforms::OccupationOptions& options) {
  std::vector<double> seconds;
  for (const platforms::Arc& arc : platform.arcs()) {
    seconds.push_back(platforms::arc_seconds_per_byte(arc, options));
  }
  return seconds;
}

NodeId source_named(const Platform& platform, std::string_view name, std::string_view what) {
  if (const auto node = platform.find_node(name)) return *node;
  std::vector<std::string_view> names;
  for (const NodeId host : platform.hosts()) names.push_back(platform.node(host).name);
  throw InputError(platform.name(), "", unknown_name(what, name, names));
}

}  // namespace espalier::planner
