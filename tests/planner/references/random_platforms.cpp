#include "tests/planner/references/random_platforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "planner/problem/reach.hpp"
#include "planner/registry.hpp"
#include "platforms/core/reversed.hpp"

namespace espalier::testing {

namespace {

using platforms::NodeId;

// A platform under construction.
class Sketch {
 public:
  Sketch(std::string_view family, std::uint64_t seed)
      : dice(seed), builder_(fmt::format("{} {}", family, seed)) {}

  Dice dice;
  double least_exponent = 7;  // bandwidths are 10^least to 10^most bytes/s
  double most_exponent = 9;
  double equal_bandwidth = 0;  // if not 0: of every link
  double cap_chance = 0;
  double overhead_chance = 0;

  NodeId add_host(const std::string& group = {}) {
    platforms::Node node{fmt::format("h{}", hosts.size()), false, {}, {}, group};
    add_caps(node);
    hosts.push_back(builder_.add_node(node));
    return hosts.back();
  }
  NodeId add_relay() {
    platforms::Node node{fmt::format("sw{}", relays.size()), true, {}, {}, {}};
    add_caps(node);
    relays.push_back(builder_.add_node(node));
    return relays.back();
  }
  void add_hosts(std::size_t most) {
    const std::size_t count = dice.from_to(2, most);
    while (hosts.size() < count) add_host();
  }
  // Adds no link where there is one already.
  void link(NodeId from, NodeId to) {
    if (from == to || !links_.emplace(from, to).second) return;
    platforms::Arc arc{from, to, {bandwidth()}, {}, {}};
    if (dice.chance(overhead_chance)) arc.overhead = {dice.between(1e-6, 1e-3)};
    if (dice.chance(overhead_chance)) arc.latency = {dice.between(1e-6, 1e-3)};
    builder_.add_arc(arc);
  }
  void cable(NodeId one, NodeId other) {
    link(one, other);
    link(other, one);
  }
  // Links that lead from the first host to every other one, most of them in both directions.
  void span_hosts() {
    for (std::size_t i = 1; i < hosts.size(); ++i) {
      const NodeId parent = hosts[dice.below(i)];
      link(parent, hosts[i]);
      if (dice.chance(0.7)) link(hosts[i], parent);
    }
  }
  void link_at_random(double density) {
    for (const NodeId from : hosts) {
      for (const NodeId to : hosts) {
        if (dice.chance(density)) link(from, to);
      }
    }
  }
  void share_a_link() {
    const std::vector<std::pair<NodeId, NodeId>> all(links_.begin(), links_.end());
    std::vector<std::pair<NodeId, NodeId>> chosen;
    for (const auto& pair : all) {
      if (dice.chance(0.2)) chosen.push_back(pair);
    }
    if (chosen.empty()) chosen.push_back(all.front());
    builder_.add_shared_link(fmt::format("trunk{}", shared_links_++), {bandwidth()}, chosen);
  }
  DrawnPlatform finish(NodeId source) {
    platforms::OccupationOptions options;
    if (overhead_chance > 0) options = {Bytes{65536}, dice.chance(0.5)};
    return {std::move(builder_).build(), source, options};
  }
  // The source is any host: all hosts reach each other.
  DrawnPlatform finish_anywhere() { return finish(hosts[dice.below(hosts.size())]); }

  std::vector<NodeId> hosts;
  std::vector<NodeId> relays;

 private:
  double bandwidth() {
    if (equal_bandwidth > 0) return equal_bandwidth;
    return std::pow(10.0, dice.between(least_exponent, most_exponent));
  }
  void add_caps(platforms::Node& node) {
    if (dice.chance(cap_chance)) node.send = BytesPerSecond{bandwidth()};
    if (dice.chance(cap_chance)) node.receive = BytesPerSecond{bandwidth()};
  }

