// The plans of a communicator on which the library takes calls.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/api/decisions.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/preload/calls/calls.hpp"
#include "runtime/preload/learner.hpp"
#include "runtime/preload/plan_maker.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/size_classes.hpp"
#include "runtime/preload/tally.hpp"
#include "runtime/preload/trials.hpp"
#include "runtime/pull/pull_among_hosts.hpp"
#include "runtime/transport/owned_comm.hpp"

namespace espalier::preload {

// A plan that is ready to run, and its planned rate.
struct ReadyPlan {
  runtime::Collective runner;
  std::string algorithm;
  std::size_t trees;
  BytesPerSecond planned;
};

// The ways to run calls, of which the trials choose one: way i is plan i - 1, and the last one to
// pull the message, or by leaders of hosts.
struct ReadyPlans {
  std::vector<ReadyPlan> plans;
  runtime::PullAmongHosts* pull;          // null: messages are not pulled
  bool learns;                            // what a pull shows is needed for plans
  Bytes least;                            // shorter messages are left to MPI
  std::optional<planner::Among> decided;  // by a decision table
  bool tuned;                             // runs with tuned segment sizes
  runtime::OwnedComm comm;
  Trials trials;
  std::optional<runtime::AlltoallByLeaders> leaders{};  // then there are neither plans nor a pull

  // Neither a plan nor by leaders.
  [[nodiscard]] bool is_pull(std::size_t way) const { return !leaders && way > plans.size(); }
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
  // Collective, after a pull of a message, in this time. When enough is known, plans are made from
  // then on: `ready` and the answers that knew no network are forgotten, and the result is true.
  // Precondition: ready.learns.
  bool learn(const ReadyPlans& ready, planner::Operation operation, Bytes message, Seconds time,
             Learner& learner, PlanMaker& maker);
  // Among how many ranks its calls are, for decision tables. The first call is collective.
  // Precondition: it is not an intercommunicator.
  const planner::Among& among(MPI_Comm comm);
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
    std::uint64_t calls = 0;  // since it is known that the network is not

    // Whether there is no plan because the network is not known.
    [[nodiscard]] bool is_ignorant() const;
    // Counts the call. Other communicators may have learnt the network meanwhile, which their ranks
    // know at different times, so all ranks look again at the same calls.
    bool looks_again();
  };
  // Collective. Rank 0 finds the plan and shares it with the other ranks. to_be: without `serves`
  // and entry, which are set; its algorithm is removed unless it determined the plan.
  void complete(Known& to_be, const Call& call, int size, const SharedSettings& shared,
                PlanMaker& maker);
  // Collective over `of`: the communicator that all plans share, because MPI has few (MPICH about
  // 2000). A new one if a call on the last one failed.
  runtime::OwnedComm& shared_comm(MPI_Comm of, const SharedSettings& shared);

  // Collective over `of`.
  runtime::PullAmongHosts& pull_of(MPI_Comm of, const SharedSettings& shared);

  std::vector<Known> entries_;
  std::optional<runtime::Placement> placement_;
  planner::Among among_;
  std::optional<runtime::OwnedComm> comm_;
  std::optional<runtime::PullAmongHosts> pull_;
};

}  // namespace espalier::preload
