// What the library keeps of a communicator that broadcasts were taken over on.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/broadcast.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/tally.hpp"

namespace espalier::preload {

// A broadcast that is ready to run, and what its plan promises.
struct ReadyBroadcast {
  runtime::Broadcast broadcast;
  std::string algorithm;
  std::size_t trees;
  BytesPerSecond planned;
};

// Plans that this process has made for others, by the members' world ranks and the root: a
// communicator that is made again and again is planned for once.
class PlanMaker {
 public:
  explicit PlanMaker(const SharedSettings& shared);

  struct Answer {
    Reason reason = Reason::kNoPlanFits;  // where there is no plan
    std::string plan;                     // JSON, in rank order; empty: none
  };
  // A failure to plan is said on stderr, once for each set of members.
  const Answer& answer(const Members& members);

 private:
  [[nodiscard]] Answer find(const Members& members) const;

  const SharedSettings* shared_;
  std::vector<planner::Plan> plans_;
  std::map<std::pair<std::vector<int>, int>, Answer> answers_;
};

class Communicator {
 public:
  // Of each, a communicator of MPI's is taken, of which MPICH has about 2000.
  static constexpr std::size_t kMostRoots = 32;

  using Entry = std::variant<Reason, std::unique_ptr<ReadyBroadcast>>;

  // The first call for a root is collective over `comm`; later calls find what it came to. It is
  // the same kind on all ranks. Throws MpiError.
  Entry& entry_for(MPI_Comm comm, int root, const SharedSettings& shared, PlanMaker& maker);
  // Collective where entries are ready.
  void forget() { entries_.clear(); }

 private:
  std::vector<std::pair<int, Entry>> entries_;  // by root
  Entry too_many_ = Reason::kManyRoots;
};

}  // namespace espalier::preload
