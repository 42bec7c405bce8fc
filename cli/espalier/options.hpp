// Options that several commands share. Each group is added by one call and read by another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "platforms/formats/formats.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

// The result of `parse` for the text given for `option`. An InputError of `parse` gets the option's
// name.
template <typename Parse>
auto parse_option(std::string_view option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const InputError& fault) {
    throw InputError({}, std::string(option), fault.what());
  }
}

// A time that is not negative, given for `option`.
Seconds parse_span(std::string_view option, const std::string& text);

// --quiet, --verbose.
void add_console_options(Arguments& app, Console& console);

// "one of: a, b, c".
std::string one_of(const std::vector<std::string_view>& names);
std::vector<std::string_view> algorithm_names();
// The choices of --algorithm, for help: the names, and which take an inner algorithm.
std::string algorithm_choices();
std::vector<std::string_view> model_names();
std::vector<std::string_view> format_names();

// How platform files are read: --from, options of single formats, --send-cap, --receive-cap.
class PlatformOptions {
 public:
  void add_to(Arguments& app);
  // The platform of `file` with the caps set. The reader's notes go to the console.
  [[nodiscard]] platforms::Platform read(const std::string& file, const Console& console) const;
  // The same, but returns the notes to the caller. parse() reads text that is already in memory;
  // `file` is for messages.
  [[nodiscard]] platforms::ReadResult read_all(const std::string& file,
                                               const Console& console) const;
  [[nodiscard]] platforms::ReadResult parse(std::string_view text, const std::string& file,
                                            const Console& console) const;

 private:
  [[nodiscard]] platforms::ReadOptions read_options() const;
  [[nodiscard]] platforms::ReadResult finish(platforms::ReadResult result, const std::string& file,
                                             const Console& console) const;
  platforms::ReadOptions options_;
  std::vector<std::string> send_caps_;
  std::vector<std::string> receive_caps_;
  std::vector<std::string> class_rates_;
};

// Prints suspicious properties of the platform as notes (platforms/core/warnings.hpp). Only for
// commands that show what a platform is, so that scripts that plan on it get no notes.
void note_warnings(const platforms::Platform& platform, const Console& console);

// The hosts that --source names. Each text is a name or several separated by commas; 'each' means
// every host; without texts: the first host. Throws InputError for an unknown name, InfeasibleError
// for a platform without hosts.
std::vector<platforms::NodeId> sources_of(const platforms::Platform& platform,
                                          const std::vector<std::string>& texts);

// --operation.
class OperationOption {
 public:
  void add_to(Arguments& app);
  [[nodiscard]] planner::Operation read() const;

 private:
  std::string operation_ = "broadcast";
};

// The model of the problem: --model, --segment, --latency.
class ModelOptions {
 public:
  void add_to(Arguments& app);
  // The same without --model.
  void add_occupation_to(Arguments& app);
  [[nodiscard]] platforms::Model model() const;
  // The segment size is always set, so that a plan is checked with the size that it was made with.
  // It matters only where links have overheads.
  [[nodiscard]] platforms::OccupationOptions occupation() const;

 private:
  std::string model_ = "one-port";
  std::string segment_ = "512KiB";  // planner::kDefaultSegment
  std::string latency_ = "delays";
};

// The text of --time-limit; empty: no limit. Throws InputError.
std::optional<Seconds> parse_time_limit(const std::string& text);

// When to stop: --time-limit, --gap.
class LimitOptions {
 public:
  void add_to(Arguments& app);
  // Without on_progress; the deadline gives the limit, and is to be started again for each task.
  [[nodiscard]] planner::AlgorithmOptions read() const;

 private:
  std::string time_limit_;
  double gap_ = 1e-6;
};

// Parameters of some algorithms: --chains, and --message, whose makespan is also reported.
class AlgorithmParameters {
 public:
  void add_to(Arguments& app);
  void write_to(planner::AlgorithmOptions& options) const;

 private:
  std::uint64_t chains_ = planner::AlgorithmOptions{}.chains;
  std::string message_ = "1MiB";
};

// One planning problem: platform, --operation, --source, and the groups above.
struct ProblemOptions {
  std::string platform;
  OperationOption operation;
  std::string source;
  PlatformOptions reading;
  ModelOptions model;
  LimitOptions limits;

  void add_to(Arguments& arguments);
};

}  // namespace espalier::cli
