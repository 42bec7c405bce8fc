// Options that several commands share. Each group binds to what the library takes.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "platforms/formats/formats.hpp"

namespace espalier::cli {

// --quiet, --verbose.
void add_console_options(Arguments& app, Console& console);

// The choices of --algorithm, for help: the names, and which take an inner algorithm.
std::string algorithm_choices();
// A platform or plan file as the command's argument.
void add_file(Arguments& app, const std::string& name, std::string& file);
// Throws InputError if both are standard input.
void require_one_stdin(std::string_view command, std::string_view plan, std::string_view platform);

// How platform files are read: --from, options of single formats, --prices, --send-cap,
// --receive-cap.
struct PlatformOptions {
  platforms::ReadOptions options{};
  std::string prices{};  // file; empty: none
  std::vector<platforms::PrefixCap> send_caps{};
  std::vector<platforms::PrefixCap> receive_caps{};

  // Every command understands all of them. Only the help of commands whose subject is the platform
  // describes those of single formats; the others refer to it.
  void add_to(Arguments& app, bool in_help = false);
  // The platform of `file` with the caps set. The reader's notes go to the console.
  [[nodiscard]] platforms::Platform read(const std::string& file, const Console& console) const;
  // The same, but returns the notes to the caller. parse() reads text that is already in memory;
  // `file` is for messages.
  [[nodiscard]] platforms::ReadResult read_all(const std::string& file,
                                               const Console& console) const;
  [[nodiscard]] platforms::ReadResult parse(std::string_view text, const std::string& file,
                                            const Console& console) const;

 private:
  [[nodiscard]] platforms::ReadResult finish(platforms::ReadResult result, const std::string& file,
                                             const Console& console) const;
};

// Prints suspicious properties of the platform as notes (platforms/core/warnings.hpp). Only for
// commands that show what a platform is, so that scripts that plan on it get no notes.
void note_warnings(const platforms::Platform& platform, const Console& console);

// The hosts that --source names. Each text is a name or several separated by commas; 'each' means
// every host; without texts: the first host. Throws InputError for an unknown name, InfeasibleError
// for a platform without hosts.
std::vector<platforms::NodeId> sources_of(const platforms::Platform& platform,
                                          const std::vector<std::string>& texts);
// The root of each problem that --source poses, which is unset where there are several: where the
// operation needs none and `texts` is empty or 'any'.
std::vector<std::optional<platforms::NodeId>> roots_of(const platforms::Platform& platform,
                                                       planner::Operation operation,
                                                       const std::vector<std::string>& texts);

// --operation, one of `names` (of enumerators from the first on, static), a broadcast unless given.
template <class Value>  // planner::Operation, or optional
void add_operation(Arguments& app, Value& operation, const std::vector<std::string_view>& names) {
  app.add("--operation", operation, one_named<planner::Operation>("operation", names),
          "The operation to plan, " + one_of(names),
          {.type = "OPERATION", .shown = std::string(names.front())});
}
// The same for a command that serves every operation, and whose --source is refused where every
// host is a root.
template <class Value>  // as above
void add_every_operation(Arguments& app, Value& operation) {
  static const std::vector<std::string_view> names = names_of(planner::kOperationsAndBarrier);
  add_operation(app, operation, names);
}
// The same for a command that serves those that move a message.
template <class Value>
void add_operation(Arguments& app, Value& operation) {
  static const std::vector<std::string_view> names = names_of(planner::kEveryOperation);
  add_operation(app, operation, names);
}
using GivenOption = std::pair<const char*, bool>;  // its name, and whether it was given
// Throws InputError, with this reason, for the first one that was given.
void refuse_given(std::initializer_list<GivenOption> options, const std::string& reason);

// Throws InputError if a source was given for such an operation.
void refuse_source_without_root(planner::Operation operation, bool given);

// How much of the message is each host's: --counts.
struct SharesOption {
  std::string file{};  // empty: equal shares

  // operation: that of the command, which outlives it.
  void add_to(Arguments& app, const planner::Operation& operation);
  // As planner::on_problem takes them. Throws InputError naming the file.
  [[nodiscard]] std::vector<double> read(const platforms::Platform& platform,
                                         planner::Operation operation) const;
};
// Which hosts need the message of a broadcast, and which others may help: --to, --helpers.
struct ReceiversOption {
  std::vector<std::string> to{};  // as sources_of takes them; empty: all hosts
  std::string helpers = "all";    // or "none", or names

