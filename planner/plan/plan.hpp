// A plan: the weighted trees along which a message goes from a source to all hosts (broadcast), is
// combined from all hosts at the source (reduce), or both (allreduce); or blocks of such trees, or
// of paths, of an operation whose message has a part for each host. Independent of platforms and
// solvers: a compute node that executes a plan needs only this part (target espalier::plan).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
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
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes a defaulted <=> for a null pointer
  auto operator<=>(const PlanEdge&) const = default;
};

struct PlanTree {
  BytesPerSecond rate;          // bytes of the message that this tree carries per second
  std::vector<PlanEdge> edges;  // hosts - 1; a parent serves its children in the order listed
  // Names of the nodes between parent and child where the edge is not a single link of the
  // platform, in the order in which data passes them. Keys are (parent, child).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> via;
  // 0 or 1, one per edge; empty: the plan has no colors. An executor that works in rounds uses the
  // edges of color t mod 2 in round t (Sanders, Speck, Traeff, Parallel Computing 35 (2009),
  // doi:10.1016/j.parco.2009.09.001).
  std::vector<std::uint8_t> colors{};
  // Edges of this tree that are used after its other edges: the parent first receives all of its
  // share and sends it to its other children. This is the last phase of the split-binary broadcast
  // (Pjesivac-Grbovic et al., Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0, section
  // 4.2).
  std::vector<PlanEdge> exchange{};
  // The sum of the latencies of the edge's links, one per edge. Empty: no latencies, or unknown.
  // Determines how many bytes are in flight, and so how many segments a host has outstanding
  // (planner/plan/send_windows.hpp).
  std::vector<Seconds> latencies{};

  [[nodiscard]] Seconds latency(std::size_t edge) const {
    return latencies.empty() ? Seconds{} : latencies[edge];
  }
};

// One uninterrupted transfer of a period: `bytes` of tree `tree` go along one of its edges, in the
// direction of the tree's data, from `start` (since the period began) for `time`. The bytes need
// not be an integer: a segment may be split between two sends.
struct ScheduledSend {
  std::uint32_t tree;    // index into trees_in_order
  std::uint32_t parent;  // the tree has this edge
  std::uint32_t child;
  Seconds start;
  Seconds time;
  double bytes;
  bool operator==(const ScheduledSend&) const = default;
};

// An executable steady state: what every host sends and when, the same in every period. In each
// period every edge of tree k carries segments[k] whole segments, which its sender had, combined
// with those of all its children in a reduce tree, before the period began (docs/model.md,
// "Schedules").
struct PlanSchedule {
  Seconds period;
  BytesPerSecond throughput;  // what the schedule carries: bytes of all segments / period
  // Per tree; 0: its rate is too small for one per period. In an allreduce as many over its reduce
  // trees as over its broadcast trees.
  std::vector<std::uint64_t> segments;
  std::vector<ScheduledSend> sends;  // ascending by start
  bool operator==(const PlanSchedule&) const = default;
};

enum class Operation : std::uint8_t {
  kBroadcast,
  kReduce,
  kAllreduce,
  kAllgather,
  kReduceScatter,
  kScatter,
  kGather,
  kAlltoall,
  kBarrier,
};
// Whose message is the same for all hosts: every command serves them.
inline constexpr std::array kOperations{Operation::kBroadcast, Operation::kReduce,
                                        Operation::kAllreduce};
// All that move a message.
inline constexpr std::array kEveryOperation{
    Operation::kBroadcast,     Operation::kReduce,  Operation::kAllreduce, Operation::kAllgather,
    Operation::kReduceScatter, Operation::kScatter, Operation::kGather,    Operation::kAlltoall};
// And a barrier: an allreduce of nothing, whose plan is one tree up and one down for the least
// time.
inline constexpr std::array kOperationsAndBarrier{
    Operation::kBroadcast, Operation::kReduce,        Operation::kAllreduce,
    Operation::kAllgather, Operation::kReduceScatter, Operation::kScatter,
    Operation::kGather,    Operation::kAlltoall,      Operation::kBarrier};
std::string_view name_of(Operation operation);  // "broadcast", "reduce", "allreduce", ...
// Throws InputError (reason only) that suggests the nearest name.
Operation parse_operation(std::string_view name);
std::string with_article(Operation operation);  // "a broadcast"
// Whether its trees go to the root, or away from it, for an operation with one root.
constexpr bool reduces(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kAllreduce ||
         operation == Operation::kBarrier;
}
constexpr bool broadcasts(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kAllreduce ||
         operation == Operation::kBarrier;
}
// Whether it has both: trees to a root, and after them trees from it.
constexpr bool goes_both_ways(Operation operation) {
  return reduces(operation) && broadcasts(operation);
}
// Whether the message has a part for each host.
constexpr bool has_parts(Operation operation) {
  return !reduces(operation) && !broadcasts(operation);
}
// Whether each part goes to one host only: copied or combined nowhere.
constexpr bool routes(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kGather ||
         operation == Operation::kAlltoall;
}
// Whether one root must be named. An allreduce may have one, or free roots; a barrier has one,
// which may be chosen.
constexpr bool needs_root(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kReduce ||
         operation == Operation::kScatter || operation == Operation::kGather;
}
// Whether it has one root, or may have one.
constexpr bool may_have_root(Operation operation) {
  return needs_root(operation) || goes_both_ways(operation);
}
// Whether it has no message.
constexpr bool has_no_data(Operation operation) {
  return operation == Operation::kBarrier;
}
// Whether it combines the data of ranks.
constexpr bool combines(Operation operation) {
  return (reduces(operation) && !has_no_data(operation)) || operation == Operation::kReduceScatter;
}

