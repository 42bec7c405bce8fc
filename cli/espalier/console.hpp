// Messages on stderr, and helpers for output to stdout or a file.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/common/interrupt.hpp"
#include "cli/common/status_line.hpp"
#include "planner/registry.hpp"
#include "support/deadline.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// How much is printed on stderr. Errors are always printed.
struct Console {
  bool quiet = false;    // no notes, warnings or progress
  bool verbose = false;  // also what was read and how long each step took

  // "espalier: note: TEXT", "espalier: warning: TEXT", "espalier: TEXT": one line each.
  void note(std::string_view text) const;
  void warn(std::string_view text) const;
  void detail(std::string_view text) const;
  // Several lines unchanged, e.g. a table while the plan goes to stdout.
  void block(std::string_view text) const;
};

// "espalier: TEXT" on stderr, whatever the verbosity.
void print_error(std::string_view text);

// `json` as an indented document that ends with a newline.
std::string json_text(const Json& json);

// A report on stdout; on stderr if the file written beside it went to stdout ("-").
void print_beside(const std::string& report, std::string_view file, const Console& console);

// Throws InputError if `file` cannot be written. For use before long work. "-" is standard output.
void require_writable(const std::string& file);

// The progress of an anytime algorithm, of one or several threads. As the clock of work that looks
// at it now and then, because it has a deadline, it shows how long that has taken, even where
// nothing else is reported, and ends the work on Ctrl-C.
class ProgressLine : private Clock {
 public:
  ProgressLine(const Console& console, std::string_view label);

  void show(const planner::Progress& progress);
  // Any other progress, as text.
  void show(Seconds elapsed, std::string_view what);
  // The same limit from now on, by this clock, which must outlive it.
  [[nodiscard]] Deadline follow(const Deadline& deadline) {
    if (!watch_) watch_.emplace();
    return Deadline(deadline.limit(), this);
  }
  // So that it shows all that work with these options tells.
  void follow(planner::AlgorithmOptions& options);

 private:
  Seconds now() override;
  void print(Seconds elapsed);  // the caller has lock_
  bool stopped() override { return interrupted(); }

  std::optional<InterruptWatch> watch_;  // while work looks
  std::mutex lock_;                      // of the next
  StatusLine line_;
  std::string what_{};  // last reported
  Seconds last_{0};     // when something was reported
  std::optional<Seconds> start_;
};

}  // namespace espalier::cli
