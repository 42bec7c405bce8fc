// espalier compare: every algorithm's throughput against the optimum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/barrier.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/comparison.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/solve/budget.hpp"
#include "simulate/simulate.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

struct CompareCommand {
  Console console{};
  PlatformOptions reading{};
  planner::Operation operation = planner::Operation::kBroadcast;
  ModelOptions model{};
  planner::AlgorithmOptions limits{};
  std::optional<Bytes> message{};
  std::vector<std::string> platforms{};
  std::vector<std::string> sources{};
  SharesOption shares{};
  ReceiversOption receivers{};
  std::string algorithms = "all";
  bool frontier = false;
  std::string chart{};  // file; empty: none
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;

 private:
  [[nodiscard]] ExitStatus run_barrier() const;
  // Of each instance; one without a root has several.
  [[nodiscard]] std::vector<std::optional<platforms::NodeId>> roots_on(
      const platforms::Platform& platform) const;
};

// What all instances of one call share.
struct Context {
  planner::Operation operation;
  std::vector<planner::Algorithm> algorithms;  // in the registry's order
  bool all;  // were requested: those that are not for a platform are left out
  platforms::Model model;
  platforms::OccupationOptions occupation;
  planner::AlgorithmOptions limits;
  const Console& console;
  const ReceiversOption& receivers;
  std::optional<Bytes> message;  // whose time is simulated along each plan
  // For algorithms of exponential time, when 'all' were requested.
  std::optional<Seconds> proof_limit{};
  bool frontier = false;
  bool several = false;  // then an instance without a solution is reported in its entry
  ExitStatus status = ExitStatus::kDone;
};

// Limit of each proof in a comparison of all algorithms, unless --time-limit is given.
constexpr Seconds kProofLimit{0.5};

void note_status(Context& context, ExitStatus status) {
  if (context.status == ExitStatus::kDone) context.status = status;
}

void take_bound(const Run& run, Comparison& comparison) {
  const std::optional<BytesPerSecond>& bound = run.outcome.bound;
  if (!bound) return;
  comparison.bound_final = comparison.bound_final || run.outcome.ends.is_bound_final();
  if (!(comparison.bound_Bps <= bound->value)) comparison.bound_Bps = bound->value;
}

// Simulated, in the plan's segments, which are sent as soon as possible; kNoFigure where that would
// take long.
double time_of(Bytes message, const planner::Plan& plan, const platforms::Platform& platform) {
  constexpr double kMostSends = 2e7;  // some ten seconds
  const platforms::Platform network = planner::platform_of(plan, platform);
  const simulate::Simulator simulator(plan, network);
  return simulator.sends_of(message) <= kMostSends ? simulator.run(message).makespan.value
                                                   : kNoFigure;
}

// Runs one algorithm. A limit that leaves no result is reported in the row.
// Problem: any of planner/problem/any_problem.hpp.
template <class Problem>
ComparisonRow row_of(const planner::Algorithm& algorithm, const Problem& problem, Context& context,
                     Comparison& comparison) {
  ComparisonRow row{.algorithm = algorithm.name};
  try {
    const bool cut_short = context.proof_limit && algorithm.entry->exponential;
    planner::AlgorithmOptions limits = context.limits;
    if (cut_short) limits.deadline = Deadline(context.proof_limit);
    const Run run = run_timed(algorithm, problem, limits, context.console);
    const ExitStatus status = judge(run, algorithm.name, context.console);
    if (!cut_short) note_status(context, status);
    const planner::Plan plan =
        planner::make_plan(problem, algorithm.name, run.outcome, context.occupation.segment);
    row.figures = experiments::row_of(plan, {run.seconds});
    row.cost = plan.cost;
    if (context.message) row.time_s = time_of(*context.message, plan, problem.platform());
    if (const auto makespan = makespan_of(run, problem, context.limits.message)) {
      row.makespan_s = makespan->value;
    }
    take_bound(run, comparison);
  } catch (const LimitReached& fault) {
    note_status(context, fault.status());
    row.figures.error = fault.what();
  } catch (const InfeasibleError& fault) {  // the algorithm is not for this platform
    note_status(context, fault.status());
    row.figures.error = fault.what();
  }
  return row;
}

