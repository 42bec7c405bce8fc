// How far something that takes long has come, on stderr.
#pragma once

#include <string>
#include <string_view>

#include "support/quantities.hpp"

namespace espalier::cli {

// One line that is rewritten on a terminal and wiped at the end, else a line of a log every few
// seconds. Nothing before a second is over.
class StatusLine {
 public:
  // prefix: of every line, "espalier: plan: ". terminal: that is what stderr is.
  StatusLine(std::string prefix, bool enabled, bool terminal);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  StatusLine(StatusLine&&) = delete;
  StatusLine& operator=(StatusLine&&) = delete;

  [[nodiscard]] bool is_enabled() const { return enabled_; }
  // Is a text wanted, `elapsed` after the beginning?
  [[nodiscard]] bool due(Seconds elapsed) const;
  // Whether due or not.
  void print(Seconds elapsed, std::string_view text);
  // The line is wiped, and nothing follows.
  void end();

 private:
  std::string prefix_;
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  Seconds next_;
};

}  // namespace espalier::cli
