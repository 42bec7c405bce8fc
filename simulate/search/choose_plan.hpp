// Chooses the plan for one message: its trees and its segment size. Short messages need shallow
// trees and hardly any pipelining, long ones the packing's throughput. Between these, simulation
// decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/model/overhead.hpp"
#include "simulate/simulate.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct ChoiceOptions {
  planner::Operation operation = planner::Operation::kBroadcast;
  // The candidates, all of which must serve the operation. Empty: every algorithm for it whose
  // running time is bounded, and also `optimal` with fewer and with shallower trees.
  std::vector<planner::Algorithm> algorithms;
  // max_trees (of either kind) and max_depth apply to all plans if no algorithms are named.
  // deadline applies to the whole choice. message is ignored.
  planner::AlgorithmOptions limits;
  Options run{};                    // segment unset: chosen; sends are in turns, without a schedule
  Bytes least_segment{1024};        // the smallest one to choose, at least 1 byte
  std::optional<Seconds> overhead;  // assumed on links without one; unset: overhead_for
  std::size_t jobs = 1;             // threads, at least one
  // Of an operation with one root: a plan that takes longer is of no use, so the search ends early.
  Seconds longest{std::numeric_limits<double>::infinity()};
  // Called often with the current step, by any of the threads; may be empty.
  std::function<void(Seconds elapsed, std::string_view text)> on_progress{};
};

// A candidate in its best segment size.
struct CandidateResult {
  std::string algorithm;  // "optimal, at most 4 trees"
  std::string root{};     // set where it was chosen, too
  std::size_t reduce_trees = 0;
  std::size_t broadcast_trees = 0;
  std::size_t depth = 0;  // edges on the longest path of any tree
  Bytes segment;
  Seconds makespan;
  bool simulated = false;  // false: a lower bound by the pipeline formula
};

// "ecef", or "ecef via HOST".
std::string label_of(const CandidateResult& candidate);

// The chosen one first, the others after it by makespan.
void put_first(std::size_t chosen, std::vector<CandidateResult>& candidates);

struct Choice {
  // With the chosen segment size, the rates of its trees with it on the given platform, and as
  // optimum the packing's bound, if proven.
  planner::Plan plan;
  planner::Outcome outcome;  // what the plan was made from
  Seconds makespan;          // of the message, simulated with `overhead`
  // The longer of this and the time where sends share ports, if plans were compared by that.
  std::optional<Seconds> with_shared_ports;
  bool extrapolated = false;                // from a shorter message, to save time
  Seconds overhead;                         // assumed on links without one
  std::vector<CandidateResult> candidates;  // the plan's first, then by makespan
  // For the plan's trees: the best segment by the pipeline formula, and the formula's makespan.
  // 0 bytes: several roots, or parts, for which it does not hold.
  Bytes formula_segment{0};
  Seconds formula_makespan{};
  std::size_t simulations = 0;
  bool complete = true;  // false: the time limit was reached before all were tried
};

// Finds the plan from (for a reduction: to) `source` under `model` with the least makespan for
// `message`, at least 1 byte; under the multi-port models the most robust of nearly equal ones
// (docs/decisions/0015). Throws InputError and InfeasibleError as planner::Collective and the
// algorithms do, std::invalid_argument as require_valid.
Choice choose_plan(const platforms::Platform& platform, platforms::NodeId source,
                   platforms::Model model, bool latency_occupies, Bytes message,
                   const ChoiceOptions& options = {});

// The same for a problem, whose operation counts, not that of the options.
Choice choose_plan(const planner::Collective& problem, Bytes message, ChoiceOptions options = {});

}  // namespace espalier::simulate
