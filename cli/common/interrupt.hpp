// Ctrl-C during long work: what was found by then is still reported.
#pragma once

#include <csignal>
#include <string_view>

namespace espalier::cli {

// Whether SIGINT came while an InterruptWatch existed.
bool interrupted();
// Why work ended before its time: "interrupted", or "the time limit was reached".
std::string_view end_of_time();

// While it exists the first SIGINT only sets interrupted(), and says so on stderr; the next one
// ends the process. Does nothing where SIGINT is ignored, as in background jobs of a shell.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  InterruptWatch(InterruptWatch&&) = delete;
  InterruptWatch& operator=(InterruptWatch&&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace espalier::cli
