// Random packing problems for the tests of lp/: a digraph, a root, and the occupation matrix of one
// of the models of docs/model.md, implemented here a second time so that lp/ is tested without
// platforms/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp::testing {

enum class ModelKind { kOnePort, kUnidirectional, kMultiPort, kBoundedMultiPort };
inline const std::vector<ModelKind> kAllModels = {ModelKind::kOnePort, ModelKind::kUnidirectional,
                                                  ModelKind::kMultiPort,
                                                  ModelKind::kBoundedMultiPort};

struct RandomProblem {
  Digraph graph;
  std::uint32_t root = 0;
  SparseMatrix occupation;
  std::string name;

  [[nodiscard]] PackingProblem problem() const { return {graph, root, occupation}; }
};

struct ProblemShape {
  std::uint32_t hosts = 8;
  std::uint32_t relays = 0;
  std::uint32_t extra_links = 8;  // beyond a spanning tree; every link in both directions
  std::uint32_t shared_links = 0;
  double decades = 0.3;    // bandwidths are log-uniform over this many orders of magnitude
  bool equal = false;      // all bandwidths the same
  bool two_kinds = false;  // half of the bandwidths at either end of the decades
};

// Rows: out- and in-side of each node (2 v, 2 v + 1), then a link for each arc, then shared links.
// Empty rows are kept.
inline SparseMatrix occupation_of(const Digraph& graph, const std::vector<double>& seconds,
                                  ModelKind model, std::uint32_t shared_links,
                                  std::mt19937_64& random) {
  const auto nodes = static_cast<int>(graph.node_count);
  const auto arcs = static_cast<int>(graph.arc_count());
  std::vector<Eigen::Triplet<double>> entries;
  std::vector<double> fastest_out(graph.node_count, 1e300);
  for (int e = 0; e < arcs; ++e) {
    const auto arc = static_cast<std::size_t>(e);
    double& fastest = fastest_out[graph.tail[arc]];
    fastest = std::min(fastest, seconds[arc]);
  }
  for (int e = 0; e < arcs; ++e) {
    const auto arc = static_cast<std::size_t>(e);
    const bool from_host = !graph.relay(graph.tail[arc]);
    const bool to_host = !graph.relay(graph.head[arc]);
    const int out = 2 * static_cast<int>(graph.tail[arc]);
    const int in = 2 * static_cast<int>(graph.head[arc]) + 1;
    const double t = seconds[arc];
    bool link = !from_host || !to_host;
    switch (model) {
      case ModelKind::kOnePort:
        if (from_host) entries.emplace_back(out, e, t);
        if (to_host) entries.emplace_back(in, e, t);
        break;
      case ModelKind::kUnidirectional:
        if (from_host) entries.emplace_back(out, e, t);
        if (to_host) entries.emplace_back(in - 1, e, t);
        break;
      case ModelKind::kMultiPort:
        if (from_host) entries.emplace_back(out, e, 0.8 * fastest_out[graph.tail[arc]]);
        link = true;
        break;
      case ModelKind::kBoundedMultiPort:
        if (from_host && graph.tail[arc] % 3 != 0) {
          entries.emplace_back(out, e, 0.3 * fastest_out[graph.tail[arc]]);
        }
        if (to_host && graph.head[arc] % 2 == 0) {
          entries.emplace_back(in, e, 0.4 * fastest_out[graph.head[arc]]);
        }
        link = true;
        break;
    }
    if (link) entries.emplace_back(2 * nodes + e, e, t);
  }
  for (std::uint32_t s = 0; s < shared_links; ++s) {
    const double t = seconds[random() % seconds.size()] * 0.7;
    for (int e = 0; e < arcs; ++e) {
      if (random() % 4 == 0) entries.emplace_back(2 * nodes + arcs + static_cast<int>(s), e, t);
    }
  }
  SparseMatrix matrix(2 * nodes + arcs + static_cast<int>(shared_links), arcs);
  matrix.setFromTriplets(entries.begin(), entries.end());
  matrix.makeCompressed();
  return matrix;
}

inline RandomProblem random_problem(const ProblemShape& shape, ModelKind model,
                                    std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomProblem made;
  made.name = "seed " + std::to_string(seed) + ", model " + std::to_string(static_cast<int>(model));
  const std::uint32_t nodes = shape.hosts + shape.relays;
  made.graph.node_count = nodes;
  if (shape.relays > 0) {
    made.graph.is_relay.assign(nodes, 0);
    std::fill(made.graph.is_relay.begin() + shape.hosts, made.graph.is_relay.end(), 1);
  }
  made.root = static_cast<std::uint32_t>(random() % shape.hosts);
  std::vector<std::uint32_t> order(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::set<std::pair<std::uint32_t, std::uint32_t>> links;
  for (std::uint32_t i = 1; i < nodes; ++i) {
    links.insert(std::minmax(order[random() % i], order[i]));
  }
  for (std::uint32_t i = 0; i < shape.extra_links && nodes > 1; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % nodes);
    const auto b = static_cast<std::uint32_t>(random() % nodes);
    if (a != b) links.insert(std::minmax(a, b));
  }
  std::vector<double> seconds;
  for (const auto& [a, b] : links) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      made.graph.tail.push_back(from);
      made.graph.head.push_back(to);
      const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
      const double power = shape.two_kinds ? std::round(uniform) : uniform;
      seconds.push_back(shape.equal ? 1e-8 : 1e-8 * std::pow(10.0, shape.decades * power));
    }
  }
  made.occupation = occupation_of(made.graph, seconds, model, shape.shared_links, random);
  return made;
}

}  // namespace espalier::lp::testing
