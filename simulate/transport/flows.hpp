// A plan mapped to a platform's resources: what a segment occupies along every edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::simulate {

// One edge of one tree.
struct Flow {
  std::uint32_t parent;  // index into Plan::nodes
  std::uint32_t child;
  std::uint32_t tree;               // numbered over all blocks, the reduce trees first
  bool up;                          // in a reduce tree: data goes from child to parent
  double rate_bps;                  // of the tree, bytes per second
  double latency_s;                 // from the end of a send to the arrival; sum along the path
  std::vector<std::uint32_t> arcs;  // in the order in which data passes them
};

// All flows, numbered by parent, then tree, then the plan's order of children. In this order hosts
// inject segments and combine them.
class Flows {
 public:
  // latency_occupies: latencies are part of a segment's occupation, and add no further delay.
  // Throws InputError (reason only, with the JSON pointer of the edge) for an edge that is not a
  // path of the platform. Precondition: the plan has no structural fault and fits the platform.
  Flows(const planner::Plan& plan, const platforms::Platform& platform, bool latency_occupies);

  [[nodiscard]] std::span<const Flow> all() const { return flows_; }
  [[nodiscard]] std::size_t hosts() const { return hosts_; }
  [[nodiscard]] std::size_t trees() const { return trees_; }  // of all blocks
  // Reduce trees: the first ones of a plan with one root; of others, which may have them among
  // others, their number.
  [[nodiscard]] std::size_t up_trees() const { return up_trees_; }
  // The tree's number as the plan counts: among the trees of its kind, of a plan with one root, or
  // among those of all blocks.
  [[nodiscard]] std::uint32_t number_in_plan(const Flow& flow) const {
    return flow.up || has_blocks_ ? flow.tree : flow.tree - static_cast<std::uint32_t>(up_trees_);
  }
  // The flows between `host` and its children in `tree`: [first, last).
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  [[nodiscard]] Range below(std::uint32_t host, std::uint32_t tree) const {
    if (first_flow_.empty()) return search_below(host, tree);
    const std::size_t place = host * trees_ + tree;
    return {first_flow_[place], first_flow_[place + 1]};
  }

 private:
  [[nodiscard]] Range search_below(std::uint32_t host, std::uint32_t tree) const;

  std::size_t hosts_;
  std::size_t trees_;
  std::size_t up_trees_ = 0;
  bool has_blocks_;
  std::vector<Flow> flows_;
  // At host * trees + tree, and one past the last; empty where that would be a large table.
  std::vector<std::uint32_t> first_flow_;
};

// `resource` (a row of A) is busy for `seconds` from the beginning of a stretch.
struct Holding {
  std::uint32_t resource;
  double seconds;
};

// What one segment of a given size occupies along each flow. The path is divided into stretches; a
// stretch occupies all its resources at once. Under the one-port models a stretch is an arc: sender
// and receiver are busy at the same time. Under the others it is one resource: sender, link, shared
// link or receiver.
class Holdings {
 public:
  // options.segment: at least 1 byte, including overheads; or 0: no holdings.
  Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
           platforms::OccupationOptions options);
  // occupation: that of the flows' platform under `model` for `segment`, at least 1 byte.
  Holdings(const Flows& flows, const platforms::Occupation& occupation, platforms::Model model,
           Bytes segment);

  // The same of segments whose sizes differ: for each tree, at least 1 byte.
  Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
           bool latency_occupies, std::span<const std::uint64_t> bytes_of_tree);

  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  // The flow's stretches, from the sender on: [first, last).
  [[nodiscard]] Range stretches(std::size_t flow) const {
    return {first_stretch_[flow], first_stretch_[flow + 1]};
  }
  // What a stretch occupies, the shortest time first; at least one holding.
  [[nodiscard]] std::span<const Holding> held_on(std::uint32_t stretch) const {
    return std::span(holdings_).subspan(first_[stretch], first_[stretch + 1] - first_[stretch]);
  }
  // What all stretches of the flow occupy.
  [[nodiscard]] std::span<const Holding> of(std::size_t flow) const {
    const std::size_t first = first_[first_stretch_[flow]];
    return std::span(holdings_).subspan(first, first_[first_stretch_[flow + 1]] - first);
  }
  // The duration of a send that never waits: the longest time of its holdings.
  [[nodiscard]] double seconds(std::size_t flow) const;

 private:
  void append(const Flow& flow, const platforms::Occupation& occupation, platforms::Model model,
              std::uint64_t segment);

  std::vector<Holding> holdings_;
  std::vector<std::uint32_t> first_;          // per stretch, in holdings_
  std::vector<std::uint32_t> first_stretch_;  // per flow, in first_
};

}  // namespace espalier::simulate
