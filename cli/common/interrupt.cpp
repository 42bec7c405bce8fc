#include "cli/common/interrupt.hpp"

#include <unistd.h>

#include <array>

namespace espalier::cli {

namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t signalled = 0;

extern "C" void note_interrupt(int /*signal*/) {
  constexpr std::array kText = std::to_array(
      "\nespalier: interrupted: ending with what was found so far; again to end at once\n");
  signalled = 1;
  // Nothing can be done about a failure.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size() - 1);
}

}  // namespace

bool interrupted() {
  return signalled != 0;
}

InterruptWatch::InterruptWatch() {
  (void)::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  (void)::sigaction(SIGINT, &action, nullptr);
}

InterruptWatch::~InterruptWatch() {
  (void)::sigaction(SIGINT, &before_, nullptr);
}

}  // namespace espalier::cli
