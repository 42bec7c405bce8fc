// The plan for one message: which trees, and segments of which size. A short message wants shallow
// trees and no pipeline to speak of, a long one the packing's throughput; what lies between is
// found by simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/model/overhead.hpp"
#include "simulate/simulate.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct ChoiceOptions {
  planner::Operation operation = planner::Operation::kBroadcast;
  // What is chosen from, all of which serve the operation. Empty: every algorithm that does and is
  // sure to end by itself, and `optimal` with fewer and with shallower trees as well.
  std::vector<planner::Algorithm> algorithms;
  // max_trees (of either kind) and max_depth hold for all plans where no algorithms are named;
  // time_limit is for all
  // the work; message is the one to choose for, whatever stands here.
  planner::AlgorithmOptions limits;
  std::optional<Bytes> segment;     // unset: chosen; else at least 1 byte
  Bytes least_segment{1024};        // no smaller one is chosen, at least 1 byte
  std::optional<Seconds> overhead;  // counted on links that name none; unset: overhead_for
  // As in simulate::Options.
  std::optional<std::uint64_t> window{};
  std::uint64_t receives = planner::kReceivesInFlight;
  std::optional<BytesPerSecond> compute{};
  // Told what is being done, often; may be empty.
  std::function<void(Seconds elapsed, std::string_view text)> on_progress{};
};

// One that was chosen from, in the segments that suit it best.
struct Candidate {
  std::string algorithm;  // "optimal, at most 4 trees"
  std::size_t reduce_trees = 0;
  std::size_t broadcast_trees = 0;
  std::size_t depth = 0;  // edges on the longest way of any tree
  Bytes segment;
  Seconds makespan;
  bool simulated = false;  // false: it takes at least that long, by the pipeline's formula
};

struct Choice {
  // Its segment is the chosen one, its rates are what its trees carry in such segments on the
  // platform as it was given, its optimum the packing's bound where one was proven.
  planner::Plan plan;
  planner::Outcome outcome;   // what the plan was made of
  Seconds makespan;           // of the message, simulated with `overhead` counted
  bool extrapolated = false;  // from a shorter message: to simulate all of it would take long
  Seconds overhead;           // counted on links that name none
  std::vector<Candidate> candidates;  // the plan's is the first, the others ascend by makespan
  // Of the plan's trees: the segment that the pipeline's formula likes best, and what it then says.
  Bytes formula_segment;
  Seconds formula_makespan;
  std::size_t simulations = 0;
  bool complete = true;  // false: the time limit came before all was tried
};

// Plans from (of a reduction: to) `source` under `model` such that the last host that is to have
// the result of `message`, at least one byte, has it as early as can be found; under the multi-port
// models, of what is at most 1 % later (2.5 % where hosts lack the time for their segments), what
// asks least of hosts and of the order in which links serve (docs/decisions/0015). Throws
// InputError and InfeasibleError as planner::Collective and the algorithms do,
// std::invalid_argument for a segment of no bytes, a window of none, or a compute rate where
// nothing is combined.
Choice choose_plan(const platforms::Platform& platform, platforms::NodeId source,
                   platforms::Model model, bool latency_occupies, Bytes message,
                   const ChoiceOptions& options = {});

}  // namespace espalier::simulate
