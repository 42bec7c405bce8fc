// Decision functions, as `espalier decide --json` writes them, followed: which algorithm in
// segments of which size runs a message among so many ranks.
//
//   const auto decisions = espalier::runtime::share_decisions(comm, "decisions.json");
//   espalier::runtime::DecidedBroadcast broadcast(comm, decisions, 0);
//   broadcast.run(buffer, count, MPI_DOUBLE);
//
// Ranks and message sizes that the table does not have take the next to them by ratio: first the
// number of ranks, of two as near the smaller; then, of that, the message.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/api/tuned_segments.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// One cell of the table.
struct Decision {
  std::uint32_t ranks = 0;          // 1 and more
  std::uint64_t message_bytes = 0;  // that each rank has in the end, or gives to a reduction
  std::string algorithm;            // as `espalier predict` calls it
  std::uint64_t segment_bytes = 0;  // 0, or not less than the message: not cut
  Seconds predicted;                // 0 where nothing is sent
};

struct Decisions {
  planner::Operation operation = planner::Operation::kBroadcast;  // or kReduce
  std::vector<Decision> cells;  // by ranks, then by message, each once; at least one
};

// The file: docs/formats.md, "Decision function". Throws InputError (file, JSON pointer, reason):
// an operation or algorithm that no plan is for, figures out of range, a cell that stands twice, a
// table without cells.
Decisions parse_decisions(std::string_view text, const std::string& file);

// Collective: rank 0 reads the file, and all get the table. Throws InputError on all ranks alike;
// MpiError.
Decisions share_decisions(MPI_Comm comm, const std::string& file);

// The cells of the number of ranks next to this one.
std::span<const Decision> cells_for(const Decisions& decisions, std::uint32_t ranks);
// Of those, the one of the message size next to this one. An empty message counts as half a byte.
const Decision& decision_for(const Decisions& decisions, std::uint32_t ranks,
                             std::uint64_t message_bytes);

// An algorithm made a plan, for a communicator, and the segments of the messages that the table has
// it for: BroadcastOptions::tuned or ReductionOptions::tuned, with tuned_within infinite.
struct DecidedPlan {
  planner::Plan plan;  // rank i is node i; its throughput is the best that the table predicts
  std::vector<TunedSegment> segments;
};
// Precondition: some of cells_for(decisions, ranks) has the algorithm; root < ranks.
DecidedPlan plan_for(const Decisions& decisions, std::string_view algorithm, std::uint32_t ranks,
                     std::uint32_t root);

// The options with which it is run: its segments, and the trees as they are.
void follow(const DecidedPlan& decided, BroadcastOptions& options);
void follow(const DecidedPlan& decided, ReductionOptions& options);

// Broadcasts from one rank of a communicator, each as the table decides. Destroy before
// MPI_Finalize.
class DecidedBroadcast {
 public:
  // Not collective; the first run() with each algorithm makes its Broadcast. options: those of all
  // of them, but that segments are the table's and direct_copies is off, for the table is about the
  // algorithms' own trees. Throws InputError for a table of another operation, or a root that is no
  // rank of comm, which must outlive this; MpiError.
  DecidedBroadcast(MPI_Comm comm, Decisions decisions, int root, BroadcastOptions options = {});

  // Collective: as Broadcast::run, and throws as its constructor as well.
  void run(void* buffer, std::size_t count, MPI_Datatype type);

  [[nodiscard]] int root() const { return static_cast<int>(root_); }

 private:
  MPI_Comm comm_;
  Decisions decisions_;
  std::uint32_t root_;
  BroadcastOptions options_;
  std::map<std::string, Broadcast, std::less<>> broadcasts_;  // by algorithm
};

}  // namespace espalier::runtime
