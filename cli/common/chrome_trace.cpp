#include "cli/common/chrome_trace.hpp"

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

ChromeTrace::ChromeTrace(std::vector<std::string> lines, std::string title)
    : lines_(std::move(lines)), title_(std::move(title)), used_(lines_.size(), false) {}

void ChromeTrace::note(std::string_view name, double value) {
  notes_ += fmt::format("{}{}: {:.12g}", notes_.empty() ? "" : ", ", json_string(name), value);
}

void ChromeTrace::add(std::uint32_t line, std::string_view name, Seconds start, Seconds duration,
                      std::string_view args) {
  if (++bars_ > kMostBars) {
    throw InputError({}, "--trace",
                     fmt::format("more than {} bars (one per send and resource); use a smaller "
                                 "message or larger segments",
                                 kMostBars));
  }
  used_[line] = true;
  constexpr double kMicroseconds = 1e6;
  fmt::format_to(std::back_inserter(events_),
                 R"(,
{{"ph": "X", "pid": 0, "tid": {}, "ts": {:.12g}, "dur": {:.12g}, "name": {}{}{}}})",
                 line, start.value * kMicroseconds, duration.value * kMicroseconds,
                 json_string(name), args.empty() ? "" : R"(, "args": )", args);
}

std::string ChromeTrace::text() const {
  std::string text = R"({"displayTimeUnit": "ms", )";
  if (!notes_.empty()) text += fmt::format(R"("otherData": {{{}}}, )", notes_);
  text += "\"traceEvents\": [\n";
  text += fmt::format(R"({{"ph": "M", "pid": 0, "name": "process_name", "args": {{"name": {}}}}})",
                      json_string(title_));
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
