// The plans among which simulate/choose_plan chooses.
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
#include "planner/problem/deadline.hpp"
#include "planner/registry.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

struct Candidate {
  Candidate(const planner::Collective& collective, const planner::Algorithm& algorithm,
            std::string label, planner::Outcome outcome);

  std::string algorithm;  // as the registry has it, "hierarchical:binomial"
  std::string label;      // the same, and how it was limited: "optimal, at most 4 trees"
  planner::Outcome outcome;
  planner::Plan plan;
  std::size_t depth;     // of its deepest tree of either kind
  Seconds latency;       // on the longest way of any tree
  std::uint32_t source;  // index into plan.nodes
  Flows flows;
  Assignments assignments;
};

struct CandidateOptions {
  // Empty: every algorithm that serves the operation and is sure to end by itself, and `optimal`
  // limited to fewer and to shallower trees as well.
  std::vector<planner::Algorithm> algorithms;
  planner::AlgorithmOptions limits;  // limits.time_limit does not count; the deadline does
  std::function<void(std::string_view)> on_progress{};  // before each algorithm; may be empty
};

struct Candidates {
  std::vector<Candidate> all;           // in the registry's order; of equal trees the first
  std::optional<BytesPerSecond> bound;  // proven: no plan carries more
  bool complete = true;                 // false: the deadline came before all were made
};

// Whether hosts do the same by both: trees, orders of children, shares.
bool same_trees(const planner::Plan& one, const planner::Plan& other);

// At least one. Where no algorithms are named, plans of more trees of a kind than limits.max_trees,
// or deeper than limits.max_depth, are left out. So is an algorithm that cannot solve the problem;
// where none can, the first one's error is thrown.
Candidates make_candidates(const planner::Collective& collective, const CandidateOptions& options,
                           const planner::Deadline& deadline);

}  // namespace espalier::simulate
