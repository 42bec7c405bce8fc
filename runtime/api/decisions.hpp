// Runs collectives by a decision function (planner/plan/decision_table.hpp).
//
//   const auto decisions = espalier::runtime::share_decisions(comm, "decisions.json");
//   const auto placement = espalier::runtime::placement_of(comm);
//   const auto& decision = decision_for(decisions, placement.among(), bytes);
//   const auto decided = plan_for(decisions, decision.algorithm, placement, root);
//   espalier::runtime::BroadcastOptions options;
//   follow(decided, options);
//   espalier::runtime::Broadcast broadcast(comm, decided.plan, options);
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/decision_table.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/api/tuned_segments.hpp"

namespace espalier::runtime {

// Collective: rank 0 reads the file, and all ranks get the table. Throws InputError on all ranks;
// MpiError.
planner::Decisions share_decisions(MPI_Comm comm, const std::string& file);

// The ranks of a communicator.
struct Placement {
  // By rank, the same for ranks of one host, as hosts_of_ranks() gives it.
  std::vector<int> host_of_rank;

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(host_of_rank.size());
  }
  [[nodiscard]] planner::Among among() const;
};
// Collective. Throws MpiError.
Placement placement_of(MPI_Comm comm);

// The plan of an algorithm for a communicator, and the segment sizes of the messages for which the
// table chooses it: CollectiveOptions::tuned, with an infinite tuned_within.
struct DecidedPlan {
  planner::Plan plan;  // rank i is node i; its throughput is the best that the table predicts
  std::vector<TunedSegment> segments;
};
// Preconditions: at least one of cells_for(decisions, placement.among()) has the algorithm, which
// is not kLibrary; root < ranks.
DecidedPlan plan_for(const planner::Decisions& decisions, std::string_view algorithm,
                     const Placement& placement, std::uint32_t root);

// Sets the options for running it: its segment sizes, and no direct copies within hosts.
void follow(const DecidedPlan& decided, CollectiveOptions& options);

}  // namespace espalier::runtime
