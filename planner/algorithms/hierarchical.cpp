// Topology-aware trees (TAC, sections 1.1, 1.2 and 2): the inner algorithm builds a tree among the
// groups' leaders, and then inside each group from its leader, level by level; `reorder` renumbers
// the hosts and builds one tree (docs/methods.md, "Hierarchies").
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/sub_problem.hpp"
#include "planner/problem/fastest_paths.hpp"
#include "planner/problem/host_groups.hpp"
#include "planner/problem/reach.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

using platforms::NodeId;
using Hosts = std::vector<NodeId>;

// The members divided by their group at `level`, in the order of each group's first member; a
// member without a group at that level is a part of its own.
std::vector<Hosts> parts_of(const HostGroups& groups, const Hosts& members, std::size_t level) {
  std::vector<Hosts> parts;
  std::vector<std::optional<std::size_t>> part_of_group;
  for (const NodeId host : members) {
    const std::vector<std::uint32_t>& own = groups[index_of(host)];
    if (level >= own.size()) {
      parts.push_back({host});
      continue;
    }
    if (own[level] >= part_of_group.size()) part_of_group.resize(own[level] + 1);
    std::optional<std::size_t>& part = part_of_group[own[level]];
    if (!part) {
      part = parts.size();
      parts.emplace_back();
    }
    parts[*part].push_back(host);
  }
  return parts;
}

class HierarchicalTree {
 public:
  HierarchicalTree(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner,
                   GroupLevels levels)
      : instance_(instance),
        platform_(instance.platform()),
        options_(options),
        inner_(inner),
        watch_(options.deadline),
        groups_(host_groups(platform_, levels)) {}

  // As many trees as the inner algorithm makes: the first ones of all parts are joined, the second
  // ones, and so on.
  Outcome build() {
    const Hosts hosts(platform_.hosts().begin(), platform_.hosts().end());
    std::vector<lp::RoutedTree> trees;
    for (which_ = 0; which_ < most_; ++which_) {
      tree_ = {};
      build_below(hosts, instance_.source(), 0);
      trees.push_back(std::move(tree_));
    }
    Outcome outcome = equal_trees(instance_, std::move(trees));
    outcome.ends = ends_;
    return outcome;
  }

 private:
  struct Led {
    NodeId leader;
    Hosts members;
  };

  // Adds the tree from `root` over `members`, all reachable from it, in groups from `level` on.
  void build_below(const Hosts& members, NodeId root, std::size_t level) {
    if (members.size() < 2) return;
    watch_.require(members.size());
    const std::vector<Hosts> parts = parts_of(groups_, members, level);
    if (parts.size() == 1) return build_below(members, root, level + 1);
    if (parts.size() == members.size()) return build_among(members, root);
    std::vector<Led> led;
    for (const Hosts& part : parts) choose_leaders(part, root, led);
    Hosts leaders;
    for (const Led& group : led) leaders.push_back(group.leader);
    std::sort(leaders.begin(), leaders.end());
    build_among(leaders, root);
    for (const Led& group : led) build_below(group.members, group.leader, level + 1);
  }

  // Divides a part into groups whose leaders reach their members.
  void choose_leaders(Hosts part, NodeId root, std::vector<Led>& led) {
    if (std::find(part.begin(), part.end(), root) != part.end()) {
      led.push_back({root, std::move(part)});
      return;
    }
    while (!part.empty()) {
      const NodeId leader = part.front();
      watch_.require(platform_.arcs().size());
      const std::vector<char> reached = reached_from(platform_, leader);
      const auto rest = std::stable_partition(
          part.begin(), part.end(), [&](NodeId host) { return reached[index_of(host)] != 0; });
      led.push_back({leader, Hosts(part.begin(), rest)});
      part.erase(part.begin(), rest);
    }
  }

  // Adds the inner algorithm's tree. members: in the platform's order, at least two.
  void build_among(const Hosts& members, NodeId root) {
    if (members.size() == instance_.host_count()) {
      tree_ = tree_of(inner_(instance_, options_));
      return;
    }
    AlgorithmOptions options = options_;
    options.packing = nullptr;  // these belong to the whole instance
    options.arcs = nullptr;
    watch_.require(8 * platform_.arcs().size());
    const SubProblem part(instance_, members, root, way_points(members, root));
    part.add_to(tree_, tree_of(inner_(part.instance(), options)));
  }

