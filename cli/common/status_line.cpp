#include "cli/common/status_line.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

namespace espalier::cli {

namespace {

constexpr Seconds kFirst{1.0};
constexpr Seconds kBetweenRewritings{0.2};
constexpr Seconds kBetweenLogLines{5.0};
constexpr const char* kEraseLine = "\r\033[2K";  // moves to the line's start and erases it

}  // namespace

StatusLine::StatusLine(std::string prefix, bool enabled, bool terminal)
    : prefix_(std::move(prefix)), enabled_(enabled), terminal_(terminal), next_(kFirst) {}

StatusLine::~StatusLine() {
  end();
}

bool StatusLine::due(Seconds elapsed) const {
  return enabled_ && elapsed.value >= next_.value;
}

void StatusLine::print(Seconds elapsed, std::string_view text) {
  next_.value = elapsed.value + (terminal_ ? kBetweenRewritings : kBetweenLogLines).value;
  shown_ = true;
  if (terminal_) {
    fmt::print(stderr, "{}{}{}", kEraseLine, prefix_, text);
  } else {
    fmt::print(stderr, "{}{}\n", prefix_, text);
  }
  std::fflush(stderr);
}

void StatusLine::end() {
  if (shown_ && terminal_) std::fputs(kEraseLine, stderr);
  shown_ = enabled_ = false;
}

}  // namespace espalier::cli
