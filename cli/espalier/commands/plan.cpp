// espalier plan: makes a plan, and says how far it is from the best possible.
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

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/plan_choice.hpp"
#include "cli/espalier/run.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/deadline.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
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
  // What the command line names, and is not to be chosen for --message.
  bool message_given = false;
  bool algorithm_given = false;
  bool segment_given = false;
};

// What one value of --max-trees and one of --max-depth or --max-latency came to.
struct Attempt {
  std::size_t max_trees;  // 0: none was given
  std::size_t max_depth;  // 0: none was given
  std::optional<Seconds> max_latency;
  Run run;
  planner::Plan plan;
  std::optional<Seconds> makespan;
  Bytes message;                             // that of the makespan
  std::optional<simulate::Choice> choice{};  // where the plan was chosen for the message
  std::optional<BytesPerSecond> compute{};   // what was counted then
};

std::size_t parse_limit(std::string_view option, std::string_view text) {
  std::size_t limit = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (fault != std::errc{} || end != text.data() + text.size() || limit > UINT32_MAX) {
    throw InputError({}, std::string(option), fmt::format("'{}' is no whole number", text));
  }
  if (limit == 0) {
    const std::string_view what = option == "--max-trees" ? "tree" : "edge of depth";
    throw InputError({}, std::string(option), fmt::format("a plan needs at least one {}", what));
  }
  return limit;
}

// What `parse` makes of each part of "1,2,4": ascending, each once; {none} when the option was not
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

// The limits to plan within, one plan for each combination.
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
                     fmt::format("'{}' keeps to no {}; 'optimal' does", algorithm.name, what));
  }
  if (!options.max_depth.empty() && !options.max_latency.empty()) {
    throw InputError({}, "--max-latency", "goes with no --max-depth: one of them is enough");
  }
  return limits;
}

std::string summary_table(const std::vector<Attempt>& attempts) {
  const bool several = attempts.size() > 1;
  std::vector<Table::Column> columns{{"trees"}, {"throughput"}, {"bound"},    {"relative"}, {"gap"},
                                     {"depth"}, {"degree"},     {"makespan"}, {"seconds"}};
  if (attempts.front().plan.schedule) {
    columns.insert(columns.end() - 1, {{"period"}, {"steps"}, {"scheduled"}});
  }
  const bool with_depths = several && attempts.back().max_depth > 0;
  const bool with_counts = several && attempts.back().max_trees > 0;
  if (with_depths) columns.insert(columns.begin(), Table::Column{"max-depth"});
  const bool with_latencies = several && attempts.back().max_latency;
  if (with_latencies) columns.insert(columns.begin(), Table::Column{"max-latency"});
  if (with_counts) columns.insert(columns.begin(), Table::Column{"max-trees"});
  Table table(columns);
  for (const Attempt& attempt : attempts) {
    const auto& bound = attempt.run.outcome.bound;
    const double gap = gap_of(attempt.run.throughput, bound);
    const TreeFigures figures = figures_of(attempt.plan);
    std::vector<std::string> cells{std::to_string(planner::tree_count(attempt.plan)),
                                   format_rate(attempt.run.throughput),
                                   bound ? format_rate(*bound) : "not computed",
                                   fixed(1 - gap, 4),
                                   bound ? fmt::format("{:.1e}", gap) : "-",
                                   std::to_string(figures.depth),
                                   std::to_string(figures.out_degree),
                                   attempt.makespan ? format_duration(*attempt.makespan) : "-",
                                   fixed(attempt.run.seconds, 3)};
    if (const auto& schedule = attempt.plan.schedule) {
      cells.insert(cells.end() - 1, {format_duration(schedule->period),
                                     std::to_string(planner::step_count(*schedule)),
                                     format_rate(schedule->throughput)});
    }
    if (with_depths) cells.insert(cells.begin(), std::to_string(attempt.max_depth));
    if (with_latencies) cells.insert(cells.begin(), format_duration(*attempt.max_latency));
    if (with_counts) cells.insert(cells.begin(), std::to_string(attempt.max_trees));
    table.add_row(std::move(cells));
  }
  const Attempt& last = attempts.back();
  return table.text() +
         (last.choice ? choice_text(*last.choice, last.message, last.compute) : std::string());
}

