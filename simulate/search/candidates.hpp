// The candidate plans of simulate/search/choose_plan.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"
#include "support/deadline.hpp"

namespace espalier::simulate {

struct Candidate {
  // A plan that exists, in whatever segment size. Precondition: it fits the platform.
  Candidate(const planner::Plan& plan, const platforms::Platform& platform);
  Candidate(const planner::Collective& collective, const planner::Algorithm& algorithm,
            std::string label, planner::Outcome outcome);

  std::string algorithm;  // the registry's name, e.g. "hierarchical:binomial"
  std::string label;      // with its limits: "optimal, at most 4 trees"
  planner::Outcome outcome;
  planner::Plan plan;
  std::size_t depth;     // of its deepest tree of either kind
  Seconds crowded{};     // delay_by_crowding, of the message to plan for
  Seconds latency;       // on the path with the largest latency in any tree
  std::uint32_t source;  // index into plan.nodes
  Flows flows;
  Assignments assignments;
};

struct CandidateOptions {
  // Empty: every algorithm for the operation whose running time is bounded, and also `optimal`
  // limited to fewer and to shallower trees.
  std::vector<planner::Algorithm> algorithms;
  planner::AlgorithmOptions limits;  // limits.deadline is ignored; that of the call applies
  // Called before each algorithm, and limits.on_progress while one runs, by any of the threads; may
  // be empty.
  std::function<void(std::string_view)> on_progress{};
  // Threads that make them, at least one. The deadline's clock serves all of them.
  std::size_t jobs = 1;
};

struct Candidates {
  std::vector<Candidate> all;           // in the registry's order, without duplicates of trees
  std::optional<BytesPerSecond> bound;  // proven upper bound on any plan's throughput
  bool complete = true;                 // false: the deadline passed before all were made
};

// Whether both plans have the same trees, orders of children and shares.
bool same_trees(const planner::Plan& one, const planner::Plan& other);

// What the bytes of a message take at the plan's throughput.
Seconds time_of_bytes(const planner::Plan& plan, Bytes message);

// How much longer a message takes than a simulation with turns says, where the plan's sends over
// long links share ports with many over short ones (lp/graph/crowding.hpp). A crowding of 1.1 was
// never seen to cost anything. Precondition: the plan fits the platform.
Seconds delay_by_crowding(const planner::Plan& plan, const platforms::Platform& platform,
                          Bytes message);

// Whether most of the time that the message takes along the plan's trees is not that of its bytes:
// what ports do is then to begin sends, which they do one after the other.
bool is_latency_bound(const planner::Plan& plan, Bytes message, Seconds makespan);

// The most hosts that one host sends to, or receives from, over all trees; no less than those that
// are no crowd (planner::kFewNeighbours).
std::size_t crowd_of(const planner::Plan& plan);

// Makes at least one candidate. If no algorithms are named, omits plans with more trees of a kind
// than limits.max_trees or deeper than limits.max_depth. Omits algorithms that cannot solve the
// problem; if none can, throws the first one's error.
Candidates make_candidates(const planner::Collective& collective, const CandidateOptions& options,
                           const Deadline& deadline);

}  // namespace espalier::simulate
