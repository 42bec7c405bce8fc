// A rank's place in a plan: what broadcasts and reductions settle alike when a plan is bound to a
// communicator, before the first message.
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
  std::vector<int> rank_of_node;  // of plan.nodes, in their order
  int root = 0;                   // the rank of the plan's source
  std::string node;               // this rank's
};

// What the options of both have in common, with their meanings (runtime/api/broadcast.hpp). tuned
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

// What all ranks must hold alike, as numbers.
std::vector<std::uint64_t> fingerprint(const planner::Plan& plan,
                                       const PlanBindingOptions& options);

// Collective over comm. check: what else is to be said of plan and options; throws InputError.
// alike: numbers that are to be the same on all ranks. timeout: with each of the others' answers.
// Throws on all ranks what one of them finds wrong: InputError for a plan with a structural fault
// or more trees than there are tags, options that no engine has, ranks that do not fit the plan's
// nodes, and where `alike` differs; MpiError; TimedOut.
PlanBinding bind_plan(const OwnedComm& comm, const planner::Plan& plan,
                      const PlanBindingOptions& options, std::span<const std::uint64_t> alike,
                      const std::function<void()>& check, Timeout timeout = Timeout());

}  // namespace espalier::runtime
