// Delays sends so that segments keep a pace (planner/plan/send_windows.hpp).
#pragma once

namespace espalier::runtime {

class PacingTimer {
 public:
  // Forgets all delayed segments; holds() finds them again.
  void forget() { due_s_ = 0; }
  // Whether a segment that may be sent at `due_s` (MPI_Wtime; 0: at once) has to wait.
  bool holds(double due_s);
  // Whether any segment has to wait.
  [[nodiscard]] bool any() const { return due_s_ > 0; }
  // Sleeps briefly, unless the earliest delayed segment is due soon. In simulated time sleeps until
  // it is due, if the rank awaits no segments.
  void doze(bool awaits_segments) const;

 private:
  double due_s_ = 0;  // of the earliest; 0: none
};

}  // namespace espalier::runtime
