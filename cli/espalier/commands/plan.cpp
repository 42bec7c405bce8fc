// espalier plan: makes a plan and reports how far it is from the optimum.
#include "planner/plan/plan.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/plan_choice.hpp"
#include "cli/espalier/reports/plan_summary.hpp"
#include "cli/espalier/run.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "support/deadline.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

struct PlanOptions {
  Console console;
  ProblemOptions problem;
  std::string algorithm = "optimal";
  AlgorithmParameters parameters;
  std::string max_trees;
  std::string max_depth;
  std::string max_latency;
  std::string output = "-";
  bool schedule = false;
  planner::ScheduleOptions scheduling;
  std::string overhead;
  std::string compute;
  bool json = false;
  // Whether the command line gives these: --message then does not choose them.
  bool message_given = false;
  bool algorithm_given = false;
  bool segment_given = false;
};

std::size_t parse_limit(std::string_view option, std::string_view text) {
  std::size_t limit = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (fault != std::errc{} || end != text.data() + text.size() || limit > UINT32_MAX) {
    throw InputError({}, std::string(option), fmt::format("'{}' is not a whole number", text));
  }
  if (limit == 0) {
    const std::string_view what = option == "--max-trees" ? "one tree" : "a depth of one edge";
    throw InputError({}, std::string(option), fmt::format("a plan needs at least {}", what));
  }
  return limit;
}

// The parsed elements of "1,2,4", sorted and without duplicates; {none} if the option was not
// given.
template <class Value, class Parse>
std::vector<Value> parse_list(std::string_view text, Value none, Parse parse) {
  if (text.empty()) return {none};
  std::vector<Value> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(parse(text.substr(start, comma - start)));
    start = comma + 1;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The limits of the plan; one plan is made for each combination.
struct Limits {
  std::vector<std::size_t> tree_counts;
  std::vector<std::size_t> depths;
  std::vector<std::optional<Seconds>> latencies;

  [[nodiscard]] std::vector<planner::AlgorithmOptions> combined(
      planner::AlgorithmOptions limits) const {
    std::vector<planner::AlgorithmOptions> each;
    for (const std::size_t count : tree_counts) {
      for (const std::size_t depth : depths) {
        for (const std::optional<Seconds>& latency : latencies) {
          limits.max_trees = count;
          limits.max_depth = static_cast<std::uint32_t>(depth);
          limits.max_latency = latency;
          each.push_back(limits);
        }
      }
    }
    return each;
  }
};

Limits parse_limits(const PlanOptions& options, const planner::Algorithm& algorithm) {
  const auto counts = [](std::string_view option, std::string_view text) {
    return parse_list<std::size_t>(
        text, 0, [&](std::string_view part) { return parse_limit(option, part); });
  };
  Limits limits{counts("--max-trees", options.max_trees), counts("--max-depth", options.max_depth),
                parse_list<std::optional<Seconds>>(
                    options.max_latency, std::nullopt, [](std::string_view part) {
                      return std::optional(parse_span("--max-latency", std::string(part)));
                    })};
  for (const auto& [option, text, what] :
       {std::tuple("--max-depth", &options.max_depth, "depth"),
        std::tuple("--max-latency", &options.max_latency, "latency")}) {
    if (text->empty() || algorithm.entry->name == planner::kOptimal) continue;
    throw InputError({}, option,
                     fmt::format("'{}' cannot limit the {}; use 'optimal'", algorithm.name, what));
  }
  if (!options.max_depth.empty() && !options.max_latency.empty()) {
    throw InputError({}, "--max-latency", "cannot be combined with --max-depth; give one of them");
  }
  return limits;
}

// The summary goes to standard output, or to stderr when the plan goes to standard output.
void report(const PlanOptions& options, const std::vector<PlanAttempt>& attempts) {
  const std::string summary =
      options.json ? json_text(plan_summary_json(attempts)) : plan_summary_table(attempts);
  write_text(options.output, planner::to_json(attempts.back().plan));
  if (options.output == "-") {
    options.console.block(summary);
  } else {
    write_text("-", summary);
  }
}

// Runs `make`; a LimitReached of it gets the name.
template <typename Make>
auto with_name(std::string_view name, Make make) {
  try {
    return make();
  } catch (const LimitReached& fault) {
    throw LimitReached(fmt::format("{}: {}", name, fault.what()));
  }
}

// Runs `make`; an InputError of it, too, gets the name of --schedule.
template <typename Make>
auto with_schedule_refusals(Make make) {
  try {
    return with_name("--schedule", make);
  } catch (const InputError& fault) {
    throw InputError({}, "--schedule", fault.what());
  }
}

PlanAttempt attempt(const PlanOptions& options, const planner::Algorithm& algorithm,
                    const planner::Collective& collective,
                    const planner::AlgorithmOptions& limits) {
  planner::ScheduleOptions scheduling = options.scheduling;
  scheduling.deadline = limits.deadline.restarted();
  Run run = with_name(algorithm.name,
                      [&] { return run_timed(algorithm, collective, limits, options.console); });
  planner::Plan plan =
      planner::make_plan(collective, algorithm.name, run.outcome, collective.options().segment);
  if (options.schedule) {
    plan.schedule = with_schedule_refusals(
        [&] { return planner::make_schedule(*collective.broadcast(), plan, scheduling); });
  }
  const auto makespan = makespan_of(run, collective, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run),
          std::move(plan),  makespan,         limits.message};
}

