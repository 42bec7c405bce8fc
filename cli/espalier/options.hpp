// Options that several commands share, each group added by one call and read by another.
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

// What `parse` makes of the text that was given for `option`; its refusal then names the option.
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

// "one of: a, b, c" of a registry's names.
std::string one_of(const std::vector<std::string_view>& names);
std::vector<std::string_view> algorithm_names();
// The choices of --algorithm, for help: their names, and which take an inner one.
std::string algorithm_choices();
std::vector<std::string_view> model_names();
std::vector<std::string_view> format_names();

// How platform files are read: --from, the options of single formats, --send-cap, --receive-cap.
class PlatformOptions {
 public:
  void add_to(Arguments& app);
  // The platform of `file` with the caps set; what the reader has to say goes to the console as
  // notes.
  [[nodiscard]] platforms::Platform read(const std::string& file, const Console& console) const;
  // The same with the notes left to the caller; parse: of a text that is in memory already, `file`
  // is for messages.
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

// What looks wrong with the platform, as notes on the console (platforms/core/warnings.hpp): for
// commands that show what a platform is, so that scripts that plan on it are left in peace.
void note_warnings(const platforms::Platform& platform, const Console& console);

// The hosts that --source names, each text a name or several separated by commas; 'each' is every
// host, and no text at all the first one. Throws InputError for an unknown name, or a platform
// without hosts.
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

// What is planned: --model, --segment, --latency.
class ModelOptions {
 public:
  void add_to(Arguments& app);
  // The same without --model.
  void add_occupation_to(Arguments& app);
  [[nodiscard]] platforms::Model model() const;
  // The segment size is always there, so that a plan is checked with what it was made with: where
  // links have overheads these count, elsewhere the size makes no difference.
  [[nodiscard]] platforms::OccupationOptions occupation() const;

 private:
  std::string model_ = "one-port";
  std::string segment_ = "512KiB";  // planner::kDefaultSegment
  std::string latency_ = "delays";
};

// When to stop: --time-limit, --gap.
class LimitOptions {
 public:
  void add_to(Arguments& app);
  // Without on_progress.
  [[nodiscard]] planner::AlgorithmOptions read() const;

 private:
  std::string time_limit_;
  double gap_ = 1e-6;
};

// What only some algorithms ask for: --chains, and --message, whose makespan is told besides.
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
