// espalier plan: makes a plan and reports how far it is from the optimum.
#include "planner/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/espalier/ascending_lists.hpp"
#include "cli/espalier/barrier.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/commands/plan_command.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/plan_choice.hpp"
#include "cli/espalier/reports/plan_summary.hpp"
#include "cli/espalier/run.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/schedule/makespan.hpp"
#include "support/deadline.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/on_threads.hpp"

namespace espalier::cli {

namespace {

// The options of each combination of the lists.
std::vector<planner::AlgorithmOptions> combinations(const PlanCommand& options) {
  planner::AlgorithmOptions limits = options.problem.limits;
  limits.message = options.message.value_or(limits.message);
  std::vector<planner::AlgorithmOptions> each;
  for (const std::size_t count : options.tree_counts) {
    for (const std::size_t depth : options.depths) {
      for (const std::optional<Seconds>& latency : options.latencies) {
        limits.max_trees = count;
        limits.max_depth = static_cast<std::uint32_t>(depth);
        limits.max_latency = latency;
        each.push_back(limits);
      }
    }
  }
  return each;
}

// The summary goes to standard output, or to stderr when the plan goes to standard output.
void report(const PlanCommand& options, const std::vector<PlanAttempt>& attempts) {
  write_text(options.output, planner::to_json(attempts.back().plan));
  print_beside(plan_summary(attempts).render(options.json), options.output, options.console);
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
  return at_place({}, "--schedule", [&] { return with_name("--schedule", make); });
}

template <class Problem>
PlanAttempt attempt(const PlanCommand& options, const planner::Algorithm& algorithm,
                    const Problem& problem, const planner::AlgorithmOptions& limits) {
  planner::ScheduleOptions scheduling = options.scheduling;
  scheduling.deadline = limits.deadline.restarted();
  Run run = with_name(algorithm.name,
                      [&] { return run_timed(algorithm, problem, limits, options.console); });
  planner::Plan plan =
      planner::make_plan(problem, algorithm.name, run.outcome, problem.options().segment);
  if constexpr (std::is_same_v<Problem, planner::Collective>) {  // others are refused --schedule
    if (options.schedule) {
      plan.schedule =
          with_schedule_refusals([&] { return planner::make_schedule(problem, plan, scheduling); });
    }
  }
  const auto makespan = planner::makespan_of(run.outcome, problem, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run),
          std::move(plan),  makespan,         limits.message};
}

// The plan for the message: chooses what the command line leaves open.
template <class Problem>
PlanAttempt attempt_for_message(const PlanCommand& options, const planner::Algorithm& algorithm,
                                const Problem& problem, const planner::AlgorithmOptions& limits) {
  const Stopwatch watch;
  simulate::ChoiceOptions how;
  if (options.algorithm) how.algorithms = {algorithm};
  how.run.segment = options.problem.model.given_segment;
  how.overhead = options.overhead;
  how.run.compute = options.compute;
  how.jobs = threads_for(options.jobs);
  how.limits = limits;
  simulate::Choice choice = choose_for(problem, limits.message, how, options.console);
  Run run{choice.outcome, choice.plan.throughput, watch.elapsed().value};
  planner::Plan plan = choice.plan;
  const auto makespan = planner::makespan_of(run.outcome, problem, limits.message);
  return {limits.max_trees, limits.max_depth, limits.max_latency, std::move(run), std::move(plan),
          makespan,         limits.message,   std::move(choice),  how.run.compute};
}

}  // namespace

template <class Problem>
ExitStatus PlanCommand::plan_each(const planner::Algorithm& named, const Problem& one) const {
  std::vector<PlanAttempt> attempts;
  bool is_complete = true;
  for (const planner::AlgorithmOptions& limits : combinations(*this)) {
    if (message) {
      attempts.push_back(attempt_for_message(*this, named, one, limits));
      is_complete = is_complete && attempts.back().choice->complete;
    } else {
      attempts.push_back(attempt(*this, named, one, limits));
      const ExitStatus judged = judge(attempts.back().run, named.name, console);
      is_complete = is_complete && judged == ExitStatus::kDone;
    }
  }
  report(*this, attempts);
  return is_complete ? ExitStatus::kDone : ExitStatus::kLimitReached;
}

