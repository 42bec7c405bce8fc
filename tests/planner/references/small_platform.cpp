#include "tests/planner/references/small_platform.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "platforms/formats/formats.hpp"
#include "tests/planner/references/plain_model.hpp"

namespace espalier::testing {

using platforms::NodeId;
using platforms::Platform;

Platform small_platform(const std::vector<std::string>& nodes, const std::vector<Link>& links) {
  platforms::PlatformBuilder builder("small");
  for (const std::string& name : nodes) {
    builder.add_node({name, name.starts_with("sw"), {}, {}, {}});
  }
  for (const Link& link : links) {
    const NodeId from = builder.find_node(link.from).value();
    const NodeId to = builder.find_node(link.to).value();
    builder.add_arc({from, to, {1 / link.seconds_per_byte}, {link.latency_s}, {}});
  }
  return std::move(builder).build();
}

Platform complete_platform(std::size_t count, double bandwidth,
                           std::optional<BytesPerSecond> send) {
  platforms::PlatformBuilder builder(fmt::format("{} equal hosts", count));
  std::vector<NodeId> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    platforms::Node host;
    host.name = fmt::format("n{}", i);
    host.send = send;
    hosts.push_back(builder.add_node(std::move(host)));
  }
  for (const NodeId from : hosts) {
    for (const NodeId to : hosts) {
      if (from != to) builder.add_arc({from, to, {bandwidth}, {}, {}});
    }
  }
  return std::move(builder).build();
}

Platform sample_platform(const std::string& name) {
  return platforms::read_platform(ESPALIER_SOURCE_DIR "/platforms/data/" + name).platform;
}

planner::Instance instance_of(const Platform& platform, std::string_view source,
                              std::string_view model) {
  return {platform, planner::source_named(platform, source), platforms::parse_model(model)};
}

planner::Collective collective_of(const Platform& platform, std::string_view source,
                                  planner::Operation operation, std::string_view model) {
  return {operation, platform, planner::source_named(platform, source),
          platforms::parse_model(model)};
}

std::string text_of(const lp::RoutedTree& tree, const Platform& platform) {
  std::string text;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    if (edge > 0) text += ' ';
    const auto path = tree.path(edge);
    text += platform.node(platform.arcs()[path.front()].from).name;
    for (const std::uint32_t arc : path) text += '>' + platform.node(platform.arcs()[arc].to).name;
  }
  return text;
}

planner::AlgorithmOptions at_most(std::size_t trees) {
  planner::AlgorithmOptions options;
  options.max_trees = trees;
  return options;
}

planner::Outcome run(std::string_view algorithm, const planner::Instance& instance,
                     const planner::AlgorithmOptions& options) {
  return planner::find_algorithm(algorithm).run(instance, options);
}

std::string tree_text(std::string_view algorithm, const planner::Instance& instance) {
  const planner::Outcome outcome = run(algorithm, instance);
  if (outcome.trees.size() != 1) throw std::logic_error("more than one tree");
  return text_of(outcome.trees[0].tree, instance.platform());
}

double period(const planner::Outcome& outcome) {
  return 1 / total_rate(outcome.trees);
}

}  // namespace espalier::testing
