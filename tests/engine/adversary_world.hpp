// All ranks' engines of one message in one process, at the mercy of a seed.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::testing::adversary {

// What happened in a run.
struct Course {
  std::string fault;  // empty: every rule was kept
  std::string shape;  // of the case, for the message of a failed test
  bool is_stopped = false;
  bool is_refused = false;   // the calls differ
  bool gave_up = false;      // because a rank was frozen
  bool is_complete = false;  // all ranks have the whole message or their result
};

// Runs the case of this seed. Checks the bytes and their order, the order of combining, that every
// rank ends or reports for whom it waits, and that windows and buffers are kept to.
Course run(std::uint64_t seed);

}  // namespace espalier::testing::adversary