// Whether its plans with one root may have a periodic schedule.
constexpr bool can_have_schedule(Operation operation) {
  return (reduces(operation) || broadcasts(operation)) && !has_no_data(operation);
}

// Large enough that the overhead per segment hardly matters, small enough that pipelines fill soon
// (docs/runtime.md, "Against MPI_Bcast").
inline constexpr Bytes kDefaultSegment{512U << 10U};

// How the data of a block travels along its trees.
enum class BlockKind : std::uint8_t {
  kSpread,   // from the root to all other hosts, copied on the way
  kCombine,  // from all other hosts to the root, combined on the way
  kRoute,    // from the root to one other host, along paths
};
inline constexpr std::array kBlockKinds{BlockKind::kSpread, BlockKind::kCombine, BlockKind::kRoute};
std::string_view name_of(BlockKind kind);  // "spread", "combine", "route"
// Whether the operation has blocks of this kind. In an allgather and a reduce-scatter every host
// with a share is the root of one. In an allreduce whose roots are free, some hosts are the roots
// of two blocks of equal shares, one of which combines, and the other spreads after it. Where parts
// are routed, there is a block for each part that goes to another host.
constexpr bool has_blocks_of(BlockKind kind, Operation operation) {
  switch (kind) {
    case BlockKind::kCombine:
      return operation == Operation::kReduceScatter || operation == Operation::kAllreduce;
    case BlockKind::kSpread:
      return operation == Operation::kAllgather || operation == Operation::kAllreduce;
    case BlockKind::kRoute:
      break;
  }
  return routes(operation);
}

// A share of the message that has a root of its own. What "the message" means: docs/formats.md,
// "Plan"; of an alltoall, it is what one host sends.
struct PlanBlock {
  BlockKind kind = BlockKind::kSpread;
  std::uint32_t root = 0;  // index into Plan::nodes
  double share = 1;        // of the message's bytes; the trees' rates sum to share x throughput
  std::optional<std::uint32_t> after{};  // the block that is whole at the root before this begins
  std::vector<PlanTree> trees{};
  // Of a block that routes: the node that its trees, which are paths, lead to.
  std::optional<std::uint32_t> to{};
  // Of a broadcast to some of the nodes: these, ascending. The others help: a tree contains all
  // members and those nodes that pass its segments on. Empty: all nodes but the root.
  std::vector<std::uint32_t> members{};
};

// What a plan costs, on a platform with prices.
struct PlanCost {
  double per_GB = 0;                      // for 10^9 bytes of the message, over all links
  double per_hour = 0;                    // of all nodes, while it runs
  std::optional<double> budget_per_GB{};  // at most this for the links; `optimum` is within it
  std::string currency{};                 // may be empty
};

struct Plan {
  Operation operation = Operation::kBroadcast;
  std::string platform;  // its name
  std::string source;    // the root, one of nodes; empty: there is none, or several
  std::string model;
  std::string algorithm;
  std::vector<std::string>
      nodes;  // hosts only, in the platform's order: rank i of a run is nodes[i]
  Bytes segment = kDefaultSegment;
  BytesPerSecond throughput;              // sum of the rates of the trees of each kind
  std::optional<BytesPerSecond> optimum;  // proven upper bound under `model`
  bool latency_occupies = false;          // written only when true
  std::vector<PlanTree> reduce_trees;     // of reduce and allreduce
  std::vector<PlanTree> broadcast_trees;  // of broadcast and allreduce
  std::optional<PlanSchedule> schedule;   // where can_have_schedule
  std::vector<PlanBlock> blocks{};        // of other operations, several roots, and helpers
  std::optional<PlanCost> cost{};         // unset: no prices are known

  // Whether all its trees have the same root, lead to all nodes, and carry the whole message.
  [[nodiscard]] bool has_one_root() const { return blocks.empty(); }
  // Whether it is a broadcast to some of the nodes, with the help of others.
  [[nodiscard]] bool has_helpers() const {
    return !blocks.empty() && !blocks.front().members.empty();
  }
  // Whether this node only passes parts of the message on.
  [[nodiscard]] bool helps(std::uint32_t node) const;
};

