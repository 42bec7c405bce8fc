// Segments that are held back, because segments keep a pace (planner/plan/send_windows.hpp).
#pragma once

namespace espalier::runtime {

class PacingTimer {
 public:
  // None is, until the next one is found.
  void forget() { due_s_ = 0; }
  // Whether a segment that may go at `due_s` (MPI_Wtime; 0: at once) has to wait.
  bool holds(double due_s);
  // Whether any has to.
  [[nodiscard]] bool any() const { return due_s_ > 0; }
  // Sleeps for a moment, unless the first of them may go soon. In simulated time to the end, if the
  // rank awaits no segments.
  void doze(bool awaits_segments) const;

 private:
  double due_s_ = 0;  // of the first; 0: none
};

}  // namespace espalier::runtime
