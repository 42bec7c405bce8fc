// What espalier-mpi tells of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/common/status_line.hpp"
#include "planner/plan/plan.hpp"

namespace espalier::cli {

// What was measured. The same on all ranks.
struct Figures {
  std::uint64_t message_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::vector<double> seconds;      // one a repeat
  std::vector<double> mpi_seconds;  // of MPI's own function, in turns with them, when asked for
  bool verified = false;
  std::uint64_t resumed_bytes = 0;    // there from an earlier run, beside the message's
  std::string library = "MPI_Bcast";  // MPI's own function
  std::string op{};                   // of a reduction; empty: a broadcast
  std::string type{};
};

std::string figures_json(const planner::Plan& plan, const Figures& figures);
std::string figures_text(const planner::Plan& plan, const Figures& figures);

// How far a message has come, on stderr.
class ProgressBar {
 public:
  ProgressBar(bool enabled, BytesPerSecond planned);

  // How many bytes a message has. Without it, no time left is shown.
  void expect(std::uint64_t bytes) { expected_ = bytes; }
  // Bytes of the message in progress that are done; fewer than before means that another has begun.
  void show(std::uint64_t bytes);
  void end() { line_.end(); }

 private:
  using Clock = std::chrono::steady_clock;
  StatusLine line_;
  BytesPerSecond planned_;
  std::uint64_t expected_ = 0;
  std::uint64_t last_bytes_ = 0;
  std::uint64_t message_ = 1;
  Clock::time_point first_begun_ = Clock::now();
  Clock::time_point begun_ = first_begun_;
};

// Does what this process writes to stderr reach a terminal? An mpirun hands on what its ranks
// write, so that its own stderr counts where it is the parent of this process.
bool stderr_reaches_terminal();

}  // namespace espalier::cli