// Of a plan whose blocks have the same root, at most one of each kind: they become its trees.
void take_blocks_of_one_root(Plan& plan);

// The trees of one kind, or of one block, with their place in the file.
struct PlanTrees {
  std::string key;  // "reduce_trees", "blocks/3/trees"
  const std::vector<PlanTree>* trees;
  bool up;             // data goes towards the root
  std::uint32_t root;  // index into Plan::nodes; UINT32_MAX: the source is not one of them
  double share = 1;    // of the message's bytes
  std::optional<std::size_t> after{};        // the trees whose message is whole at the root first
  std::optional<std::uint32_t> to{};         // where they are paths: the node that they lead to
  std::span<const std::uint32_t> members{};  // PlanBlock::members

  [[nodiscard]] BlockKind kind() const {
    return to ? BlockKind::kRoute : up ? BlockKind::kCombine : BlockKind::kSpread;
  }
};
// Reduce trees, then broadcast trees, which may be empty; or those of each block. Refers to the
// plan.
std::vector<PlanTrees> trees_by_kind(const Plan& plan);
// The same without empty ones.
std::vector<PlanTrees> blocks_of(const Plan& plan);
// A tree of a plan with one root.
struct DirectedTree {
  const PlanTree* tree;
  bool up;  // data goes towards the root

  [[nodiscard]] std::uint32_t sender(const PlanEdge& edge) const {
    return up ? edge.child : edge.parent;
  }
  [[nodiscard]] std::uint32_t receiver(const PlanEdge& edge) const {
    return up ? edge.parent : edge.child;
  }
};
// As a schedule numbers them: the reduce trees, then the broadcast trees. Refers to the plan.
std::vector<DirectedTree> trees_in_order(const Plan& plan);
// Of an operation whose message has a part for each node: the share of each node's part, sum 1; 0
// without a block. Of an alltoall: nodes x nodes, sender by sender, sum nodes. What blocks leave of
// the message is what a root has for itself, in an alltoall all nodes alike. Of other operations:
// empty.
std::vector<double> shares_of(const Plan& plan);
// Whether a block comes after another one.
bool has_sequence(std::span<const PlanTrees> blocks);
std::size_t tree_count(const Plan& plan);           // of all kinds
std::size_t tree_count(const Plan& plan, bool up);  // whose data goes towards the root, or away

// Throws InputError (file, JSON pointer, reason) for the first structural fault, one of the plan
// alone (docs/formats.md, "Plan"): trees that do not span the nodes from the source, figures out of
// range, rates that do not sum to the throughput (relative 1e-6), lists of the wrong length, a
// schedule whose sends do not carry its segments. `verify` checks whether ports and links can carry
// the plan.
void check_structure(const Plan& plan, const std::string& file = {});

// Whether every edge of the trees has a color; true where there are no edges.
bool is_colored(std::span<const PlanTree> trees);
// Throws InputError if a rank sends on two edges of the same color, or receives on two, over all
// trees of one kind. Precondition: no structural fault.
void check_colors(const Plan& plan, const std::string& file = {});

// Index of the source in plan.nodes. Precondition: no structural fault.
std::uint32_t source_index(const Plan& plan);
// Edges on the longest path from the source to a leaf.
std::size_t depth_of(const PlanTree& tree, std::uint32_t source);
// Largest sum of latencies from the source to a leaf; 0 where the tree has no latencies.
Seconds latency_of(const PlanTree& tree, std::uint32_t source);
// The largest number of children of a node.
std::size_t out_degree_of(const PlanTree& tree);
struct TreeFigures {
  std::size_t depth = 0;  // edges between hosts
  std::size_t out_degree = 0;
};
// The largest over all trees of both kinds. Precondition: no structural fault.
TreeFigures figures_of(const Plan& plan);
// Segments of the message in a period of a schedule for the plan.
std::uint64_t segments_in_period(const Plan& plan, const PlanSchedule& schedule);
// Intervals of the period in which no send starts or ends: the matchings of the schedule. Intervals
// below 1e-12 of the period are rounding and not counted.
std::size_t step_count(const PlanSchedule& schedule);

// Which plans a reader takes.
enum class Roots : std::uint8_t { kOne, kAny };

// The JSON of docs/formats.md. Numbers are written so that reading gives back the same doubles.
std::string to_json(const Plan& plan);
// Reads it. Throws InputError, with file and pointer, for unknown keys, wrong types and indices out
// of range, and for a plan that has not the roots that the caller takes. Does not check structural
// faults: call check_structure on the result. Blocks of an operation with one root become its
// trees.
Plan parse_plan(const std::string& text, const std::string& file, Roots roots = Roots::kOne);
// read_text + parse_plan + check_structure.
Plan read_plan(const std::string& file, Roots roots = Roots::kOne);
// Throws InputError, naming `file`, unless the plan's operation is `wanted`.
void require_operation(const Plan& plan, Operation wanted, const std::string& file);

}  // namespace espalier::planner
