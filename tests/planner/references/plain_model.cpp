#include "tests/planner/references/plain_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace espalier::testing {

namespace {

using platforms::Model;
using platforms::Platform;

double seconds_of(const platforms::Arc& arc, const platforms::OccupationOptions& options) {
  if (options.segment.value == 0) return 1 / arc.bandwidth.value;
  const auto segment = static_cast<double>(options.segment.value);
  const double latency = options.latency_occupies ? arc.latency.value : 0;
  return (arc.overhead.value + latency + segment / arc.bandwidth.value) / segment;
}

}  // namespace

PlainModel::PlainModel(const Platform& platform, Model model,
                       const platforms::OccupationOptions& options)
    : platform_(platform), model_(model), uses_(platform.arcs().size()) {
  for (const platforms::Arc& arc : platform_.arcs()) {
    arc_seconds_.push_back(seconds_of(arc, options));
  }
  for (std::uint32_t arc = 0; arc < uses_.size(); ++arc) list_uses(arc);
}

void PlainModel::use(std::uint32_t arc, const std::string& resource, double seconds_per_byte) {
  const auto [at, is_new] = index_.emplace(resource, names_.size());
  if (is_new) names_.push_back(resource);
  uses_[arc].push_back({at->second, seconds_per_byte});
}

void PlainModel::list_uses(std::uint32_t number) {
  const platforms::Arc& arc = platform_.arcs()[number];
  const platforms::Node& from = platform_.node(arc.from);
  const platforms::Node& to = platform_.node(arc.to);
  const double time = arc_seconds_[number];
  bool link = from.relay || to.relay;
  switch (model_) {
    case Model::kOnePort:
      if (!from.relay) use(number, "out-port of " + from.name, time);
      if (!to.relay) use(number, "in-port of " + to.name, time);
      break;
    case Model::kOnePortUnidirectional:
      if (!from.relay) use(number, "port of " + from.name, time);
      if (!to.relay) use(number, "port of " + to.name, time);
      break;
    case Model::kMultiPort: {
      link = true;
      if (from.relay) break;
      double fastest = std::numeric_limits<double>::infinity();
      for (std::uint32_t other = 0; other < arc_seconds_.size(); ++other) {
        if (platform_.arcs()[other].from == arc.from) {
          fastest = std::min(fastest, arc_seconds_[other]);
        }
      }
      use(number, "out-port of " + from.name, from.send ? 1 / from.send->value : 0.8 * fastest);
      break;
    }
    case Model::kMultiPortProcessor: {
      link = true;
      double fastest_out = std::numeric_limits<double>::infinity();
      double fastest_in = fastest_out;
      for (std::uint32_t other = 0; other < arc_seconds_.size(); ++other) {
        const double seconds = arc_seconds_[other];
        if (platform_.arcs()[other].from == arc.from) fastest_out = std::min(fastest_out, seconds);
        if (platform_.arcs()[other].to == arc.to) fastest_in = std::min(fastest_in, seconds);
      }
      if (!from.relay) {
        const auto rate = arc.send ? arc.send : from.send;
        use(number, "port of " + from.name, rate ? 1 / rate->value : 0.8 * fastest_out);
      }
      if (!to.relay) {
        const auto rate = arc.receive ? arc.receive : to.receive;
        use(number, "port of " + to.name, rate ? 1 / rate->value : 0.8 * fastest_in);
      }
      break;
    }
    case Model::kBoundedMultiPort:
      link = true;
      if (from.send) use(number, "out-port of " + from.name, 1 / from.send->value);
      if (to.receive) use(number, "in-port of " + to.name, 1 / to.receive->value);
      break;
  }
  if (link) use(number, fmt::format("link {} -> {}", from.name, to.name), time);
  for (const platforms::SharedLink& shared : platform_.shared_links()) {
    if (std::ranges::count(shared.arcs, platforms::ArcId{number}) > 0) {
      use(number, "shared link " + shared.name, 1 / shared.bandwidth.value);
    }
  }
}

void PlainModel::add(std::span<const std::uint32_t> arcs, double rate, Load& load) const {
  for (const std::uint32_t arc : arcs) {
    for (const Use& use : uses_[arc]) load[use.resource] += rate * use.seconds_per_byte;
  }
}

PlainModel::Load PlainModel::load_of(std::span<const std::uint32_t> arcs) const {
  Load load = no_load();
  add(arcs, 1, load);
  return load;
}

double PlainModel::throughput(const lp::RoutedTree& tree) const {
  return 1 / busiest(load_of(tree.arcs));
}

PlainModel::Load PlainModel::load_of(std::span<const planner::WeightedTree> trees) const {
  Load load = no_load();
  for (const planner::WeightedTree& tree : trees) add(tree.tree.arcs, tree.rate.value, load);
  return load;
}

