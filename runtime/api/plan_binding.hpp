// Binds a plan to a communicator, for broadcasts and reductions: checks the plan and the options,
// and maps ranks to nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/api/tuned_segments.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

struct PlanBinding {
  std::vector<int> rank_of_node;  // for each of plan.nodes, in order
  int root = 0;                   // the rank of the plan's source
  std::string node;               // name of this rank's node
};

// The options that broadcasts and reductions share; meanings as in runtime/api/broadcast.hpp. tuned
// is not owned.
struct PlanBindingOptions {
  std::size_t sends_in_flight;
  std::size_t receives_in_flight;
  std::size_t ports;
  RankMapping mapping;
  bool check_sizes;
  std::uint64_t segment_bytes;
  std::span<const TunedSegment> tuned;
  double tuned_within;
};

template <class Options>
PlanBindingOptions binding_options(const Options& options) {
  return {options.sends_in_flight, options.receives_in_flight, options.ports, options.mapping,
          options.check_sizes,     options.segment_bytes,      options.tuned, options.tuned_within};
}

// Numbers that must be equal on all ranks: they represent the plan and the options.
std::vector<std::uint64_t> fingerprint(const planner::Plan& plan,
                                       const PlanBindingOptions& options);

// Collective over comm. check: further checks of plan and options; throws InputError. must_match:
// numbers that must be equal on all ranks. timeout: for each answer of another rank. An error that
// one rank finds is thrown on all: InputError for a plan with a structural fault or more trees than
// there are tags, for invalid options, for ranks that do not match the plan's nodes, and where
// `must_match` differs; MpiError; TimedOut.
PlanBinding bind_plan(const OwnedComm& comm, const planner::Plan& plan,
                      const PlanBindingOptions& options, std::span<const std::uint64_t> must_match,
                      const std::function<void()>& check, Timeout timeout = Timeout());

}  // namespace espalier::runtime
