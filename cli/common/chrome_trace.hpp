// When each resource is busy and with what, as Trace Event JSON for chrome://tracing and Perfetto:
// one line per resource, one bar per send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::cli {

class ChromeTrace {
 public:
  // More bars are refused: viewers cannot show them, and the text would fill the memory.
  static constexpr std::size_t kMostBars = 1'000'000;

  // lines: names of the lines, e.g. "out-port of a". title: heading above all lines.
  explicit ChromeTrace(std::vector<std::string> lines, std::string title = "resources");

  // Adds a bar to line `line`. args: text of a JSON object that a viewer shows for a selected bar;
  // empty: none. Throws InputError that names --trace when there are more than kMostBars.
  void add(std::uint32_t line, std::string_view name, Seconds start, Seconds duration,
           std::string_view args = {});
  // A figure of the whole trace, e.g. "clock_error_s"; viewers show it beside the bars.
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