double busiest(const PlainModel::Load& load) {
  return load.empty() ? 0 : *std::max_element(load.begin(), load.end());
}

namespace {

// Extends `path` by every arc that leaves its end, through relays that it has not passed.
void extend(const Platform& platform, HostPath& path, platforms::NodeId end,
            std::set<platforms::NodeId>& passed, std::vector<HostPath>& paths) {
  const auto [first, last] = platform.arcs_out_of(end);
  for (std::uint32_t arc = first; arc < last; ++arc) {
    const platforms::NodeId next = platform.arcs()[arc].to;
    if (!passed.insert(next).second) continue;
    path.arcs.push_back(arc);
    if (platform.node(next).relay) {
      extend(platform, path, next, passed, paths);
    } else {
      path.to = static_cast<std::uint32_t>(next);
      paths.push_back(path);
    }
    path.arcs.pop_back();
    passed.erase(next);
  }
}

}  // namespace

std::vector<HostPath> all_host_paths(const Platform& platform) {
  std::vector<HostPath> paths;
  for (const platforms::NodeId host : platform.hosts()) {
    HostPath path{static_cast<std::uint32_t>(host), 0, {}};
    std::set<platforms::NodeId> passed{host};
    extend(platform, path, host, passed, paths);
  }
  return paths;
}

std::vector<HostPath> fastest_host_paths(const planner::Instance& instance) {
  const PlainModel model(instance);
  const auto seconds = [&](const HostPath& path) {
    double sum = 0;
    for (const std::uint32_t arc : path.arcs) sum += model.seconds_per_byte(arc);
    return sum;
  };
  std::map<std::uint32_t, HostPath> direct;
  std::map<std::pair<std::uint32_t, std::uint32_t>, HostPath> through_relays;
  for (const HostPath& path : all_host_paths(instance.platform())) {
    if (path.arcs.size() == 1) {
      direct.emplace(path.arcs[0], path);
      continue;
    }
    const auto [at, is_new] = through_relays.emplace(std::pair(path.from, path.to), path);
    if (!is_new && seconds(path) < seconds(at->second)) at->second = path;
  }
  std::vector<HostPath> paths;
  paths.reserve(direct.size() + through_relays.size());
  for (const auto& [arc, path] : direct) paths.push_back(path);
  for (const auto& [ends, path] : through_relays) paths.push_back(path);
  return paths;
}

namespace {

// The first fault of an edge's path; empty: none.
std::string path_fault(const Platform& platform, std::span<const std::uint32_t> path,
                       bool hosts_between) {
  if (path.empty()) return "an edge without arcs";
  std::set<platforms::NodeId> passed;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] >= platform.arcs().size()) return fmt::format("no arc {}", path[i]);
    const platforms::Arc& arc = platform.arcs()[path[i]];
    if (i > 0 && platform.arcs()[path[i - 1]].to != arc.from) return "arcs that are not connected";
    if (i > 0 && !hosts_between && !platform.node(arc.from).relay) return "a host between hosts";
    if (!passed.insert(arc.from).second) return "a path that returns to a node";
  }
  if (passed.contains(platform.arcs()[path.back()].to)) return "a path that returns to a node";
  if (platform.node(platform.arcs()[path.front()].from).relay) return "a relay as parent";
  if (platform.node(platform.arcs()[path.back()].to).relay) return "a relay as child";
  return {};
}

}  // namespace

std::string tree_fault(const planner::Instance& instance, const lp::RoutedTree& tree,
                       bool hosts_between) {
  const Platform& platform = instance.platform();
  std::map<platforms::NodeId, platforms::NodeId> parent_of;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    const std::string fault = path_fault(platform, path, hosts_between);
    if (!fault.empty()) return fmt::format("edge {}: {}", edge, fault);
    const platforms::NodeId child = platform.arcs()[path.back()].to;
    if (child == instance.source()) return fmt::format("edge {} into the source", edge);
    if (!parent_of.emplace(child, platform.arcs()[path.front()].from).second) {
      return fmt::format("'{}' has two parents", platform.node(child).name);
    }
  }
  for (const platforms::NodeId host : platform.hosts()) {
    platforms::NodeId node = host;
    for (std::size_t steps = 0; node != instance.source(); ++steps) {
      const auto up = parent_of.find(node);
      if (up == parent_of.end() || steps > parent_of.size()) {
        return fmt::format("no path from the source to '{}'", platform.node(host).name);
      }
      node = up->second;
    }
  }
  return {};
}

std::vector<std::vector<std::uint32_t>> sorted_paths(const lp::RoutedTree& tree) {
  std::vector<std::vector<std::uint32_t>> paths;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    paths.emplace_back(path.begin(), path.end());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

double total_rate(std::span<const planner::WeightedTree> trees) {
  double sum = 0;
  for (const planner::WeightedTree& tree : trees) sum += tree.rate.value;
  return sum;
}

}  // namespace espalier::testing