  lp::RoutedTree tree_of(Outcome inner) {
    ends_ = ends_.with(inner.ends);
    most_ = std::max(most_, inner.trees.size());
    return std::move(inner.trees[std::min(which_, inner.trees.size() - 1)].tree);
  }

  // The outside hosts on the fastest paths to those members that the root cannot reach without
  // them.
  Hosts way_points(const Hosts& members, NodeId root) {
    std::vector<char> outside(platform_.nodes().size(), 0);
    for (const NodeId host : platform_.hosts()) outside[index_of(host)] = 1;
    for (const NodeId host : members) outside[index_of(host)] = 0;
    const std::vector<char> reached = reached_from(platform_, root, outside);
    Hosts points;
    for (const NodeId host : members) {
      if (reached[index_of(host)] != 0) continue;
      if (!paths_) paths_.emplace(instance_);
      for (const std::uint32_t arc : paths_->path(root, host)) {
        const NodeId head = platform_.arcs()[arc].to;
        if (outside[index_of(head)] == 0) continue;
        outside[index_of(head)] = 0;
        points.push_back(head);
      }
    }
    return points;
  }

  const Instance& instance_;
  const platforms::Platform& platform_;
  const AlgorithmOptions& options_;
  TreeMaker inner_;
  DeadlineWatch watch_;
  Ends ends_;
  HostGroups groups_;
  std::optional<FastestPaths> paths_;
  std::size_t which_ = 0;  // of the inner algorithm's trees
  std::size_t most_ = 1;
  lp::RoutedTree tree_;
};

Outcome hierarchical_of(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner,
                        GroupLevels levels) {
  return HierarchicalTree(instance, options, inner, levels).build();
}

// Appends the members so that every group from `level` on is contiguous, otherwise in their order.
void append_grouped(const HostGroups& groups, const Hosts& members, std::size_t level,
                    Hosts& order) {
  const std::vector<Hosts> parts = parts_of(groups, members, level);
  if (parts.size() == members.size()) {
    order.insert(order.end(), members.begin(), members.end());
    return;
  }
  for (const Hosts& part : parts) append_grouped(groups, part, level + 1, order);
}

}  // namespace

Outcome hierarchical(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner) {
  return hierarchical_of(instance, options, inner, GroupLevels::kAll);
}

Outcome hierarchical_node(const Instance& instance, const AlgorithmOptions& options,
                          TreeMaker inner) {
  return hierarchical_of(instance, options, inner, GroupLevels::kFinest);
}

Outcome hierarchical_group(const Instance& instance, const AlgorithmOptions& options,
                           TreeMaker inner) {
  return hierarchical_of(instance, options, inner, GroupLevels::kCoarsest);
}

// TAC 1.1.4. Ranks are counted from the source on before they are grouped, so the source stays
// first, and without groups the order is that of the topology-oblivious algorithms.
Outcome reorder(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner) {
  const auto hosts = instance.platform().hosts();
  Hosts ranks(hosts.begin(), hosts.end());
  std::rotate(ranks.begin(), std::find(ranks.begin(), ranks.end(), instance.source()), ranks.end());
  Hosts order;
  append_grouped(host_groups(instance.platform(), GroupLevels::kAll), ranks, 0, order);
  const SubProblem renumbered(instance, order, instance.source());
  AlgorithmOptions inner_options = options;
  inner_options.packing = nullptr;  // arcs have other numbers there
  inner_options.arcs = nullptr;
  const Outcome made = inner(renumbered.instance(), inner_options);
  std::vector<lp::RoutedTree> trees;
  for (const WeightedTree& one : made.trees) renumbered.add_to(trees.emplace_back(), one.tree);
  Outcome outcome = equal_trees(instance, std::move(trees));
  outcome.ends = made.ends;
  return outcome;
}

}  // namespace espalier::planner::tree_algorithms