// Refuses options that cannot be combined with --message, or that need it.
void check_choice(const PlanOptions& options, planner::Operation operation, const Limits& limits) {
  if (!options.message_given) {
    for (const auto& [option, text] :
         {std::pair("--overhead", &options.overhead), std::pair("--compute", &options.compute)}) {
      if (text->empty()) continue;
      throw InputError({}, option, "needs --message SIZE");
    }
    return;
  }
  if (!options.overhead.empty()) (void)parse_overhead(options.overhead);
  if (!options.compute.empty()) {
    if (!planner::reduces(operation)) {
      throw InputError({}, "--compute",
                       "is for a reduce or an allreduce; a broadcast combines nothing");
    }
    (void)parse_compute(options.compute);
  }
  if (options.schedule) {
    throw InputError({}, "--schedule",
                     "cannot be combined with --message; give --segment SIZE instead");
  }
  for (const auto& [option, count] : {std::pair("--max-trees", limits.tree_counts.size()),
                                      std::pair("--max-depth", limits.depths.size()),
                                      std::pair("--max-latency", limits.latencies.size())}) {
    if (count > 1) throw InputError({}, option, "only one value can be combined with --message");
  }
}

// The plan for the message: chooses what the command line leaves open.
PlanAttempt attempt_for_message(const PlanOptions& options, const planner::Algorithm& algorithm,
                                const planner::Collective& collective,
                                const planner::AlgorithmOptions& limits) {
  const Deadline clock(std::nullopt);
  simulate::ChoiceOptions how;
  if (options.algorithm_given) how.algorithms = {algorithm};
  if (options.segment_given) how.run.segment = collective.options().segment;
  if (!options.overhead.empty()) how.overhead = parse_overhead(options.overhead);
  if (!options.compute.empty()) how.run.compute = parse_compute(options.compute);
  how.limits = limits;
  simulate::Choice choice = choose_for(collective, limits.message, how, options.console);
  Run run{choice.outcome, choice.plan.throughput, clock.elapsed().value};
  planner::Plan plan = choice.plan;
  const auto makespan = makespan_of(run, collective, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run), std::move(plan),
          makespan,         limits.message,   std::move(choice),  how.run.compute};
}

