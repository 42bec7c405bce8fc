// Ctrl-C during long work: what was found by then is still reported.
#pragma once

#include <csignal>

#include "support/pinned.hpp"

namespace espalier::cli {

// Whether SIGINT came while an InterruptWatch existed.
bool interrupted();

// While it exists the first SIGINT only sets interrupted(), and says so on stderr; the next one
// ends the process. Does nothing where SIGINT is ignored, as in background jobs of a shell.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class InterruptWatch : public Pinned {
 public:
  InterruptWatch();
  ~InterruptWatch();

 private:
  struct sigaction before_ {};
};

}  // namespace espalier::cli
