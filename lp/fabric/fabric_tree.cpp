#include "lp/fabric/fabric_tree.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

namespace espalier::lp {

namespace {

// A link between two nodes, by its arcs in both directions.
struct Link {
  std::uint32_t arc;
  std::uint32_t reverse;
  double rate;  // of the slower direction, at most the rate that is wanted
};

using Links = std::vector<std::vector<Link>>;  // per node, those out of it

Links links_of(const PackingProblem& problem, double wanted) {
  const Digraph& graph = problem.graph;
  std::vector<std::vector<std::uint32_t>> out(graph.node_count);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) out[graph.tail[arc]].push_back(arc);
  Links links(graph.node_count);
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    for (const std::uint32_t arc : out[node]) {
      const auto& back = out[graph.head[arc]];
      const auto reverse =
          std::ranges::find(back, node, [&](std::uint32_t its) { return graph.head[its]; });
      if (reverse == back.end()) continue;
      const double rate =
          std::min({wanted, rate_alone(problem, arc), rate_alone(problem, *reverse)});
      links[node].push_back({arc, *reverse, rate});
    }
  }
  return links;
}

// The arcs of each host, which must be one out and one in, to and from a switch.
bool find_host_arcs(const Digraph& graph, FabricTree& tree) {
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (graph.relay(tail) && graph.relay(head)) continue;
    if (!graph.relay(tail) && !graph.relay(head)) return false;
    std::uint32_t& only = graph.relay(tail) ? tree.arc_in[head] : tree.arc_out[tail];
    if (only != kNone) return false;
    only = arc;
  }
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.relay(node)) continue;
    if (tree.arc_in[node] == kNone || tree.arc_out[node] == kNone) return false;
    if (graph.tail[tree.arc_in[node]] != graph.head[tree.arc_out[node]]) return false;
  }
  return true;
}

// Prim's algorithm: the thickest links first, and of equal ones those nearest to the top.
void grow(const Digraph& graph, const Links& links, std::uint32_t top, FabricTree& tree) {
  struct Way {
    double rate;
    std::uint32_t depth;
    std::uint64_t found;  // the order, so that the result does not depend on the queue
    std::uint32_t from;
    Link link;
    bool operator<(const Way& other) const {
      return std::tuple(rate, other.depth, other.found) < std::tuple(other.rate, depth, found);
    }
  };
  std::priority_queue<Way> ways;
  std::vector<char> reached(graph.node_count, 0);
  std::uint64_t found = 0;
  const auto open = [&](std::uint32_t node) {
    reached[node] = 1;
    for (const Link& link : links[node]) {
      if (reached[graph.head[link.arc]] == 0) {
        ways.push({link.rate, tree.depth[node] + 1, found++, node, link});
      }
    }
  };
  open(top);
  while (!ways.empty()) {
    const Way way = ways.top();
    ways.pop();
    const std::uint32_t node = graph.head[way.link.arc];
    if (reached[node] != 0) continue;
    tree.arc_down[node] = way.link.arc;
    tree.arc_up[node] = way.link.reverse;
    tree.above[node] = way.from;
    tree.depth[node] = way.depth;
    open(node);
  }
}

void walk(const Digraph& graph, std::uint32_t root, std::uint32_t top, FabricTree& tree) {
  std::vector<std::vector<std::uint32_t>> below(graph.node_count);
  for (std::uint32_t node = graph.node_count; node-- > 0;) {  // so that the first is taken first
    if (tree.above[node] != kNone) below[tree.above[node]].push_back(node);
  }
  std::vector<std::uint32_t> open{top};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (!graph.relay(node) && node != root) tree.hosts.push_back(node);
    open.insert(open.end(), below[node].begin(), below[node].end());
  }
}

}  // namespace

double rate_alone(const PackingProblem& problem, std::uint32_t arc) {
  double longest = 0;
  for (SparseMatrix::InnerIterator use(problem.occupation, static_cast<Eigen::Index>(arc)); use;
       ++use) {
    longest = std::max(longest, use.value());
  }
  return 1 / longest;
}

std::uint32_t FabricTree::meet(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& lower = depth[a] >= depth[b] ? a : b;
    lower = above[lower];
  }
  return a;
}

std::optional<FabricTree> fabric_tree(const PackingProblem& problem, double rate) {
  const Digraph& graph = problem.graph;
  const auto none = std::vector<std::uint32_t>(graph.node_count, kNone);
  FabricTree tree{none, none, none, std::vector<std::uint32_t>(graph.node_count, 0),
                  none, none, {}};
  if (!find_host_arcs(graph, tree)) return std::nullopt;
  const std::uint32_t top = graph.head[tree.arc_out[problem.root]];
  grow(graph, links_of(problem, rate), top, tree);
  walk(graph, problem.root, top, tree);
  if (tree.hosts.size() + 1 != graph.host_count()) return std::nullopt;
  return tree;
}

}  // namespace espalier::lp