// Proves the bound, unless the rows already contain one from `optimal`.
template <class Problem>
void prove(const Problem& problem, Context& context, Comparison& comparison) {
  if (!std::isnan(comparison.bound_Bps)) return;
  try {
    const Run run = run_proof(problem, context.limits, context.console);
    note_status(context, judge(run, "bound", context.console));
    comparison.optimum_Bps = run.throughput.value;
    take_bound(run, comparison);
  } catch (const LimitReached& fault) {
    note_status(context, fault.status());
    context.console.warn(fault.what());
  }
}

template <class Problem>
void compare_on(const Problem& problem, Context& context, Comparison& comparison) {
  for (const planner::Algorithm& algorithm : context.algorithms) {
    if (context.all && !planner::is_for(algorithm, problem)) continue;
    comparison.rows.push_back(row_of(algorithm, problem, context, comparison));
  }
  prove(problem, context, comparison);
}

// Of the optimum, from the cheapest plan to the fastest.
void add_frontier(const platforms::Platform& platform, std::optional<platforms::NodeId> source,
                  const std::vector<double>& shares, Context& context, Comparison& comparison) {
  constexpr std::size_t kPoints = 8;
  const planner::MoneyProblem priced{
      context.operation, platform,           source,
      context.model,     context.occupation, {shares, context.receivers.on(platform)}};
  comparison.currency = platform.currency();
  planner::MoneyOptions how{{context.limits}, /*plan=*/false};
  how.deadline = how.deadline.restarted();
  for (const double budget : planner::frontier_budgets(priced, kPoints, how)) {
    const Run run = run_timed(
        [&](const planner::AlgorithmOptions& limits) {
          return planner::within_budget(priced, budget, {{limits}, /*plan=*/false}).outcome;
        },
        "frontier", context.limits, context.console);
    note_status(context, judge(run, "frontier", context.console));
    comparison.frontier.push_back({budget, planner::cost_of(run.outcome, platform)->per_GB,
                                   run.throughput, run.outcome.bound, tree_count(run)});
  }
}

// source: none where there are several roots. shares: where the message has parts.
Comparison compare_one(const platforms::Platform& platform, std::optional<platforms::NodeId> source,
                       const std::vector<double>& shares, Context& context) {
  Comparison comparison{.operation = context.operation,
                        .platform = platform.name(),
                        .source = source ? platform.node(*source).name : "",
                        .model = std::string(platforms::name_of(context.model)),
                        .message = context.message};
  try {
    context.receivers.on_problem(context.operation, platform, source, context.model,
                                 context.occupation, shares, [&](const auto& problem) {
                                   compare_on(problem, context, comparison);
                                   if (context.frontier) {
                                     add_frontier(problem.platform(), problem.root(), shares,
                                                  context, comparison);
                                   }
                                 });
  } catch (const InfeasibleError& fault) {
    if (!context.several) throw;
    note_status(context, fault.status());
    comparison.rows.clear();
    comparison.error = fault.what();
    return comparison;
  }
  for (ComparisonRow& row : comparison.rows) {
    const double throughput_Bps = row.figures.throughput_Bps;
    row.figures.relative = experiments::relative_to(comparison.bound_Bps, throughput_Bps);
    if (!(comparison.optimum_Bps >= throughput_Bps)) comparison.optimum_Bps = throughput_Bps;
  }
  return comparison;
}

std::vector<std::optional<platforms::NodeId>> CompareCommand::roots_on(
    const platforms::Platform& platform) const {
  const bool is_any = sources.empty() || sources == std::vector{std::string(kAnyRoot)};
  if (is_any && !planner::needs_root(operation)) return {std::nullopt};
  std::vector<std::optional<platforms::NodeId>> roots;
  for (const platforms::NodeId source : sources_of(platform, sources)) roots.emplace_back(source);
  return roots;
}

void CompareCommand::check() const {
  if (!chart.empty() && !frontier) throw InputError({}, "--chart", "needs --frontier");
}

