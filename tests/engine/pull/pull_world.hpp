// All ranks of a pull in one process, over a network that does its worst: messages take any time,
// bulletins gather or come one by one, sources are fast or slow, and ranks die at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier::testing::pull {

// What happened in a run.
struct Course {
  std::string fault;  // empty: every rule was kept
  std::string shape;  // of the case, for the message of a failed test
  std::size_t deaths = 0;
  bool source_died = false;  // or one of several
  bool is_stopped = false;
  bool is_complete = false;    // all survivors have the whole message
  std::uint64_t segments = 0;  // that existed among the survivors
};

// Runs the case of this seed. Checks that every survivor ends, with all segments that exist among
// the survivors; that no segment arrives twice but after a death; that nobody is asked for what it
// does not have; and that what is outstanding and what is remembered stays within bounds.
Course run(std::uint64_t seed);

}  // namespace espalier::testing::pull
