// The state of the preloaded library in a process, and its replacements of MPI functions.
//
// Ranks decide without communication whether to take a call. The decision depends on the message's
// bytes, type and operation, the root, the communicator and, where all ranks know them, the counts
// of their parts, which MPI requires to match on all ranks, and on the result of the first such
// call. In that call the ranks may communicate, because
// these functions are collective.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/preload/calls/calls.hpp"
#include "runtime/preload/calls/varying_calls.hpp"
#include "runtime/preload/communicator.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/tally.hpp"

namespace espalier::preload {

class Interposer {
 public:
  // The single instance. It is never destroyed, because MPI calls back while the process ends.
  static Interposer& get();

  // Call it after MPI_Init; collective over MPI_COMM_WORLD the first time, afterwards without
  // effect.
  void started();
  // Whether a call goes directly to MPI: the library itself makes it on this thread, or the library
  // is inactive.
  [[nodiscard]] bool is_bypassed() const;
  // Whether the call is short, and calls are not counted: it goes to MPI, with as little delay as
  // possible. False may be wrong. Precondition: !is_bypassed().
  [[nodiscard]] bool goes_to_mpi(const Call& call) const;
  [[nodiscard]] bool goes_to_mpi(const VaryingCall& /*call*/) const {
    return !counts_calls() && shared_->settings.varying == VaryingParts::kHandOn;
  }
  // Makes the call, by a plan if there is one for it. Returns MPI's error code, after calling the
  // communicator's error handler if it is not MPI_SUCCESS. Precondition: !is_bypassed().
  int make(const Call& call, const CallMpi& call_mpi);
  int make(VaryingCall&& call, const CallMpi& call_mpi);
  // Whether calls are counted, for a report. Precondition: !is_bypassed().
  [[nodiscard]] bool counts_calls() const {
    return shared_->settings.verbose || shared_->settings.report;
  }
  // Counts a call that goes to MPI unchanged, without a time. Precondition: counts_calls().
  void count_non_blocking(const Call& call);

 private:
  void start();
  void finish();  // at the start of MPI_Finalize
  // A call that has not been run: it is left to MPI, maybe to be measured.
  struct Left {
    std::uint64_t bytes = 0;      // 0: unknown
    ReadyPlans* ready = nullptr;  // in whose trials it takes part
  };
  // run: runs the call's plan, and returns nothing if it has run.
  int make(const Call& call, const CallMpi& call_mpi,
           const std::function<std::optional<Left>()>& run);
  std::optional<Left> run(const Call& call);  // Throws.
  std::optional<Left> run_varying(VaryingCall& call);
  // False for intercommunicators, which are counted, and roots that MPI refuses.
  bool is_among_ranks(const Call& call);
  int leave(const Call& call, const CallMpi& call_mpi, const Left& left);
  // The plans for the call; null: it is left to MPI.
  ReadyPlans* taken(const Call& call, std::uint64_t bytes);
  Communicator& known(MPI_Comm comm);
  // Whether this rank counts the call.
  [[nodiscard]] static bool counts(const Call& call);
  void count_left_to_mpi(Reason reason, const Call& call);
  SizeTally& size_tally(const Call& call, std::uint64_t bytes);
  // way: of the trials.
  void report(const ReadyPlans& ready, std::size_t way, const Call& call, std::uint64_t bytes,
              double seconds);
  struct RunTexts {
    std::string run;      // "optimal, 2 trees"
    std::string planned;  // " of 1 Gbit/s planned", or empty
  };
  [[nodiscard]] RunTexts texts_of(const ReadyPlans& ready, const ReadyPlan& plan, const Call& call,
                                  std::uint64_t bytes) const;
  // Collective, after a pull. `ready` may be gone afterwards.
  void learn(const ReadyPlans& ready, const Call& call, std::uint64_t bytes, double seconds);
  void print_summaries() const;
  void print_table() const;

  static int forget_communicator(MPI_Comm comm, int key, void* value, void* self);
  static int finish_first(MPI_Comm comm, int key, void* value, void* self);

  bool was_started_ = false;
  std::atomic<bool> active_ = false;
  int key_ = MPI_KEYVAL_INVALID;
  // Constant while active_, as key_ and the next two.
  std::optional<SharedSettings> shared_;
  double most_ranks_ = 1;                  // of a communicator with plans
  Bytes least_for_plans_{};                // shorter messages are left to MPI on all communicators
  std::optional<PlanMaker> maker_;         // has a mutex of its own
  std::optional<Learner> learner_;         // likewise; unset: nothing is learnt
  std::mutex mutex_;                       // of the following
  std::list<Communicator> communicators_;  // in the order of their first use
  std::array<Tally, planner::kEveryOperation.size()> tallies_;  // by operation
  SizeTallies by_size_;
};

}  // namespace espalier::preload