Json summary_json(const std::vector<Attempt>& attempts) {
  const planner::Plan& plan = attempts.back().plan;
  Json rows = Json::array();
  for (const Attempt& attempt : attempts) {
    const auto& bound = attempt.run.outcome.bound;
    const TreeFigures figures = figures_of(attempt.plan);
    Json row{{"max_trees", attempt.max_trees},
             {"trees", planner::tree_count(attempt.plan)},
             {"throughput_Bps", attempt.run.throughput.value},
             {"bound_Bps", bound ? Json(bound->value) : Json()},
             {"gap", gap_of(attempt.run.throughput, bound)},
             {"depth", figures.depth},
             {"out_degree", figures.out_degree},
             {"makespan_s", attempt.makespan ? Json(attempt.makespan->value) : Json()},
             {"seconds", attempt.run.seconds}};
    if (const auto& alone = attempt.run.outcome.single_tree_bound) {
      row["single_tree_bound_Bps"] = alone->value;
    }
    if (const auto& schedule = attempt.plan.schedule) {
      row["period_s"] = schedule->period.value;
      row["steps"] = planner::step_count(*schedule);
      row["scheduled_Bps"] = schedule->throughput.value;
    }
    if (attempt.max_trees == 0) row["max_trees"] = nullptr;
    if (attempt.max_depth > 0) row["max_depth"] = attempt.max_depth;
    if (attempt.max_latency) row["max_latency_s"] = attempt.max_latency->value;
    rows.push_back(std::move(row));
  }
  Json json{{"operation", planner::name_of(plan.operation)},
            {"platform", plan.platform},
            {"source", plan.source},
            {"model", plan.model},
            {"algorithm", plan.algorithm},
            {"rows", std::move(rows)}};
  const Attempt& last = attempts.back();
  if (last.choice) json["choice"] = choice_json(*last.choice, last.message, last.compute);
  return json;
}

// The plan takes standard output when it goes there, and the summary makes way.
void report(const PlanOptions& options, const std::vector<Attempt>& attempts) {
  const std::string summary =
      options.json ? json_text(summary_json(attempts)) : summary_table(attempts);
  write_text(options.output, planner::to_json(attempts.back().plan));
  if (options.output == "-") {
    options.console.block(summary);
  } else {
    write_text("-", summary);
  }
}

// What makes of the plan a schedule, or refuses to: the refusal then names the option.
template <typename Make>
auto with_schedule_refusals(Make make) {
  try {
    return make();
  } catch (const InputError& fault) {
    throw InputError({}, "--schedule", fault.what());
  }
}

Attempt attempt(const PlanOptions& options, const planner::Algorithm& algorithm,
                const planner::Collective& collective, const planner::AlgorithmOptions& limits) {
  Run run = run_timed(algorithm, collective, limits, options.console);
  planner::Plan plan =
      planner::make_plan(collective, algorithm.name, run.outcome, collective.options().segment);
  if (options.schedule) {
    plan.schedule = with_schedule_refusals(
        [&] { return planner::make_schedule(*collective.broadcast(), plan, options.scheduling); });
  }
  const auto makespan = makespan_of(run, collective, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run),
          std::move(plan),  makespan,         limits.message};
}

// What --message and others do not go with.
void check_choice(const PlanOptions& options, planner::Operation operation, const Limits& limits) {
  if (!options.message_given) {
    for (const auto& [option, text] :
         {std::pair("--overhead", &options.overhead), std::pair("--compute", &options.compute)}) {
      if (text->empty()) continue;
      throw InputError({}, option, "counts where a plan is chosen for a --message");
    }
    return;
  }
  if (!options.overhead.empty()) (void)parse_overhead(options.overhead);
  if (!options.compute.empty()) {
    if (!planner::reduces(operation)) {
      throw InputError({}, "--compute", "counts for a reduce or an allreduce, not for a broadcast");
    }
    (void)parse_compute(options.compute);
  }
  if (options.schedule) {
    throw InputError({}, "--schedule", "goes with no --message: give the segment that it is for");
  }
  for (const auto& [option, count] : {std::pair("--max-trees", limits.tree_counts.size()),
                                      std::pair("--max-depth", limits.depths.size()),
                                      std::pair("--max-latency", limits.latencies.size())}) {
    if (count > 1) throw InputError({}, option, "only one limit goes with --message");
  }
}