ExitStatus run_plan(const PlanOptions& options) {
  const planner::Operation operation = options.problem.operation.read();
  const planner::Algorithm algorithm = planner::find_algorithm(options.algorithm, operation);
  const platforms::Model model = options.problem.model.model();
  const platforms::OccupationOptions occupation = options.problem.model.occupation();
  planner::AlgorithmOptions limits = options.problem.limits.read();
  options.parameters.write_to(limits);
  const Limits several = parse_limits(options, algorithm);
  if (!(options.scheduling.loss >= 1e-4 && options.scheduling.loss < 1)) {
    throw InputError({}, "--schedule-loss", "must be at least 0.0001 and below 1");
  }
  check_choice(options, operation, several);
  if (options.schedule && operation != planner::Operation::kBroadcast) {
    throw InputError({}, "--schedule",
                     fmt::format("only a broadcast can have a schedule, not {}",
                                 in_quotes(planner::name_of(operation))));
  }
  require_writable(options.output);

  const platforms::Platform platform =
      options.problem.reading.read(options.problem.platform, options.console);
  const planner::Collective collective(operation, platform,
                                       planner::source_named(platform, options.problem.source),
                                       model, occupation);
  if (options.schedule) {
    with_schedule_refusals([&] { planner::require_schedulable(*collective.broadcast()); });
  }
  std::vector<PlanAttempt> attempts;
  ExitStatus status = ExitStatus::kDone;
  for (const planner::AlgorithmOptions& each : several.combined(limits)) {
    if (options.message_given) {
      attempts.push_back(attempt_for_message(options, algorithm, collective, each));
      if (!attempts.back().choice->complete) status = ExitStatus::kLimitReached;
      continue;
    }
    attempts.push_back(attempt(options, algorithm, collective, each));
    if (judge(attempts.back().run, algorithm.name, options.console) != ExitStatus::kDone) {
      status = ExitStatus::kLimitReached;
    }
  }
  report(options, attempts);
  return status;
}

}  // namespace

Command add_plan(Arguments root) {
  auto options = std::make_shared<PlanOptions>();
  Arguments app =
      root.add_command("plan", "Make a plan: the trees of a broadcast, reduce or allreduce");
  options->problem.add_to(app);
  app.add("--algorithm", options->algorithm,
          "Algorithm that builds the trees, " + algorithm_choices(), {.type = "NAME"});
  options->parameters.add_to(app);
  app.add("--max-trees", options->max_trees,
          "At most K trees. For several K (1,2,4) a table shows the cost of each; the last plan is "
          "kept",
          {.type = "K[,K…]"});
  app.add("--max-depth", options->max_depth,
          "At most D edges from the source to any host, so that the first segment arrives earlier; "
          "several D as for --max-trees",
          {.type = "D[,D…]"});
  app.add("--max-latency", options->max_latency,
          "At most T for the sum of the links' latencies from the source to any host; several T as "
          "for --max-trees",
          {.type = "T[,T…]"});
  app.add_flag("--schedule", options->schedule,
               "Add a periodic schedule: the time of each send (one-port, direct links)");
  app.add("--schedule-loss", options->scheduling.loss,
          "Maximum relative throughput lost by sending whole segments in each period",
          {.type = "SHARE"});
  app.add(
      "--overhead", options->overhead,
      "With --message: overhead per segment on links without one; default: 10 us if no link of the "
      "platform has one",
      {.type = "TIME"});
  app.add("--compute", options->compute,
          "With --message, for a reduce or allreduce: how fast a host combines data, \"4 GB/s\"; "
          "default: instantly",
          {.type = "RATE"});
  app.add("-o,--output", options->output, "Write the plan to this file; '-' is standard output",
          {.type = "FILE"});
  app.add_flag("--json", options->json, "The summary as JSON");
  add_console_options(app, options->console);
  app.add_footer(
      "The summary goes to stdout when the plan goes to a file, otherwise to stderr. If the time\n"
      "limit cuts the proof or a search short, the plan is still written, a warning names the "
      "first\n"
      "unfinished stage and the remaining gap, and the exit status is 4.\n"
      "With --message the segment size and (without --algorithm) the trees are chosen by "
      "simulation\n"
      "so that the operation on a message of that size finishes first. --segment, --max-trees,\n"
      "--max-depth and --max-latency still apply.");
  return {app, [options, app] {
            options->message_given = app.given("--message");
            options->algorithm_given = app.given("--algorithm");
            options->segment_given = app.given("--segment");
            return run_plan(*options);
          }};
}

}  // namespace espalier::cli
