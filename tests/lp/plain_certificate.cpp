#include "tests/lp/plain_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/errors.hpp"

namespace espalier::lp {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct PlainArc {
  std::uint32_t tail;
  std::uint32_t head;
  double cost;
};

// Cheapest path from `from` to every node, through relays only.
std::vector<double> plain_relay_distances(const Digraph& graph, std::span<const double> arc_cost,
                                          std::uint32_t from) {
  std::vector<double> distance(graph.node_count, kInf);
  distance[from] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t arc = 0; arc < graph.arc_count(); ++arc) {
      const std::uint32_t tail = graph.tail[arc];
      if (tail != from && !graph.relay(tail)) continue;
      const double candidate = distance[tail] + arc_cost[arc];
      if (candidate >= distance[graph.head[arc]]) continue;
      distance[graph.head[arc]] = candidate;
      changed = true;
    }
  }
  return distance;
}

// One contraction round of Chu-Liu-Edmonds: the cheapest arc into every node, and the cycles that
// these arcs form.
struct Round {
  std::vector<std::uint32_t> best;   // arc into each node
  std::vector<std::uint32_t> group;  // new number of each node; the nodes of a cycle share one
  std::uint32_t groups = 0;
  bool spans = true;
  bool has_cycle = false;
};

void follow(Round& round, const std::vector<PlainArc>& arcs, std::vector<std::uint32_t>& seen_from,
            std::uint32_t start, std::uint32_t root) {
  std::uint32_t node = start;
  while (node != root && seen_from[node] == kNone) {
    seen_from[node] = start;
    node = arcs[round.best[node]].tail;
  }
  if (node == root || seen_from[node] != start || round.group[node] != kNone) return;
  round.has_cycle = true;
  do {
    round.group[node] = round.groups;
    node = arcs[round.best[node]].tail;
  } while (round.group[node] == kNone);
  ++round.groups;
}

Round contract_once(std::uint32_t nodes, const std::vector<PlainArc>& arcs, std::uint32_t root) {
  Round round{std::vector<std::uint32_t>(nodes, kNone), std::vector<std::uint32_t>(nodes, kNone)};
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    const auto& [tail, head, cost] = arcs[arc];
    if (head == root || tail == head) continue;
    if (round.best[head] == kNone || cost < arcs[round.best[head]].cost) round.best[head] = arc;
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    round.spans = round.spans && (node == root || round.best[node] != kNone);
  }
  if (!round.spans) return round;
  std::vector<std::uint32_t> seen_from(nodes, kNone);
  for (std::uint32_t node = 0; node < nodes; ++node) follow(round, arcs, seen_from, node, root);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (round.group[node] == kNone) round.group[node] = round.groups++;
  }
  return round;
}

std::string tree_fault(const PackingProblem& problem, const RoutedTree& tree) {
  const Digraph& graph = problem.graph;
  std::vector<std::uint32_t> parent(graph.node_count, kNone);
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const std::span<const std::uint32_t> path = tree.path(edge);
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i] >= graph.arc_count()) return fmt::format("edge {} is not an arc", edge);
      if (i > 0 && graph.tail[path[i]] != graph.head[path[i - 1]]) {
        return fmt::format("the path of edge {} is broken", edge);
      }
    }
    const std::uint32_t from = graph.tail[path.front()];
    const std::uint32_t to = graph.head[path.back()];
    if (graph.relay(from) || graph.relay(to)) return fmt::format("edge {} ends at a relay", edge);
    if (parent[to] != kNone || to == problem.root) {
      return fmt::format("node {} has two parents", to);
    }
    parent[to] = from;
  }
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.relay(node)) continue;
    std::uint32_t above = node;
    for (std::uint32_t steps = 0; above != problem.root; ++steps) {
      if (steps > graph.node_count || parent[above] == kNone) {
        return fmt::format("node {} is not connected to the root", node);
      }
      above = parent[above];
    }
  }
  return {};
}

}  // namespace

