#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/espalier_mpi/bench/bound_plans.hpp"
#include "cli/espalier_mpi/run/buffer.hpp"
#include "cli/espalier_mpi/run/pattern.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

// Below the rate of any network worth benchmarking, for when no plan predicts a rate.
constexpr BytesPerSecond kSlowNetwork{1e6};

// The time that a round may take, for the timeouts of ranks that wait.
Seconds longest_of(const TimedOperation& operation, std::uint64_t bytes) {
  Seconds longest{0};
  for (const Candidate& one : operation.candidates) {
    if (one.predicted_time) longest = std::max(longest, one.predicted_time(bytes));
  }
  return longest.value > 0 ? longest : Seconds{static_cast<double>(bytes) / kSlowNetwork.value};
}

}  // namespace

void require_same_source(std::span<const NamedPlan> plans) {
  for (const NamedPlan& one : plans) {
    if (one.plan.source == plans[0].plan.source) continue;
    throw InputError(one.name, "/source",
                     fmt::format("{} is not {}, the source of {}", in_quotes(one.plan.source),
                                 in_quotes(plans[0].plan.source), plans[0].name));
  }
}

Broadcasts bind_broadcasts(MPI_Comm comm, std::span<const NamedPlan> plans,
                           runtime::BroadcastOptions options) {
  require_same_source(plans);
  auto bound = std::make_shared<std::vector<runtime::Broadcast>>();
  bind_plans(comm, plans, std::move(options), *bound);
  return bound;
}

TimedOperation timed_mpi_bcast(MPI_Comm comm, int root) {
  TimedOperation timed;
  timed.root = root;
  timed.candidates.push_back({"MPI_Bcast", [comm, root](std::span<std::byte> message) {
                                runtime::broadcast_by_library(comm, message.data(), message.size(),
                                                              MPI_BYTE, root);
                              }});
  timed.prepare = [rank = runtime::rank_in(comm), root](std::span<std::byte> message,
                                                        std::uint64_t round) {
    if (rank == root) {
      fill_with_pattern(message, round);
    } else {
      fill_with_poison(message, rank);
    }
  };
  timed.fault = find_fault;
  return timed;
}

TimedOperation timed_broadcast(MPI_Comm comm, std::span<const NamedPlan> plans,
                               const Broadcasts& bound) {
  TimedOperation timed = timed_mpi_bcast(comm, bound->empty() ? 0 : bound->front().root());
  const auto run = [](runtime::Broadcast& broadcast, std::span<std::byte> message) {
    broadcast.run(message.data(), message.size(), MPI_BYTE);
  };
  add_candidates(plans, *bound, 1, run, timed);
  const auto receives_all = [](const runtime::Broadcast& one) { return one.receives_all(); };
  if (!std::ranges::all_of(*bound, receives_all)) {  // this rank only helps others
    timed.fault = [](std::span<const std::byte>, std::uint64_t) { return std::nullopt; };
  }
  timed.state = bound;
  return timed;
}

AlternatingTimer::AlternatingTimer(MPI_Comm comm, const TimedOperation& operation, Bytes largest,
                                   const Rounds& rounds, Watchdog& watchdog)
    : comm_(comm), operation_(&operation), rounds_(&rounds), watchdog_(&watchdog) {
  watchdog.expect("waiting for all ranks to have memory for the messages");
  buffer_ = allocate_message(comm, largest.value, rounds.option, operation.copies, operation.spare);
}

std::vector<std::vector<double>> AlternatingTimer::seconds_of(Bytes size) {
  const std::span<std::byte> memory(buffer_.get(),
                                    operation_->copies * size.value + operation_->spare);
  const std::vector<Candidate>& candidates = operation_->candidates;
  const ReportTimer timer(comm_, operation_->root, memory_time(memory.size()),
                          longest_of(*operation_, size.value), rounds_->timeout, *watchdog_);
  std::vector<std::vector<double>> seconds(candidates.size());
  for (std::size_t round = 0; round < rounds_->warm_up + rounds_->timed; ++round) {
    for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
      const std::size_t i = round % 2 == 0 ? turn : candidates.size() - 1 - turn;
      const Candidate& one = candidates[i];
      watchdog_->pause();  // while the message is filled, and checked
      operation_->prepare(memory, round_);
      const double time = timer.seconds_of({[&] { one.run(memory); },
                                            one.is_mpi() ? "waiting in " + one.name : std::string{},
                                            !one.is_mpi()});
      if (round >= rounds_->warm_up) seconds[i].push_back(time);
      if (rounds_->verify) {
        watchdog_->expect("waiting for all ranks to check what they received",
                          memory_time(memory.size()));
        runtime::collective_try_by_rank(comm_, [&] {
          const auto fault = operation_->fault(memory, round_);
          if (fault) throw CheckFailed(one.name + (one.name.empty() ? "" : ": ") + *fault);
        });
      }
      ++round_;
    }
  }
  return seconds;
}

}  // namespace espalier::cli
