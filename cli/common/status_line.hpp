// Progress of a long operation, on stderr.
#pragma once

#include <string>
#include <string_view>

#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// On a terminal one line that is rewritten and erased at the end, otherwise a log line every few
// seconds. Prints nothing during the first second.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class StatusLine : public Pinned {
 public:
  // prefix: of every line, "espalier: plan: ". terminal: whether stderr is a terminal.
  StatusLine(std::string prefix, bool enabled, bool terminal);
  ~StatusLine();

  [[nodiscard]] bool is_enabled() const { return enabled_; }
  // Whether a line should be printed, `elapsed` after the start.
  [[nodiscard]] bool due(Seconds elapsed) const;
  // Prints whether due or not.
  void print(Seconds elapsed, std::string_view text);
  // Erases the line; nothing is printed afterwards.
  void end();

 private:
  std::string prefix_;
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  Seconds next_;
};

}  // namespace espalier::cli
