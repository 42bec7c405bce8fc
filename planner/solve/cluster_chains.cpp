#include "planner/solve/cluster_chains.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/host_arcs.hpp"
#include "planner/solve/latency_clusters.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// One root's tree, edge by edge, parents' edges first.
class Chains {
 public:
  Chains(const lp::HostArcs& arcs, bool to_root) : arcs_(arcs), to_root_(to_root) {}

  // From parent to child, or back where the tree leads to the root.
  void add(std::uint32_t parent, std::uint32_t child) {
    is_whole_ = arcs_.add_edge(parent, child, to_root_, tree_) && is_whole_;
  }
  // All hosts of a cluster, from its host number `first` on.
  void add_chain(const HostCluster& cluster, std::size_t first) {
    for (std::size_t i = 0; i + 1 < cluster.size(); ++i) {
      add(cluster[(first + i) % cluster.size()], cluster[(first + i + 1) % cluster.size()]);
    }
  }
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] const lp::RoutedTree& tree() const { return tree_; }

 private:
  const lp::HostArcs& arcs_;
  bool to_root_;
  lp::RoutedTree tree_;
  bool is_whole_ = true;
};

}  // namespace

std::optional<lp::RoutedTree> chains_through_clusters(const AllRoots& problem,
                                                      const Deadline& deadline) try {
  if (problem.has_free_roots() || problem.spread().digraph().latency_s.empty()) return std::nullopt;
  const lp::HostArcs arcs = problem.spread().fastest_host_arcs(deadline);
  const std::vector<HostCluster> clusters = latency_clusters(problem, arcs);
  if (clusters.size() < 2 || clusters.size() == problem.spread().host_count()) return std::nullopt;
  std::vector<lp::RoutedTree> trees;
  for (const lp::Part& part : problem.parts().parts()) {
    Chains chains(arcs, part.reversed);
    const auto place_in = [&](const HostCluster& cluster) {
      return static_cast<std::size_t>(std::ranges::find(cluster, part.root) - cluster.begin());
    };
    const auto own = std::ranges::find_if(
        clusters, [&](const HostCluster& cluster) { return place_in(cluster) < cluster.size(); });
    const std::size_t at = place_in(*own);
    chains.add_chain(*own, at);
    for (const HostCluster& cluster : clusters) {
      if (&cluster == &*own) continue;
      chains.add(part.root, cluster[at % cluster.size()]);
      chains.add_chain(cluster, at);
    }
    if (!chains.is_whole()) return std::nullopt;
    trees.push_back(chains.tree());
  }
  return problem.parts().join(trees);
} catch (const LimitReached&) {
  return std::nullopt;
}

}  // namespace espalier::planner
