// What espalier-mpi tells of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/espalier_mpi_run.hpp"
#include "planner/plan.hpp"

namespace espalier::cli {

std::string figures_json(const planner::Plan& plan, const Figures& figures);
std::string figures_text(const planner::Plan& plan, const Figures& figures);

// A line on stderr that is rewritten a few times a second, where a person sees it.
class ProgressBar {
 public:
  // message: bytes of one message; 0: not known.
  ProgressBar(bool enabled, BytesPerSecond planned);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ProgressBar(ProgressBar&&) = delete;
  ProgressBar& operator=(ProgressBar&&) = delete;

  // Bytes of the message under way that are done; fewer than before means that another has begun.
  void show(std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  BytesPerSecond planned_;
  bool shown_ = false;
  std::uint64_t last_bytes_ = 0;
  std::uint64_t message_ = 1;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = Clock::now();
};

// Does what this process writes to stderr reach a terminal? An mpirun hands on what its ranks
// write, so that its own stderr counts where it is the parent of this process.
bool stderr_reaches_terminal();

}  // namespace espalier::cli