ExitStatus CompareCommand::run_barrier() const {
  for (const auto& [option, given] :
       {std::pair("--csv", csv), std::pair("--frontier", frontier),
        std::pair("--message", message.has_value()), std::pair("--source", sources.size() > 1)}) {
    if (given) throw InputError({}, option, "cannot be combined with a barrier");
  }
  if (platforms.size() > 1) {
    throw InputError({}, "platforms", "barriers are compared on one platform at a time");
  }
  const platforms::Platform platform = reading.read(platforms.front(), console);
  const BarrierProblem problem{platform, roots_on(platform).front(), model};
  const simulate::Choice choice =
      choose_for(problem, planner::parse_algorithms(algorithms, operation), limits, console);
  write_text("-", barrier_comparison(problem, choice).render(json));
  return choice.complete ? ExitStatus::kDone : ExitStatus::kLimitReached;
}

ExitStatus CompareCommand::run() const {
  if (operation == planner::Operation::kBarrier) return run_barrier();
  if (!chart.empty()) require_writable(chart);
  refuse_source_without_root(operation, !sources.empty());
  Context context{.operation = operation,
                  .algorithms = planner::parse_algorithms(algorithms, operation),
                  .all = algorithms == "all",
                  .model = model.model(),
                  .occupation = model.occupation(),
                  .limits = limits,
                  .console = console,
                  .receivers = receivers,
                  .message = message,
                  .frontier = frontier};
  context.limits.message = message.value_or(limits.message);
  if (context.all && !limits.deadline.limit()) context.proof_limit = kProofLimit;
  std::sort(context.algorithms.begin(), context.algorithms.end());
  // Everything is read, and every source found, before the work starts.
  std::vector<platforms::Platform> read;
  std::vector<std::vector<double>> shares_on;
  std::vector<std::vector<std::optional<platforms::NodeId>>> nodes;
  std::size_t instances = 0;
  for (const std::string& file : platforms) {
    read.push_back(reading.read(file, console));
    nodes.push_back(roots_on(read.back()));
    shares_on.push_back(shares.read(read.back(), operation));
    instances += nodes.back().size();
  }
  context.several = instances > 1;
  if (frontier && context.several) {
    throw InputError({}, "--frontier", "is of one platform and one source; give one of each");
  }
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < read.size(); ++i) {
    for (const std::optional<platforms::NodeId> source : nodes[i]) {
      comparisons.push_back(compare_one(read[i], source, shares_on[i], context));
    }
  }
  if (!chart.empty()) write_text(chart, frontier_chart(comparisons.front()));
  write_text("-", csv ? comparison_csv(comparisons) : comparison_text(comparisons, json));
  return context.status;
}

void CompareCommand::add_to(Arguments& app) {
  app.add("platforms", platforms, "Platform files; '-' is standard input",
          {.type = "PLATFORM", .required = true});
  add_every_operation(app, operation);
  app.add(
      "--source,--root", sources,
      "The node that has the data, or to which it is reduced; repeatable, or separated by commas; "
      "'each': every host in turn; default: the first host, and of an allreduce 'any' roots",
      {.type = "NAME"});
  app.add("--algorithm", algorithms, "'all', or names separated by commas, " + algorithm_choices(),
          {.type = "A,B"});
  shares.add_to(app, operation);
  receivers.add_to(app, operation);
  add_algorithm_parameters(
      app, limits.chains, message,
      "Also the time of a message of this size along each plan, simulated in segments (--segment); "
      "the makespan is of this size, and fnf and ecef plan for it");
  model.add_to(app);
  add_guide(app, limits);
  add_limits(app, limits);
  app.add("--frontier", frontier,
          "Also the optimum within budgets from the price of the cheapest plan to that of the "
          "fastest. Needs prices on the platform");
  app.add("--chart", chart,
          "With --frontier: throughput against cost as SVG, with the algorithms as points",
          {.type = "FILE.svg"});
  app.add("--json", json, "JSON instead of tables");
  app.add("--csv", csv, "CSV, one row per instance and algorithm");
  app.exclude("--csv", "--json");
  app.exclude("--csv", "--frontier");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "'relative' is the throughput over the proven bound: at least this share of the optimum.\n"
      "Several platforms or sources are compared one by one, followed by a summary with mean and\n"
      "deviation. Exit status 3: an instance has no solution; 4: limit reached. With 'all' the\n"
      "proof of exact-tree gets half a second, unless --time-limit is given.");
}

}  // namespace

void add_compare(Arguments root) {
  root.add_command<CompareCommand>("compare", "Every algorithm's throughput against the optimum");
}

}  // namespace espalier::cli
