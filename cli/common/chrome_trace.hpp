// What resources are busy with when, as the Trace Event JSON that chrome://tracing and Perfetto
// show: a line a resource, a bar a send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::cli {

class ChromeTrace {
 public:
  // More bars than this are refused: viewers do not show them, and the text fills the memory.
  static constexpr std::size_t kMostBars = 1'000'000;

  // lines: the names of the lines, e.g. "out-port of a". title: over all of them.
  explicit ChromeTrace(std::vector<std::string> lines, std::string title = "resources");

  // A bar on line `line`. args: what a viewer shows of a bar that is selected, a JSON object's
  // text; empty: nothing. Throws InputError for one too many, in the name of --trace.
  void add(std::uint32_t line, std::string_view name, Seconds start, Seconds duration,
           std::string_view args = {});
  // Of the whole, e.g. "clock_error_s"; viewers show it beside the bars.
  void note(std::string_view name, double value);
  // The document; lines without a bar are left out.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> lines_;
  std::string title_;
  std::string notes_;
  std::vector<bool> used_;
  std::size_t bars_ = 0;
  std::string events_;
};

}  // namespace espalier::cli
