// Runs of one tree whose times have closed forms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulate/simulate.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::testing {

inline std::vector<double> seconds(const std::vector<Seconds>& times) {
  std::vector<double> values;
  for (const Seconds time : times) values.push_back(time.value);
  return values;
}

struct SimulatedCase {
  platforms::Platform platform;
  planner::Plan plan;

  simulate::Simulation run(std::uint64_t message, const simulate::Options& options = {},
                           const simulate::OnSend& on_send = {}) const {
    return simulate::Simulator(plan, platform, options).run({message}, on_send);
  }
  [[nodiscard]] std::vector<double> done(std::uint64_t message,
                                         const simulate::Options& options = {}) const {
    return seconds(run(message, options).done);
  }
};

// One tree over hosts h0, h1, ..., edges as given, segments of 4 bytes.
inline SimulatedCase one_tree(platforms::Platform platform,
                              const std::vector<planner::PlanEdge>& edges,
                              const std::string& model = "one-port") {
  planner::Plan plan;
  plan.platform = platform.name();
  for (const platforms::NodeId host : platform.hosts()) {
    plan.nodes.push_back(platform.node(host).name);
  }
  plan.source = plan.nodes.front();
  plan.model = model;
  plan.algorithm = "grow";
  plan.segment = {4};
  plan.throughput = {1};
  plan.broadcast_trees = {{{1}, edges, {}}};
  return {std::move(platform), plan};
}

// The same tree towards h0, or in both directions.
inline SimulatedCase reduced(SimulatedCase of, planner::Operation operation) {
  of.plan.operation = operation;
  of.plan.reduce_trees = of.plan.broadcast_trees;
  if (!planner::broadcasts(operation)) of.plan.broadcast_trees.clear();
  return of;
}

inline std::vector<planner::PlanEdge> chain_edges(std::size_t links) {
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 0; i < links; ++i) edges.push_back({i, i + 1});
  return edges;
}

struct LinkTimes {
  double seconds_per_byte;
  double latency = 0;
  double overhead = 0;
};

// h0 -> h1 -> h2 -> ..., with one link for each of `links`; `up`: the links lead to h0.
inline SimulatedCase chain_of(const std::vector<LinkTimes>& links,
                              const std::string& model = "one-port", bool up = false) {
  platforms::PlatformBuilder builder("chain");
  platforms::NodeId last = builder.node_named("h0");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const platforms::NodeId next = builder.node_named("h" + std::to_string(i + 1));
    const auto [from, to] = up ? std::pair(next, last) : std::pair(last, next);
    builder.add_arc(
        {from, to, {1 / links[i].seconds_per_byte}, {links[i].latency}, {links[i].overhead}});
    last = next;
  }
  return one_tree(std::move(builder).build(), chain_edges(links.size()), model);
}

}  // namespace espalier::testing
