// Runs collectives by a decision function, as `espalier decide --json` writes it: a table that
// gives the algorithm and the segment size for a number of ranks and a message size.
//
//   const auto decisions = espalier::runtime::share_decisions(comm, "decisions.json");
//   const auto& decision = decision_for(decisions, ranks, bytes);
//   const auto decided = plan_for(decisions, decision.algorithm, ranks, root);
//   espalier::runtime::BroadcastOptions options;
//   follow(decided, options);
//   espalier::runtime::Broadcast broadcast(comm, decided.plan, options);
//
// A number of ranks or a message size that is not in the table uses the nearest entry by ratio:
// first the nearest number of ranks (the smaller of two equally near ones), then, among its cells,
// the nearest message size.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/api/tuned_segments.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// One cell of the table.
struct Decision {
  std::uint32_t ranks = 0;          // 1 and more
  std::uint64_t message_bytes = 0;  // that each rank receives, or contributes to a reduction
  std::string algorithm;            // its name in `espalier predict`
  std::uint64_t segment_bytes = 0;  // 0, or the message's size or more: not segmented
  Seconds predicted;                // 0 where nothing is sent
};

struct Decisions {
  planner::Operation operation = planner::Operation::kBroadcast;  // or kReduce
  std::vector<Decision> cells;  // sorted by ranks, then by message; no duplicates; at least one
};

// The file format: docs/formats.md, "Decision function". Throws InputError (file, JSON pointer,
// reason) for an operation or algorithm without plans, values out of range, a duplicate cell, or an
// empty table.
Decisions parse_decisions(std::string_view text, const std::string& file);

// Collective: rank 0 reads the file, and all ranks get the table. Throws InputError on all ranks;
// MpiError.
Decisions share_decisions(MPI_Comm comm, const std::string& file);

// The cells for the number of ranks nearest to this one.
std::span<const Decision> cells_for(const Decisions& decisions, std::uint32_t ranks);
// Among those, the cell for the nearest message size. An empty message counts as half a byte.
const Decision& decision_for(const Decisions& decisions, std::uint32_t ranks,
                             std::uint64_t message_bytes);

// The plan of an algorithm for a communicator, and the segment sizes of the messages for which the
// table chooses it: CollectiveOptions::tuned, with an infinite tuned_within.
struct DecidedPlan {
  planner::Plan plan;  // rank i is node i; its throughput is the best that the table predicts
  std::vector<TunedSegment> segments;
};
// Preconditions: at least one of cells_for(decisions, ranks) has the algorithm; root < ranks.
DecidedPlan plan_for(const Decisions& decisions, std::string_view algorithm, std::uint32_t ranks,
                     std::uint32_t root);

// Sets the options for running it: its segment sizes, and no direct copies within hosts.
void follow(const DecidedPlan& decided, CollectiveOptions& options);

}  // namespace espalier::runtime
