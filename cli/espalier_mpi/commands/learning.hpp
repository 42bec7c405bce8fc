// What messages without a plan learn of the network, and what the next one makes of it.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/pull/network_memory.hpp"
#include "runtime/pull/pull_collective.hpp"

namespace espalier::cli {

struct LearningOptions {
  std::string platform_out{};  // file for the network as a platform; empty: none
  std::string cache{};         // folder; empty: the user's
  bool uses_cache = true;      // and makes plans of what is known

  void add_to(Arguments& app);
  // Of those that use what is known, and learn nothing.
  void add_cache_to(Arguments& app);
};

// Rank 0 has the knowledge. Functions are collective unless they are const.
class Learning {
 public:
  // puller_of: by rank, the number of the one that pulls for it
  // (runtime/pull/pull_among_hosts.hpp). message_bytes: 0 if it is not known yet. Throws InputError
  // on all ranks if the platform file cannot be written.
  Learning(MPI_Comm comm, const LearningOptions& options, const PullTask& task,
           std::vector<std::size_t> puller_of, std::uint64_t message_bytes, Watchdog& watchdog);

  // Whether anything is measured: messages of a MiB and more, between hosts, unless options ask for
  // it or against it.
  [[nodiscard]] bool is_active() const { return is_active_; }
  // A plan of the network as it is known, where that is worthwhile: what is known is recent, and
  // plans have not been slower than a pull. Warns on stderr if there is no planner.
  std::optional<planner::Plan> plan();
  // After a message that was pulled, in so many seconds. by: what pulled it.
  template <class Pull>
  void learn(Pull& by, std::uint64_t message_bytes, double seconds) {
    if (!is_active_) return;
    watchdog_->expect("waiting for what the other ranks have measured");
    memory_.learn(by.gather_traffic(), task_.operation, {message_bytes}, {seconds});
  }
  // On rank 0: after a message that was sent by plan().
  void judge_plan(std::uint64_t message_bytes, double seconds);
  // Writes the files.
  void keep();
  // On rank 0: the network as a platform file; empty where nothing is known.
  [[nodiscard]] std::string network() const { return memory_.platform(); }
  // On rank 0, where something is known.
  [[nodiscard]] std::optional<LearntFigures> figures() const;

 private:
  // By puller, of the message, what it has at the beginning.
  [[nodiscard]] std::vector<double> shares() const;

  MPI_Comm comm_;
  LearningOptions options_;
  PullTask task_;
  std::uint64_t message_bytes_;
  Watchdog* watchdog_;
  bool is_active_ = false;
  bool leads_ = false;             // is rank 0
  runtime::NetworkMemory memory_;  // on rank 0
};

}  // namespace espalier::cli
