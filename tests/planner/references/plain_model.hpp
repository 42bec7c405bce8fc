// A second implementation of the table in docs/model.md: what trees occupy, from the platform
// alone. Slow and simple, without code of platforms/core, so that the two can be checked against
// each other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"

namespace espalier::testing {

// A path from one host to another: one arc, or several through relays.
struct HostPath {
  std::uint32_t from;
  std::uint32_t to;
  std::vector<std::uint32_t> arcs;
};

class PlainModel {
 public:
  explicit PlainModel(const planner::Instance& instance)
      : PlainModel(instance.platform(), instance.model(), instance.options()) {}
  PlainModel(const platforms::Platform& platform, platforms::Model model,
             const platforms::OccupationOptions& options);

  using Load = std::vector<double>;  // one per resource, in this class's numbering
  [[nodiscard]] Load no_load() const { return Load(names_.size(), 0.0); }
  void add(std::span<const std::uint32_t> arcs, double rate, Load& load) const;
  [[nodiscard]] Load load_of(std::span<const std::uint32_t> arcs) const;
  [[nodiscard]] double throughput(const lp::RoutedTree& tree) const;
  // The load of all trees at their rates: feasible when no resource is above 1.
  [[nodiscard]] Load load_of(std::span<const planner::WeightedTree> trees) const;
  [[nodiscard]] const std::vector<std::string>& resources() const { return names_; }
  // Of one arc alone.
  [[nodiscard]] double seconds_per_byte(std::uint32_t arc) const { return arc_seconds_[arc]; }

 private:
  struct Use {
    std::size_t resource;
    double seconds_per_byte;
  };
  void use(std::uint32_t arc, const std::string& resource, double seconds_per_byte);
  void list_uses(std::uint32_t arc);

  const platforms::Platform& platform_;
  platforms::Model model_;
  std::vector<double> arc_seconds_;
  std::vector<std::vector<Use>> uses_;  // per arc
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> index_;
};

double busiest(const PlainModel::Load& load);

// Every path between two hosts whose inner nodes are distinct relays.
std::vector<HostPath> all_host_paths(const platforms::Platform& platform);
// The links between hosts by number, then for each ordered pair of hosts the fastest path through
// relays, where there is one.
std::vector<HostPath> fastest_host_paths(const planner::Instance& instance);

// The first fault of a tree of the instance: it must span every host once from the source, along
// connected arcs, with only relays between parent and child (with `hosts_between`, hosts too).
// Empty: none.
std::string tree_fault(const planner::Instance& instance, const lp::RoutedTree& tree,
                       bool hosts_between);

// The paths of a tree's edges, sorted: to compare trees regardless of the order of their edges.
std::vector<std::vector<std::uint32_t>> sorted_paths(const lp::RoutedTree& tree);

double total_rate(std::span<const planner::WeightedTree> trees);

}  // namespace espalier::testing