std::optional<double> plain_min_arborescence_cost(std::uint32_t node_count,
                                                  std::span<const std::uint32_t> tail,
                                                  std::span<const std::uint32_t> head,
                                                  std::span<const double> cost,
                                                  std::uint32_t root) {
  std::vector<PlainArc> arcs;
  for (std::size_t arc = 0; arc < tail.size(); ++arc) {
    arcs.push_back({tail[arc], head[arc], cost[arc]});
  }
  double total = 0;
  for (;;) {
    const Round round = contract_once(node_count, arcs, root);
    if (!round.spans) return std::nullopt;
    for (std::uint32_t node = 0; node < node_count; ++node) {
      if (node != root) total += arcs[round.best[node]].cost;
    }
    if (!round.has_cycle) return total;
    std::vector<PlainArc> contracted;
    for (const auto& [from, to, price] : arcs) {
      if (to == root || round.group[from] == round.group[to]) continue;
      const double reduced = price - arcs[round.best[to]].cost;
      contracted.push_back({round.group[from], round.group[to], reduced});
    }
    arcs = std::move(contracted);
    root = round.group[root];
    node_count = round.groups;
  }
}

double bound_from_prices(const PackingProblem& problem, std::span<const double> prices) {
  double sum = 0;
  for (const double price : prices) {
    if (!(price >= 0) || !std::isfinite(price)) {
      throw InputError("a certificate's prices must be finite and not negative");
    }
    sum += price;
  }
  if (!(sum > 0)) throw InputError("a certificate needs a price above zero");
  const Digraph& graph = problem.graph;
  std::vector<double> arc_cost(graph.arc_count(), 0.0);
  for (std::size_t arc = 0; arc < arc_cost.size(); ++arc) {
    for (SparseMatrix::InnerIterator it(problem.occupation, static_cast<Eigen::Index>(arc)); it;
         ++it) {
      arc_cost[arc] += it.value() * prices[static_cast<std::size_t>(it.row())];
    }
  }
  std::vector<std::uint32_t> number(graph.node_count, kNone);
  std::uint32_t hosts = 0;
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (!graph.relay(node)) number[node] = hosts++;
  }
  std::vector<std::uint32_t> tail;
  std::vector<std::uint32_t> head;
  std::vector<double> cost;
  const auto add = [&](std::uint32_t from, std::uint32_t to, double price) {
    tail.push_back(number[from]);
    head.push_back(number[to]);
    cost.push_back(price);
  };
  const bool relays = hosts < graph.node_count;
  for (std::uint32_t host = 0; relays && host < graph.node_count; ++host) {
    if (graph.relay(host)) continue;
    const std::vector<double> distance = plain_relay_distances(graph, arc_cost, host);
    for (std::uint32_t to = 0; to < graph.node_count; ++to) {
      if (to != host && !graph.relay(to) && distance[to] < kInf) add(host, to, distance[to]);
    }
  }
  for (std::size_t arc = 0; !relays && arc < arc_cost.size(); ++arc) {
    add(graph.tail[arc], graph.head[arc], arc_cost[arc]);
  }
  const auto least = plain_min_arborescence_cost(hosts, tail, head, cost, number[problem.root]);
  if (!least) throw InfeasibleError("some host cannot be reached from the source");
  return *least > 0 ? sum / *least : kInf;
}

std::string packing_fault(const PackingProblem& problem, const Packing& packing, double tolerance) {
  std::vector<double> load(static_cast<std::size_t>(problem.occupation.rows()), 0.0);
  double rate = 0;
  for (std::size_t i = 0; i < packing.trees.size(); ++i) {
    const PackedTree& packed = packing.trees[i];
    if (!(packed.rate > 0) || !std::isfinite(packed.rate)) {
      return fmt::format("tree {} has rate {}", i, packed.rate);
    }
    const std::string fault = tree_fault(problem, packed.tree);
    if (!fault.empty()) return fmt::format("tree {}: {}", i, fault);
    const std::vector<double> more = tree_load(problem.occupation, packed.tree);
    for (std::size_t r = 0; r < load.size(); ++r) load[r] += packed.rate * more[r];
    rate += packed.rate;
  }
  const auto busiest = std::max_element(load.begin(), load.end());
  if (busiest != load.end() && *busiest > 1 + tolerance) {
    return fmt::format("resource {} is loaded to {}", busiest - load.begin(), *busiest);
  }
  if (std::abs(rate - packing.rate) > tolerance * rate) {
    return fmt::format("the rate {} is not the sum {}", packing.rate, rate);
  }
  const double proven = bound_from_prices(problem, packing.prices);
  if (proven > packing.bound * (1 + tolerance)) {
    return fmt::format("the prices prove {}, not {}", proven, packing.bound);
  }
  return {};
}

}  // namespace espalier::lp
