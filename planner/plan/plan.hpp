// A plan: the weighted trees along which a message goes from a source to all hosts (broadcast), is
// combined from all hosts at the source (reduce), or both (allreduce). Knows no platform and no
// solver: a compute node that executes a plan needs this part only (target espalier::plan).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::planner {

// Data goes from parent to child in a broadcast tree, from child to parent in a reduce tree.
struct PlanEdge {
  std::uint32_t parent;  // index into Plan::nodes
  std::uint32_t child;
  auto operator<=>(const PlanEdge&) const = default;
};

struct PlanTree {
  BytesPerSecond rate;  // of the message's bytes, the share that goes along this tree per second
  std::vector<PlanEdge>
      edges;  // hosts - 1 of them; a parent serves its children in the order listed
  // Names of the nodes between parent and child where the edge is no single link of the platform,
  // in the order in which data passes them. Keys are (parent, child).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> via;
  // 0 or 1, one an edge; empty: the plan knows none. An executor that goes by rounds uses the edges
  // of color t mod 2 in round t (Sanders, Speck, Traeff, Parallel Computing 35 (2009),
  // doi:10.1016/j.parco.2009.09.001).
  std::vector<std::uint8_t> colors{};
  // Edges of this tree that are carried out after its other edges: the parent first has all of its
  // share and has sent it to its other children. As in the last phase of the split-binary broadcast
  // (Pjesivac-Grbovic et al., Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0, section
  // 4.2).
  std::vector<PlanEdge> exchange{};
  // Of the links that an edge goes along, added up; one an edge. Empty: none, or the plan knows
  // none. Says how much is in flight at one time, and so how many segments a host has outstanding
  // (planner/plan/send_windows.hpp).
  std::vector<Seconds> latencies{};

  [[nodiscard]] Seconds latency(std::size_t edge) const {
    return latencies.empty() ? Seconds{} : latencies[edge];
  }
};

// One uninterrupted transfer of a period: `parent` sends `bytes` of tree `tree` to `child` from
// `start` (since the period began) for `time`. The bytes need not be whole: a segment may be cut
// between two sends.
struct ScheduledSend {
  std::uint32_t tree;    // index into Plan::broadcast_trees
  std::uint32_t parent;  // the tree has this edge
  std::uint32_t child;
  Seconds start;
  Seconds time;
  double bytes;
  bool operator==(const ScheduledSend&) const = default;
};

// A steady state that can be executed: what every host sends when, the same in every period. In
// each period every edge of tree k carries segments[k] whole segments, which its parent has had in
// full before the period began (docs/model.md, "Schedules").
struct PlanSchedule {
  Seconds period;
  BytesPerSecond throughput;            // what it really carries: all segments' bytes / period
  std::vector<std::uint64_t> segments;  // per tree; 0: its rate is too small for one a period
  std::vector<ScheduledSend> sends;     // ascending by start
  bool operator==(const PlanSchedule&) const = default;
};

enum class Operation : std::uint8_t { kBroadcast, kReduce, kAllreduce };
inline constexpr std::array kOperations{Operation::kBroadcast, Operation::kReduce,
                                        Operation::kAllreduce};
std::string_view name_of(Operation operation);  // "broadcast", "reduce", "allreduce"
constexpr bool reduces(Operation operation) {
  return operation != Operation::kBroadcast;
}
constexpr bool broadcasts(Operation operation) {
  return operation != Operation::kReduce;
}

// Large enough that what a segment costs by itself hardly counts, small enough that pipelines fill
// soon (docs/runtime.md, "Against MPI_Bcast").
inline constexpr Bytes kDefaultSegment{512U << 10U};

struct Plan {
  Operation operation = Operation::kBroadcast;
  std::string platform;  // its name
  std::string source;    // one of nodes; the root of a reduction
  std::string model;
  std::string algorithm;
  std::vector<std::string>
      nodes;  // hosts only, in the platform's order: rank i of a run is nodes[i]
  Bytes segment = kDefaultSegment;
  BytesPerSecond throughput;              // sum of the rates of the trees of either kind
  std::optional<BytesPerSecond> optimum;  // proven upper bound under `model`
  bool latency_occupies = false;          // written only when true
  std::vector<PlanTree> reduce_trees;     // of reduce and allreduce
  std::vector<PlanTree> broadcast_trees;  // of broadcast and allreduce
  std::optional<PlanSchedule> schedule;   // of a broadcast only
};

// A kind of trees of a plan, as the file calls it.
struct PlanTrees {
  std::string_view key;
  const std::vector<PlanTree>* trees;
  bool up;  // data goes to the source
};
// Reduce trees, then broadcast trees. Refers to the plan.
std::array<PlanTrees, 2> trees_by_kind(const Plan& plan);
std::size_t tree_count(const Plan& plan);  // of both kinds

// What is wrong with the plan by itself (no platform needed), first fault only, as (JSON pointer,
// reason); empty when nothing is: every tree spans all nodes exactly once, is rooted at the source,
// has no cycle; there are trees of the kinds that the operation needs, and no other; rates are
// finite and positive and sum to the throughput, each kind by itself (relative 1e-6); the segment
// is at least one byte; colors are 0 or 1, one for each edge of all trees or of none; exchange
// edges are edges of their tree, each named once; latencies are finite, not negative, and as many
// as edges; a schedule's figures are finite, its sends are edges of the trees, in order and within
// the period, and carry the segments that it claims along every edge (relative 1e-6). Whether its
// ports and links can do it, verify says.
struct PlanFault {
  std::string place;
  std::string reason;
};
std::optional<PlanFault> structural_fault(const Plan& plan);

// Whether every edge of the plan's broadcast trees has a color; so it is where there are no edges.
bool is_colored(const Plan& plan);
// The first rank that sends on two edges of one color, or receives on two, over all broadcast
// trees. Empty when there is none, and where the plan has no colors. Precondition: no structural
// fault.
std::optional<PlanFault> color_fault(const Plan& plan);

// Index of the source in plan.nodes. Precondition: no structural fault.
std::uint32_t source_index(const Plan& plan);
// Edges on the longest way from the source to a leaf.
std::size_t depth_of(const PlanTree& tree, std::uint32_t source);
// Latencies on the longest way from the source to a leaf, added up; 0 where the tree tells none.
Seconds latency_of(const PlanTree& tree, std::uint32_t source);
// The largest number of children that one node has.
std::size_t out_degree_of(const PlanTree& tree);
// Stretches of the period in which nobody starts or stops: the matchings that the schedule is.
// Those below 1e-12 of the period are rounding and do not count.
std::size_t step_count(const PlanSchedule& schedule);

// The JSON of docs/formats.md. Numbers are written so that reading gives back the same doubles.
std::string to_json(const Plan& plan);
// Reads it; refuses unknown keys, wrong types, indices out of range (InputError with file and
// pointer). Does not look for structural faults: parse first, then ask structural_fault, then
// decide what it means.
Plan parse_plan(const std::string& text, const std::string& file);
// read_text + parse_plan + structural_fault; every fault is an InputError.
Plan read_plan(const std::string& file);
// Throws InputError, naming `file`, unless the plan's operation is `wanted`. For those who can do
// nothing with another.
void require_operation(const Plan& plan, Operation wanted, const std::string& file);

}  // namespace espalier::planner