  platforms::PlatformBuilder builder_;
  std::set<std::pair<NodeId, NodeId>> links_;
  std::size_t shared_links_ = 0;
};

DrawnPlatform finish_graph(Sketch& sketch, std::size_t most_hosts, double density) {
  sketch.add_hosts(most_hosts);
  sketch.span_hosts();
  sketch.link_at_random(density);
  return sketch.finish(sketch.hosts[0]);
}

DrawnPlatform sparse(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("sparse", seed);
  return finish_graph(sketch, most_hosts, 0.1);
}

DrawnPlatform dense(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("dense", seed);
  return finish_graph(sketch, most_hosts, 0.8);
}

DrawnPlatform capped(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("capped", seed);
  sketch.cap_chance = 0.7;
  return finish_graph(sketch, most_hosts, 0.4);
}

DrawnPlatform segmented(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("segmented", seed);
  sketch.overhead_chance = 0.8;
  return finish_graph(sketch, most_hosts, 0.3);
}

DrawnPlatform wide(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("wide", seed);
  sketch.least_exponent = 2;
  sketch.most_exponent = 11;
  sketch.cap_chance = 0.2;
  return finish_graph(sketch, most_hosts, 0.4);
}

DrawnPlatform equal(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("equal", seed);
  sketch.equal_bandwidth = 0x1p27;  // a power of two: sums are exact, so ties are exact
  return finish_graph(sketch, most_hosts, seed % 3 == 0 ? 1.0 : 0.5);
}

//   source ---> h0 <--> the rest
DrawnPlatform single_out_arc(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("single-out-arc", seed);
  sketch.add_hosts(most_hosts - 1);
  sketch.span_hosts();
  sketch.link_at_random(0.4);
  const NodeId source = sketch.add_host();
  sketch.link(source, sketch.hosts[0]);
  return sketch.finish(source);
}

DrawnPlatform shared_links(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("shared-links", seed);
  sketch.add_hosts(most_hosts);
  sketch.span_hosts();
  sketch.link_at_random(0.4);
  for (std::size_t shared_links = sketch.dice.from_to(1, 3); shared_links > 0; --shared_links)
    sketch.share_a_link();
  return sketch.finish(sketch.hosts[0]);
}

//   h0   h1
//     \ /
//     sw0        each with its own bandwidth up and down
//     / \ .
//   h2   h3
DrawnPlatform switch_star(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("switch-star", seed);
  sketch.cap_chance = 0.3;
  sketch.add_hosts(most_hosts);
  const NodeId hub = sketch.add_relay();
  for (const NodeId host : sketch.hosts) sketch.cable(host, hub);
  return sketch.finish_anywhere();
}

//          sw0
//         /   \            and a few links past the switches
//      sw1     sw2
//     / |       | \ .
//   h0  h2     h1  h3
DrawnPlatform two_level_tree(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("two-level-tree", seed);
  sketch.add_hosts(most_hosts);
  const NodeId root = sketch.add_relay();
  const std::size_t racks = sketch.dice.from_to(1, 3);
  for (std::size_t rack = 0; rack < racks; ++rack) {
    const NodeId leaf = sketch.add_relay();
    sketch.cable(leaf, root);
    for (std::size_t i = rack; i < sketch.hosts.size(); i += racks) {
      sketch.cable(sketch.hosts[i], leaf);
    }
  }
  sketch.link_at_random(0.1);
  return sketch.finish_anywhere();
}

//   h0 --- sw0 --- sw1 --- h1      between some pairs, two chains may join one pair,
//     \_________________ /         and a link besides
DrawnPlatform relay_chains(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("relay-chains", seed);
  sketch.add_hosts(most_hosts);
  const auto add_chain = [&](NodeId from, NodeId to) {
    NodeId last = from;
    for (std::size_t hops = sketch.dice.from_to(1, 3); hops > 0; --hops) {
      const NodeId relay = sketch.add_relay();
      sketch.cable(last, relay);
      last = relay;
    }
    sketch.cable(last, to);
  };
  for (std::size_t i = 1; i < sketch.hosts.size(); ++i) {
    const NodeId parent = sketch.hosts[sketch.dice.below(i)];
    add_chain(parent, sketch.hosts[i]);
    if (sketch.dice.chance(0.3)) add_chain(parent, sketch.hosts[i]);
  }
  sketch.link_at_random(0.1);
  return sketch.finish_anywhere();
}

DrawnPlatform everything(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("everything", seed);
  sketch.least_exponent = 4;
  sketch.most_exponent = 10;
  sketch.cap_chance = sketch.overhead_chance = 0.3;
  sketch.add_hosts(most_hosts);
  sketch.span_hosts();
  sketch.link_at_random(0.15);
  const NodeId left = sketch.add_relay();
  const NodeId right = sketch.add_relay();
  sketch.cable(left, right);
  for (const NodeId host : sketch.hosts) {
    if (sketch.dice.chance(0.5)) sketch.cable(host, sketch.dice.chance(0.5) ? left : right);
  }
  sketch.share_a_link();
  return sketch.finish(sketch.hosts[0]);
}

//   site0/rack0: h0 h3   site1/rack0: h1   site1: h4   no group: h2   ...
// any host in any group, random links in one direction or both
DrawnPlatform grouped(std::uint64_t seed, std::size_t most_hosts) {
  Sketch sketch("grouped", seed);
  const std::size_t sites = sketch.dice.from_to(1, 3);
  for (std::size_t left = sketch.dice.from_to(2, most_hosts); left > 0; --left) {
    std::string group;
    if (sketch.dice.chance(0.9)) group = fmt::format("site{}", sketch.dice.below(sites));
    if (!group.empty() && sketch.dice.chance(0.8)) {
      group += fmt::format("/rack{}", sketch.dice.below(2));
    }
    sketch.add_host(group);
  }
  sketch.span_hosts();
  sketch.link_at_random(seed % 2 == 0 ? 0.5 : 0.05);
  return sketch.finish(sketch.hosts[0]);
}

constexpr std::array kFamilies = {
    PlatformFamily{"sparse", sparse},
    PlatformFamily{"dense", dense},
    PlatformFamily{"capped", capped},
    PlatformFamily{"segmented", segmented},
    PlatformFamily{"wide", wide},
    PlatformFamily{"equal", equal},
    PlatformFamily{"single-out-arc", single_out_arc},
    PlatformFamily{"shared-links", shared_links},
    PlatformFamily{"switch-star", switch_star},
    PlatformFamily{"two-level-tree", two_level_tree},
    PlatformFamily{"relay-chains", relay_chains},
    PlatformFamily{"everything", everything},
    PlatformFamily{"grouped", grouped},
};

}  // namespace

std::span<const PlatformFamily> platform_families() {
  return kFamilies;
}

std::optional<DrawnPlatform> fit_for(planner::Operation operation, DrawnPlatform drawn) {
  if (!planner::reduces(operation)) return drawn;
  platforms::Platform reversed = platforms::reversed(drawn.platform).platform;
  if (!planner::broadcasts(operation)) {
    drawn.platform = std::move(reversed);
    return drawn;
  }
  const std::vector<char> reached = planner::reached_from(reversed, drawn.source);
  const auto hosts = reversed.hosts();
  const bool all_answer = std::ranges::all_of(
      hosts, [&](NodeId host) { return reached[platforms::index_of(host)] != 0; });
  if (!all_answer) return std::nullopt;
  return drawn;
}

std::string trace_of(const PlatformFamily& family, std::uint64_t seed, platforms::Model model) {
  return fmt::format("family {}, seed {}, model {}", family.name, seed, platforms::name_of(model));
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const platforms::ModelEntry& entry : platforms::models()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> algorithm_names(planner::Operation operation) {
  std::vector<std::string> names;
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
    if (entry.does(operation)) names.emplace_back(entry.name);
  }
  return names;
}

std::string case_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  std::replace(result.begin(), result.end(), '+', '_');
  return result;
}

std::string case_name(planner::Operation operation, std::string_view name) {
  return case_name(planner::name_of(operation)) + "_" + case_name(name);
}

}  // namespace espalier::testing
