#include "cli/chrome_trace.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "support/errors.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

std::string json_string(std::string_view text) {
  return Json(text).dump();
}

}  // namespace

ChromeTrace::ChromeTrace(std::vector<std::string> lines)
    : lines_(std::move(lines)), used_(lines_.size(), false) {}

void ChromeTrace::add(std::uint32_t line, std::string_view name, Seconds start, Seconds duration) {
  if (++bars_ > kMostBars) {
    throw InputError({}, "--trace",
                     fmt::format("at most {} bars, one a send and resource; a smaller message or "
                                 "larger slices make fewer",
                                 kMostBars));
  }
  used_[line] = true;
  constexpr double kMicroseconds = 1e6;
  fmt::format_to(std::back_inserter(events_),
                 R"(,
{{"ph": "X", "pid": 0, "tid": {}, "ts": {:.12g}, "dur": {:.12g}, "name": {}}})",
                 line, start.value * kMicroseconds, duration.value * kMicroseconds,
                 json_string(name));
}

std::string ChromeTrace::text() const {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  text += R"({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "resources"}})";
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    if (!used_[line]) continue;
    text += fmt::format(
        ",\n{{\"ph\": \"M\", \"pid\": 0, \"tid\": {}, \"name\": \"thread_name\", \"args\": "
        "{{\"name\": {}}}}}",
        line, json_string(lines_[line]));
  }
  return text + events_ + "\n]}\n";
}

}  // namespace espalier::cli
