// Records the engine's MPI calls, in order, with MPI's profiling interface.
#pragma once

#include <vector>

namespace espalier::testing {

struct Call {
  bool is_send;
  int tree;
  int peer;
  bool operator==(const Call&) const = default;
};

// What is recorded besides MPI_Irecv.
enum class Recording { kOff, kIsend, kIssend };

inline Recording recording = Recording::kOff;
inline std::vector<Call> calls;

}  // namespace espalier::testing
