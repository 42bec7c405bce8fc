// What a person reads on stderr, and the data that goes to stdout or a file.
#pragma once

#include <string>
#include <string_view>

#include "cli/common/status_line.hpp"
#include "planner/registry.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// How much is said on stderr. Errors are always said.
struct Console {
  bool quiet = false;    // no notes, warnings, progress
  bool verbose = false;  // what was read, and how the time went

  // "espalier: note: TEXT", "espalier: warning: TEXT", "espalier: TEXT": one line each.
  void note(std::string_view text) const;
  void warn(std::string_view text) const;
  void detail(std::string_view text) const;
  // Several lines as they are, e.g. a table while stdout holds a plan.
  void block(std::string_view text) const;
};

// "espalier: TEXT" on stderr, whatever the verbosity.
void print_error(std::string_view text);

// `json` as the text of a document, with a line end.
std::string json_text(const Json& json);

// Throws InputError when writing `file` is sure to fail: asked before long work. "-" is standard
// output.
void require_writable(const std::string& file);

// The progress of an anytime algorithm.
class ProgressLine {
 public:
  ProgressLine(const Console& console, std::string_view label);

  void show(const planner::Progress& progress);
  // Any other progress, in words.
  void show(Seconds elapsed, std::string_view text);

 private:
  StatusLine line_;
};

}  // namespace espalier::cli
