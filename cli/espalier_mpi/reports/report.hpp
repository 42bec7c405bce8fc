// The report of a run of espalier-mpi.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/common/status_line.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "planner/plan/plan.hpp"
#include "support/deadline.hpp"

namespace espalier::cli {

// The measured figures of a run. The same on all ranks.
struct Figures {
  std::uint64_t message_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::vector<double> seconds;      // one per repeat
  std::vector<double> mpi_seconds;  // of MPI's own function, timed alternately; empty: not timed
  bool verified = false;
  std::uint64_t resumed_bytes = 0;    // kept from an earlier run, in addition to message_bytes
  std::uint64_t hole_bytes = 0;       // of sparse files, not sent, in addition to message_bytes
  std::string source_change{};        // what changed of the sent files; empty: nothing
  std::string library = "MPI_Bcast";  // MPI's own function
  std::string op{};                   // of a reduction; empty: a broadcast
  std::string type{};
};

Report figures_report(const planner::Plan& plan, const Figures& figures);
// What runs without a given plan have learnt of the network.
struct LearntFigures {
  double bound_Bps;   // the highest rate of the operation at the rates that were reached, bytes/s
  std::string limit;  // what is narrowest
  std::size_t links_used;
  std::size_t links;
  std::string last_rank;  // that was done last; empty: no message was pulled
  std::string cache;      // files; empty: none
  std::string platform;
};
// What runs without a plan.
struct PullTask {
  planner::Operation operation = planner::Operation::kBroadcast;
  int source = 0;  // of a broadcast
};
// planned: how many of the repeats followed a plan that was made of the learnt network.
Report pull_report(const PullTask& task, std::size_t ranks, const Figures& figures,
                   std::size_t planned, const std::optional<LearntFigures>& learnt);
// "verified on every rank".
std::string_view verification_text(planner::Operation operation, bool verified);
// On rank 0: warns on stderr if the sent files have changed.
void warn_of_change(const Figures& figures);
// On rank 0.
void print_report(Report report, bool json, bool to_stderr = false);

// Shows the progress of a message on stderr.
class ProgressBar {
 public:
  // planned: unset without a plan.
  ProgressBar(bool enabled, std::optional<BytesPerSecond> planned);

  // The size of a message. Without it, no remaining time is shown.
  void expect(std::uint64_t bytes) { expected_ = bytes; }
  // `bytes` of the message in progress are done; fewer than before mean that the next has begun.
  void show(std::uint64_t bytes);
  // The same as a run's option, which also tells the watchdog. Both must outlive it.
  [[nodiscard]] std::function<void(std::uint64_t)> shown_by(Watchdog& watchdog);
  void end() { line_.end(); }

 private:
  StatusLine line_;
  std::optional<BytesPerSecond> planned_;
  std::uint64_t expected_ = 0;
  std::uint64_t last_bytes_ = 0;
  std::uint64_t message_ = 1;
  Stopwatch watch_;
  Seconds begun_{};  // the message in progress
};

// Whether stderr of this process reaches a terminal. mpirun forwards the output of its ranks; if it
// is the parent of this process, its stderr is what counts.
bool stderr_reaches_terminal();

}  // namespace espalier::cli
