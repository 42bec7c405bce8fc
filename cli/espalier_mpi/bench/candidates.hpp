// The harness of all commands that time test messages: an operation, its input and check, and the
// candidates that run it, timed alternately.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/espalier_mpi/run/elements.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"

namespace espalier::cli {

// A plan, and the segments in which it is run.
struct NamedPlan {
  std::string name;  // in tables and refusals; empty: the only one
  planner::Plan plan;
  std::uint64_t segment_bytes = 0;  // 0: the executor chooses
  std::vector<runtime::TunedSegment> tuned{};
};

// A way of running an operation.
struct Candidate {
  std::string name;  // "MPI_Bcast", or a plan's file
  // Runs on the memory that prepare has filled.
  std::function<void(std::span<std::byte>)> run;
  // Of a plan: the segment size for a message of the given bytes, and the predicted time. Empty for
  // MPI's own function, about which nothing is known.
  std::function<std::uint64_t(std::uint64_t)> segment_bytes{};
  std::function<Seconds(std::uint64_t)> predicted_time{};
  std::string algorithm{};  // of a plan
  std::string node{};       // this rank's in a plan

  // It is MPI's own function, or consists of nothing but such.
  [[nodiscard]] bool is_mpi() const { return !predicted_time; }
};

struct TimedOperation {
  planner::Operation operation = planner::Operation::kBroadcast;
  int root = 0;  // the rank that collects the reports and measures the time
  // Messages in this rank's memory: 1 if the output replaces the input, 2 if the output follows it.
  std::uint64_t copies = 1;
  std::uint64_t spare = 0;  // bytes of memory besides
  // Fills the input on this rank before a round, touches the output's pages, and clears what must
  // be received. Each round has other bytes.
  std::function<void(std::span<std::byte>, std::uint64_t round)> prepare;
  // Describes the error in the output after a round; unset: it is correct.
  std::function<std::optional<std::string>(std::span<const std::byte>, std::uint64_t round)> fault;
  std::vector<Candidate> candidates;  // at least one; MPI's own, if present, is the first
  std::shared_ptr<void> state{};      // what the functions refer to

  // Without MPI's own function.
  void drop_mpi() {
    std::erase_if(candidates, [](const Candidate& one) { return one.is_mpi(); });
  }
};

using Broadcasts = std::shared_ptr<std::vector<runtime::Broadcast>>;
// The plans bound to the ranks. Collective. Throws MpiError, and InputError on all ranks when plans
// have different sources or cannot run here.
Broadcasts bind_broadcasts(MPI_Comm comm, std::span<const NamedPlan> plans,
                           runtime::BroadcastOptions options);
// MPI_Bcast alone, from rank `root`, with the input and the check of all broadcasts.
TimedOperation timed_mpi_bcast(MPI_Comm comm, int root);
// MPI_Bcast and each plan.
TimedOperation timed_broadcast(MPI_Comm comm, std::span<const NamedPlan> plans,
                               const Broadcasts& bound);
// MPI's own function for an operation but a broadcast, and each plan. The message of operations
// with parts is all parts together, shared as in the first plan or equally; of an alltoall, what
// one rank sends on average; of a barrier, nothing. elements: of operations that combine.
// by_leaders: of an alltoall, also TAC's two ways by leaders of hosts. Throws as bind_broadcasts.
TimedOperation timed_collective(MPI_Comm comm, planner::Operation operation,
                                std::span<const NamedPlan> plans, runtime::ReductionOptions options,
                                Elements elements, bool by_leaders = false);

struct Rounds {
  std::size_t timed = 1;
  std::size_t warm_up = 0;
  bool verify = false;
  std::optional<Seconds> timeout{};
  std::string option = "--message";  // names the message in refusals
};

// Times the candidates. Alternates them, so that a temporary disturbance of the machine affects all
// of them, and reverses their order in every other round, so that none always follows the same
// other one.
class AlternatingTimer {
 public:
  // Collective: allocates memory for messages of up to `largest`. The references must outlive this.
  AlternatingTimer(MPI_Comm comm, const TimedOperation& operation, Bytes largest,
                   const Rounds& rounds, Watchdog& watchdog);
  // The report-to-root time of each timed round, by candidate. Collective. Throws MpiError, and
  // CheckFailed on all ranks when an output is wrong.
  std::vector<std::vector<double>> seconds_of(Bytes size);

 private:
  MPI_Comm comm_;
  const TimedOperation* operation_;
  const Rounds* rounds_;
  Watchdog* watchdog_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t round_ = 0;
};

}  // namespace espalier::cli
