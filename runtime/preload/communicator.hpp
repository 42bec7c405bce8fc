// The plans of a communicator on which the library takes calls.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/api/reduction.hpp"
#include "runtime/preload/calls.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/tally.hpp"
#include "runtime/preload/trials.hpp"
#include "runtime/transport/owned_comm.hpp"

namespace espalier::preload {

// A plan that is ready to run, and its planned rate.
struct ReadyPlan {
  runtime::Collective runner;
  std::string algorithm;
  std::size_t trees;
  BytesPerSecond planned;
  Bytes least;   // shorter messages are left to MPI
  bool decided;  // by a decision table
  bool tuned;    // runs with tuned segment sizes
  runtime::OwnedComm comm;
  Trials trials;
};

// Plans that this process has found, by the members' world ranks, the root, the operation, the
// decided algorithm and the shares, so that a communicator that is created repeatedly is planned
// for only once. Threads may use it at the same time.
class PlanMaker {
 public:
  explicit PlanMaker(const SharedSettings& shared) : shared_(&shared) {}

  enum class Origin : std::uint8_t { kNone, kGiven, kDecided, kMade };
  struct Answer {
    Reason reason = Reason::kNoPlanFits;  // why there is no plan
    Origin origin = Origin::kNone;
    int given = -1;      // index of the given plan
    std::string made{};  // JSON of the plan that was made, in rank order
  };
  // A failure to plan is reported on stderr, once for each operation and reason.
  Answer answer(const Members& members);

 private:
  [[nodiscard]] Answer find(const Members& members) const;
  void report_failure(const Members& members, const std::string& reason);

  const SharedSettings* shared_;
  std::mutex mutex_;  // of the following; no call of MPI is made meanwhile
  std::map<std::tuple<std::vector<int>, int, planner::Operation, std::string, std::vector<double>>,
           Answer>
      answers_;
  std::set<std::pair<planner::Operation, std::string>> reported_;
};

// A program's communicator. MPI forbids that several threads make collective calls on it at once.
class Communicator {
 public:
  using Entry = std::variant<Reason, std::unique_ptr<ReadyPlan>>;

  // The first call for an operation, a root, the shares of the ranks and the algorithm that a
  // decision table gives for `bytes` is collective over the call's communicator; later calls return
  // its result. All ranks get the same alternative of the variant. Throws MpiError.
  Entry& entry_for(const Call& call, std::uint64_t bytes, const SharedSettings& shared,
                   PlanMaker& maker);
  // Collective if entries hold plans.
  void forget();

 private:
  // Collective. Rank 0 finds the plan and shares it with the other ranks. decided:
  // Members::decided; on return empty unless it determined the plan.
  Entry made(const Call& call, const std::vector<double>& shares, const SharedSettings& shared,
             PlanMaker& maker, std::string& decided);
  // Collective over `of`: the communicator that all plans share, because MPI has few (MPICH about
  // 2000). A new one if a call on the last one failed.
  runtime::OwnedComm& shared_comm(MPI_Comm of, const SharedSettings& shared);

  struct Known {
    planner::Operation operation;
    int root;
    std::string algorithm;       // given by a decision table; empty: for messages of all sizes
    std::vector<double> shares;  // of the ranks, where they are not equal
    Entry entry;
  };
  std::vector<Known> entries_;
  std::optional<runtime::OwnedComm> comm_;
};

}  // namespace espalier::preload
