// The plans of a communicator on which the library takes calls.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/api/reduction.hpp"
#include "runtime/preload/calls/calls.hpp"
#include "runtime/preload/plan_maker.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/size_classes.hpp"
#include "runtime/preload/tally.hpp"
#include "runtime/preload/trials.hpp"
#include "runtime/transport/owned_comm.hpp"

namespace espalier::preload {

// Communicators with so few ranks have no plans: there is one way only.
inline constexpr int kTooFewRanks = 2;

// A plan that is ready to run, and its planned rate.
struct ReadyPlan {
  runtime::Collective runner;
  std::string algorithm;
  std::size_t trees;
  BytesPerSecond planned;
};

// The plans for calls, of which the trials choose one.
struct ReadyPlans {
  std::vector<ReadyPlan> plans;  // way i of the trials is plan i - 1
  Bytes least;                   // shorter messages are left to MPI
  bool decided;                  // by a decision table
  bool tuned;                    // runs with tuned segment sizes
  runtime::OwnedComm comm;
  Trials trials;
};

// A program's communicator. MPI forbids that several threads make collective calls on it at once.
class Communicator {
 public:
  using Entry = std::variant<Reason, std::unique_ptr<ReadyPlans>>;

  // The first call for an operation, a root, the shares of the ranks, the algorithm that a decision
  // table gives for `bytes` and the sizes that a plan serves is collective over the call's
  // communicator; later calls return its result. All ranks get the same alternative of the variant.
  // Throws MpiError.
  Entry& entry_for(const Call& call, std::uint64_t bytes, const SharedSettings& shared,
                   PlanMaker& maker);
  // Collective if entries hold plans.
  void forget();

 private:
  struct Known {
    planner::Operation operation;
    int root;
    std::string algorithm;       // given by a decision table; empty: there is none
    std::vector<double> shares;  // of the ranks, where they are not equal
    SizeClasses serves;
    Entry entry;
  };
  // Collective. Rank 0 finds the plan and shares it with the other ranks. to_be: without `serves`
  // and entry, which are set; its algorithm is removed unless it determined the plan.
  void complete(Known& to_be, const Call& call, int size, const SharedSettings& shared,
                PlanMaker& maker);
  // Collective over `of`: the communicator that all plans share, because MPI has few (MPICH about
  // 2000). A new one if a call on the last one failed.
  runtime::OwnedComm& shared_comm(MPI_Comm of, const SharedSettings& shared);

  std::vector<Known> entries_;
  std::optional<runtime::OwnedComm> comm_;
};

}  // namespace espalier::preload