  // operation: that of the command, which outlives it.
  void add_to(Arguments& app, const planner::Operation& operation);
  // Source, receivers and helpers; unset: without --to, the whole platform. Throws InputError for
  // an unknown name, InfeasibleError where a broadcast without --to cannot reach all hosts, with
  // the
  // --to that would do.
  [[nodiscard]] std::optional<platforms::Platform> part_of(
      const platforms::Platform& whole, std::optional<platforms::NodeId> source,
      platforms::Model model, const platforms::OccupationOptions& occupation) const;
  // On this part; empty where nobody helps: then all hosts are receivers.
  [[nodiscard]] std::vector<platforms::NodeId> on(const platforms::Platform& part) const;
  // What `visit` returns for the problem on this part. The others as of planner::on_problem, on the
  // whole platform.
  template <class Visit>
  auto on_problem(planner::Operation operation, const platforms::Platform& whole,
                  std::optional<platforms::NodeId> root, platforms::Model model,
                  const platforms::OccupationOptions& occupation, std::vector<double> shares,
                  const Visit& visit) const {
    const auto part = part_of(whole, root, model, occupation);
    const platforms::Platform& network = part ? *part : whole;
    if (part) root = planner::source_named(network, whole.node(*root).name);
    return planner::on_problem(operation, network, root, model, occupation,
                               {std::move(shares), on(network)}, visit);
  }

 private:
  const planner::Operation* operation_ = nullptr;
};
// When to stop: --time-limit, --gap.
void add_limits(Arguments& app, planner::AlgorithmOptions& limits);
// The model whose optimum guides lp-grow and lp-prune: --guided-by.
void add_guide(Arguments& app, planner::AlgorithmOptions& limits);
void add_time_limit(Arguments& app, std::optional<Seconds>& limit, const std::string& help);
// Parameters of some algorithms: --chains, and --message, whose makespan is also reported. help: of
// --message.
inline void add_algorithm_parameters(Arguments& app, std::size_t& chains,
                                     std::optional<Bytes>& message, const std::string& help) {
  app.add("--chains", chains, "How many chains k-chain makes", {.type = "K"});
  app.check([&chains] {
    if (chains == 0) throw InputError({}, "--chains", "k-chain needs at least one chain");
  });
  app.add("--message", message, read_nonempty_size, help,
          {.shown = shown(planner::AlgorithmOptions{}.message)});
}

// The model of the problem: --model, --segment, --latency; each unset if not given.
struct ModelOptions {
  std::optional<platforms::Model> given_model{};
  std::optional<Bytes> given_segment{};
  std::optional<bool> latency_occupies{};

  void add_to(Arguments& app);
  // The same without --model.
  void add_occupation_to(Arguments& app);
  [[nodiscard]] platforms::Model model() const {
    return given_model.value_or(platforms::Model::kOnePort);
  }
  // The segment size is always set, so that a plan is checked with the size that it was made with.
  // It matters only where links have overheads.
  [[nodiscard]] platforms::OccupationOptions occupation() const {
    return {.segment = given_segment.value_or(planner::kDefaultSegment),
            .latency_occupies = latency_occupies.value_or(false)};
  }
};

// As --source of an allreduce: the planner chooses how much is combined at which host.
inline constexpr std::string_view kAnyRoot = "any";
inline bool is_any_root(const std::vector<std::string>& texts) {
  return texts.size() == 1 && texts.front() == kAnyRoot;
}

// One planning problem: platform, --operation, --source (where the operation has one root), and the
// groups above.
struct ProblemOptions {
  std::string platform{};
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string source{};  // empty: there are several roots, or none
  SharesOption shares{};
  ReceiversOption receivers{};
  PlatformOptions reading{};
  ModelOptions model{};
  planner::AlgorithmOptions limits{};

  void add_to(Arguments& app);
  [[nodiscard]] std::optional<platforms::NodeId> root_on(const platforms::Platform& network) const;
  // The platform, or the part of it that the problem is on.
  [[nodiscard]] platforms::Platform read(const Console& console) const;
  // What `visit` returns for the problem on it. money_per_s: as of OccupationOptions.
  template <class Visit>
  auto on(const platforms::Platform& network, const Visit& visit,
          std::optional<double> money_per_s = std::nullopt) const {
    platforms::OccupationOptions occupation = model.occupation();
    occupation.money_per_s = money_per_s;
    return planner::on_problem(operation, network, root_on(network), model.model(), occupation,
                               {shares.read(network, operation), receivers.on(network)}, visit);
  }
};

}  // namespace espalier::cli