// The plan for the message: what the command line leaves open is chosen.
Attempt attempt_for_message(const PlanOptions& options, const planner::Algorithm& algorithm,
                            const planner::Collective& collective,
                            const planner::AlgorithmOptions& limits) {
  const planner::Deadline clock(std::nullopt);
  simulate::ChoiceOptions how;
  if (options.algorithm_given) how.algorithms = {algorithm};
  if (options.segment_given) how.segment = collective.options().segment;
  if (!options.overhead.empty()) how.overhead = parse_overhead(options.overhead);
  if (!options.compute.empty()) how.compute = parse_compute(options.compute);
  how.limits = limits;
  simulate::Choice choice = choose_for(collective, limits.message, how, options.console);
  Run run{choice.outcome, choice.plan.throughput, clock.elapsed().value};
  planner::Plan plan = choice.plan;
  const auto makespan = makespan_of(run, collective, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run), std::move(plan),
          makespan,         limits.message,   std::move(choice),  how.compute};
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
                     fmt::format("only a broadcast has one, no {}", planner::name_of(operation)));
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
  std::vector<Attempt> attempts;
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
      root.add_command("plan", "Make a plan: the trees to broadcast, reduce or allreduce along");
  options->problem.add_to(app);
  app.add("--algorithm", options->algorithm, "How trees are made, " + algorithm_choices(),
          {.type = "NAME"});
  options->parameters.add_to(app);
  app.add("--max-trees", options->max_trees,
          "At most K trees; of several, 1,2,4, a table tells what each costs and the last is kept",
          {.type = "K[,K…]"});
  app.add(
      "--max-depth", options->max_depth,
      "At most D edges from the source to any host: less time until all have the first segment; of "
      "several, a table as for --max-trees",
      {.type = "D[,D…]"});
  app.add("--max-latency", options->max_latency,
          "The same in time: the latencies of the links from the source to any host add up to at "
          "most T; of several, a table",
          {.type = "T[,T…]"});
  app.add_flag("--schedule", options->schedule,
               "Say when each send happens, in a period that repeats (one-port, direct links)");
  app.add("--schedule-loss", options->scheduling.loss,
          "The most throughput that whole segments a period may cost, relative", {.type = "SHARE"});
  app.add(
      "--overhead", options->overhead,
      "With --message: what a segment costs by itself on links that name none; else 10 us where "
      "no link names any",
      {.type = "TIME"});
  app.add("--compute", options->compute,
          "With --message, of a reduce or allreduce: how fast a host combines, \"4 GB/s\"; at once "
          "when left out",
          {.type = "RATE"});
  app.add("-o,--output", options->output, "Where the plan goes; '-' is standard output",
          {.type = "FILE"});
  app.add_flag("--json", options->json, "The summary as JSON");
  add_console_options(app, options->console);
  app.add_footer(
      "The summary goes to stdout when the plan goes to a file, to stderr otherwise. When the\n"
      "time limit comes before the proof is done, the plan is written all the same, a warning\n"
      "tells the gap that is left, and the exit status is 4.\n"
      "With --message the segment, and without --algorithm the trees, are those in which the last\n"
      "host has that message (or what is made of it) first, in simulation; --segment, "
      "--max-trees,\n"
      "--max-depth and --max-latency hold.");
  return {app, [options, app] {
            options->message_given = app.given("--message");
            options->algorithm_given = app.given("--algorithm");
            options->segment_given = app.given("--segment");
            return run_plan(*options);
          }};
}

}  // namespace espalier::cli
