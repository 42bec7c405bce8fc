// The arcs between hosts as the tree heuristics see them: a link of the platform's, or the fastest
// path through relays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/host_graph.hpp"
#include "planner/instance.hpp"

namespace espalier::planner {

// Arcs are numbered from 0; tail and head are node indices of the platform.
class HostArcs {
 public:
  // Keeps a reference to the instance. "Fastest": least sum of seconds per byte.
  explicit HostArcs(const Instance& instance);

  [[nodiscard]] std::size_t size() const { return graph_.tail().size(); }
  [[nodiscard]] std::uint32_t tail(std::uint32_t arc) const { return graph_.tail()[arc]; }
  [[nodiscard]] std::uint32_t head(std::uint32_t arc) const { return graph_.head()[arc]; }

  // What a byte on `arc` occupies: resource and seconds, each resource once. Valid until the next
  // call.
  struct Use {
    std::uint32_t resource;
    double seconds_per_byte;
  };
  std::span<const Use> uses(std::uint32_t arc);
  // The largest of them: T of the arc under one-port, and its generalisation under the other
  // models.
  double weight(std::uint32_t arc);

  // Adds the arc's path to the tree as an edge.
  void add_edge(std::uint32_t arc, lp::RoutedTree& tree) const;

 private:
  const Instance* instance_;
  lp::HostGraph graph_;
  std::vector<std::uint32_t> path_;
  std::vector<Use> uses_;
};

}  // namespace espalier::planner