ExitStatus PlanCommand::plan_for_money(const planner::Algorithm& named,
                                       const platforms::Platform& platform) const {
  if (budget) budget->require_currency(platform);
  std::optional<double> least_per_GB;
  const planner::MoneyProblem priced = money_problem(problem, platform);
  const auto solve = [&](const planner::AlgorithmOptions& limits) {
    const planner::MoneyOptions how{limits};
    if (budget) return planner::within_budget(priced, budget->per_GB, how).outcome;
    const double bytes = static_cast<double>(message->value);
    planner::CheapestPlan cheapest =
        planner::cheapest_at(priced, BytesPerSecond{bytes / deadline->value}, how);
    least_per_GB = cheapest.least_per_GB;
    return std::move(cheapest.outcome);
  };
  Run run =
      with_name(named.name, [&] { return run_timed(solve, named.name, problem.limits, console); });
  planner::Plan plan = problem.on(platform, [&](const auto& one) {
    return planner::make_plan(one, named.name, run.outcome, one.options().segment);
  });
  if (budget) plan.cost->budget_per_GB = budget->per_GB;
  const ExitStatus status = judge(run, named.name, console);
  PlanAttempt attempt{0,
                      0,
                      std::nullopt,
                      std::move(run),
                      std::move(plan),
                      std::nullopt,
                      message.value_or(Bytes{0})};
  attempt.least_per_GB = least_per_GB;
  report(*this, {std::move(attempt)});
  return status;
}

ExitStatus PlanCommand::plan_barrier(const platforms::Platform& platform) const {
  const BarrierProblem barrier{platform, problem.root_on(platform), problem.model, overhead};
  std::vector<planner::Algorithm> named;
  if (algorithm) named.push_back(planner::find_algorithm(*algorithm, problem.operation));
  const simulate::Choice choice = choose_for(barrier, named, problem.limits, console);
  write_text(output, planner::to_json(choice.plan));
  print_beside(barrier_summary(barrier, choice).render(json), output, console);
  return choice.complete ? ExitStatus::kDone : ExitStatus::kLimitReached;
}

ExitStatus PlanCommand::run() const {
  require_writable(output);
  if (problem.operation == planner::Operation::kBarrier) {
    return plan_barrier(problem.read(console));
  }
  const planner::Algorithm named = chosen();
  const platforms::Platform platform = problem.read(console);
  if (budget || deadline) return plan_for_money(named, platform);
  if (!problem.receivers.on(platform).empty()) check_blocks(true);
  if (schedule) {
    with_schedule_refusals([&] { planner::require_schedulable(platform, problem.model.model()); });
  }
  return problem.on(platform, [&](const auto& one) { return plan_each(named, one); });
}

void PlanCommand::add_to(Arguments& app) {
  problem.add_to(app);
  app.add("--algorithm", algorithm, "Algorithm that builds the trees, " + algorithm_choices(),
          {.type = "NAME", .shown = std::string(planner::kOptimal)});
  add_algorithm_parameters(
      app, problem.limits.chains, message,
      "Choose the plan that is fastest for this size; the makespan is of this size, unsegmented, "
      "and fnf and ecef plan for it");
  add_guide(app, problem.limits);
  app.add("--max-trees", tree_counts, counts_reader("one tree"),
          "At most K trees, of each root where there are several. For several K (1,2,4) a table "
          "shows the cost of each; the last plan is kept",
          {.type = "K[,K…]", .shown = ""});
  app.add("--max-depth", depths, counts_reader("a depth of one edge"),
          "At most D edges from the source to any host, so that the first segment arrives earlier; "
          "several D as for --max-trees",
          {.type = "D[,D…]", .shown = ""});
  app.add("--max-latency", latencies, read_spans,
          "At most T for the sum of the links' latencies from the source to any host; several T as "
          "for --max-trees",
          {.type = "T[,T…]", .shown = ""});
  add_budget(app, budget);
  app.add("--deadline", deadline, read_positive_duration,
          "With --message: the cheapest plan whose throughput carries the message in this time",
          {.shown = ""});
  app.add("--schedule", schedule,
          "Add a periodic schedule: the time of each send (one-port, direct links)");
  app.add("--schedule-loss", scheduling.loss,
          "Maximum relative throughput lost by sending whole segments in each period",
          {.type = "SHARE"});
  app.add(
      "--overhead", overhead, read_span,
      "With --message: overhead per segment on links without one; default: 10 us if no link of the "
      "platform has one");
  app.add("--compute", compute, read_positive_rate,
          "With --message, for a reduce or allreduce: how fast a host combines data, \"4 GB/s\"; "
          "default: instantly");
  app.add("--jobs", jobs,
          "With --message: plans to choose from that are made in parallel; 0: one per core");
  app.add("-o,--output", output, "Write the plan to this file; '-' is standard output",
          {.type = "FILE"});
  app.add("--json", json, "The summary as JSON");
  add_console_options(app, console);
  app.add_footer(
      "The summary goes to stdout when the plan goes to a file, otherwise to stderr. If the time\n"
      "limit cuts the proof or a search short, the plan is still written, a warning names the "
      "first\n"
      "unfinished stage and the remaining gap, and the exit status is 4.\n"
      "With --message the segment size and (without --algorithm) the trees are chosen by "
      "simulation\n"
      "so that the operation on a message of that size finishes first. --segment, --max-trees,\n"
      "--max-depth and --max-latency still apply.");
}

void add_plan(Arguments root) {
  root.add_command<PlanCommand>("plan",
                                "Make a plan: the trees of a broadcast or another operation");
}

}  // namespace espalier::cli
