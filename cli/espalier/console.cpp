#include "cli/espalier/console.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

void print_line(std::string_view kind, std::string_view text) {
  fmt::print(stderr, "espalier: {}{}\n", kind, printable(text));
}

}  // namespace

void Console::note(std::string_view text) const {
  if (!quiet) print_line("note: ", text);
}

void Console::warn(std::string_view text) const {
  if (!quiet) print_line("warning: ", text);
}

void Console::detail(std::string_view text) const {
  if (verbose && !quiet) print_line("", text);
}

void Console::block(std::string_view text) const {
  if (!quiet) fmt::print(stderr, "{}", text);
}

void print_error(std::string_view text) {
  print_line("", text);
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void print_beside(const std::string& report, std::string_view file, const Console& console) {
  if (file == "-") return console.block(report);
  write_text("-", report);
}

void require_writable(const std::string& file) {
  if (file == "-") return;
  const auto refuse = [&file](int number) {
    throw InputError(file, {}, "cannot write: " + std::generic_category().message(number));
  };
  if (file.empty()) refuse(ENOENT);
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse(EISDIR);
  if (::access(file.c_str(), F_OK) == 0) {
    if (::access(file.c_str(), W_OK) != 0) refuse(errno);
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) refuse(errno);
}

ProgressLine::ProgressLine(const Console& console, std::string_view label)
    : line_(fmt::format("espalier: {}: ", label), !console.quiet, ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(Seconds elapsed, std::string_view what) {
  const std::scoped_lock lock(lock_);
  last_ = elapsed;
  what_ = what;
  if (line_.due(elapsed)) print(elapsed);
}

void ProgressLine::show(const planner::Progress& progress) {
  std::string what = fmt::format("round {}", progress.iterations);
  if (progress.bound.value > 0) {
    what += fmt::format(", {} of at most {}, gap {:.2e}", format_rate(progress.throughput),
                        format_rate(progress.bound),
                        1 - progress.throughput.value / progress.bound.value);
  }
  show(progress.elapsed, what);
}

void ProgressLine::print(Seconds elapsed) {
  line_.print(elapsed,
              fmt::format("{:.1f} s{}{}", elapsed.value, what_.empty() ? "" : ", ", what_));
}

void ProgressLine::follow(planner::AlgorithmOptions& options) {
  options.deadline = follow(options.deadline);
  options.on_progress = [this](const planner::Progress& progress) { show(progress); };
}

Seconds ProgressLine::now() {
  constexpr Seconds kWhile{1};  // without anything else
  const Seconds now = steady_now();
  const std::scoped_lock lock(lock_);
  if (!start_) start_ = now;
  const Seconds elapsed{now.value - start_->value};
  if (elapsed.value >= last_.value + kWhile.value && line_.due(elapsed)) {
    print(elapsed);
  }
  return now;
}

}  // namespace espalier::cli
