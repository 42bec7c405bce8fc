// What the library keeps of a communicator that calls were taken over on.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/tally.hpp"

namespace espalier::preload {

// A plan that is ready to run, and what it promises.
struct ReadyPlan {
  std::variant<runtime::Broadcast, runtime::Reduction> runner;
  std::string algorithm;
  std::size_t trees;
  BytesPerSecond planned;
  Bytes least;           // shorter messages are MPI's
  bool decided = false;  // by a table
  bool tuned = false;    // runs in segments that were tuned for it

  // In which segments it runs a message in elements of so many bytes, at least 1.
  [[nodiscard]] Bytes segment_of(std::uint64_t message_bytes, std::uint64_t element_bytes) const;
};

// Plans that this process has made for others, by the members' world ranks, the root, the operation
// and what a table decides: a communicator that is made again and again is planned for once.
class PlanMaker {
 public:
  explicit PlanMaker(const SharedSettings& shared);

  struct Answer {
    Reason reason = Reason::kNoPlanFits;  // where there is no plan
    std::string plan;                     // JSON, in rank order; empty: none
    int given = -1;                       // which of the plans it is; none of them: -1
    bool decided = false;                 // by members.decided
  };
  // A failure to plan is said on stderr, once for each operation and reason.
  const Answer& answer(const Members& members);

 private:
  [[nodiscard]] Answer find(const Members& members) const;
  void report_failure(const Members& members, const std::string& reason);

  const SharedSettings* shared_;
  std::vector<planner::Plan> plans_;
  std::map<std::tuple<std::vector<int>, int, planner::Operation, std::string>, Answer> answers_;
  std::set<std::pair<planner::Operation, std::string>> reported_;
};

class Communicator {
 public:
  // Of each, a communicator of MPI's is taken, of which MPICH has about 2000.
  static constexpr std::size_t kMostRoots = 32;

  using Entry = std::variant<Reason, std::unique_ptr<ReadyPlan>>;

  // The first call for an operation and a root, and for an algorithm that a table decides on for a
  // message of so many bytes, is collective over `comm`; later calls find what it came to. It is
  // the same kind on all ranks. root: of an allreduce always the same. Throws MpiError.
  Entry& entry_for(MPI_Comm comm, planner::Operation operation, int root, std::uint64_t bytes,
                   const SharedSettings& shared, PlanMaker& maker);
  // Collective where entries are ready.
  void forget() { entries_.clear(); }

 private:
  struct Known {
    planner::Operation operation;
    int root;
    std::string algorithm;  // that a table decided on; empty: for messages of all sizes
    Entry entry;
  };
  std::vector<Known> entries_;
  Entry too_many_ = Reason::kManyRoots;
};

}  // namespace espalier::preload
