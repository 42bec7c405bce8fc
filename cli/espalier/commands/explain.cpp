// espalier explain: the bottlenecks of the optimum, what upgrading them would gain, which source is
// best, and where a plan loses.
#include "planner/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/common/interrupt.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/explanation.hpp"
#include "cli/espalier/reports/plan_loss_report.hpp"
#include "cli/espalier/reports/source_ranking.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

using platforms::NodeId;
using platforms::Platform;

struct ExplainCommand {
  Console console{};
  PlatformOptions reading{};
  ModelOptions model{};
  planner::AlgorithmOptions limits{};
  std::optional<planner::Operation> operation{};
  planner::Operation explained = planner::Operation::kBroadcast;  // `operation`, or its default
  SharesOption shares{};
  ReceiversOption receivers{};
  std::string platform{};
  std::vector<std::string> sources{};
  std::string plan{};
  std::size_t top = planner::ExplainOptions{}.top;
  bool json = false;

  void add_to(Arguments& app);
  void check_sources();
  [[nodiscard]] ExitStatus run() const;
};

// The problem of one or several sources: from the command line, or from the plan.
struct Subject {
  planner::Operation operation;
  const Platform& platform;
  std::vector<NodeId> sources;
  platforms::Model model;
  platforms::OccupationOptions occupation;
};

ExitStatus warn_of_limit(const ExplainCommand& options, std::string_view what) {
  options.console.warn(fmt::format("explain: {}", what));
  return ExitStatus::kLimitReached;
}

ExitStatus rank(const ExplainCommand& options, const Subject& subject) {
  const Stopwatch watch;
  planner::AlgorithmOptions limits = options.limits;
  const std::size_t count = subject.sources.size();
  std::vector<planner::RankedSource> ranking;
  {
    ProgressLine line(options.console, "explain");
    limits.deadline = line.follow(limits.deadline);
    ranking =
        planner::rank_sources(subject.operation, subject.platform, subject.sources, subject.model,
                              subject.occupation, limits, [&](Seconds elapsed, std::size_t done) {
                                line.show(elapsed, fmt::format("{} of {} sources", done, count));
                              });
  }
  Report report = ranking_report(subject.platform, subject.model, subject.operation, ranking);
  report.write("seconds", watch.elapsed().value);
  write_text("-", report.render(options.json));
  const auto any = [&](auto is) { return std::any_of(ranking.begin(), ranking.end(), is); };
  const auto is_cut = [](const planner::RankedSource& ranked) {
    return ranked.termination != planner::Termination::kDone;
  };
  if (any([&](const auto& ranked) { return !ranked.error.empty() && !is_cut(ranked); })) {
    return ExitStatus::kInfeasible;
  }
  if (any([&](const auto& ranked) { return !ranked.error.empty(); })) {
    return warn_of_limit(
        options, fmt::format("{} before every source was examined", end_of_time(interrupted())));
  }
  if (any(is_cut)) return warn_of_limit(options, "the gaps of some sources were not closed");
  return ExitStatus::kDone;
}

ExitStatus judge_explanation(const ExplainCommand& options,
                             const planner::Explanation& explanation) {
  const Run base{explanation.optimum, explanation.reached};
  const ExitStatus status = judge(base, "explain", options.console);
  if (status != ExitStatus::kDone || explanation.termination == planner::Termination::kDone) {
    return status;
  }
  return warn_of_limit(
      options, explanation.termination == planner::Termination::kTimeLimit
                   ? fmt::format("{} before every upgrade was solved", end_of_time(interrupted()))
                   : "the solver left a gap open for some upgrades");
}

// Of a problem of any operation. loaded: to show where this plan loses; null: none.
template <class Problem>
ExitStatus print_explanation(const ExplainCommand& options, const Problem& problem,
                             const LoadedPlan* loaded = nullptr) {
  const Stopwatch watch;
  const planner::Explanation explanation =
      explain_timed(problem, options.top, options.limits, options.console);
  Report report = explanation_report(problem, explanation);
  if (loaded != nullptr && explanation.optimum.bound) {
    add_plan_loss(
        report, *loaded,
        planner::loss_of(loaded->plan, loaded->report.loads, problem, explanation.optimum),
        options.top);
  }
  report.write("seconds", watch.elapsed().value);
  write_text("-", report.render(options.json));
  return judge_explanation(options, explanation);
}

// The plan names its problem. Options may repeat it but must not differ.
void require_agreement(const ExplainCommand& options, const Platform& platform,
                       const planner::Plan& plan) {
  const auto refuse = [](const char* option, const std::string& what) {
    throw InputError({}, option, fmt::format("the plan{}; leave this option out", what));
  };
  if (options.operation && options.operation != plan.operation) {
    refuse("--operation", fmt::format("'s operation is '{}'", planner::name_of(plan.operation)));
  }
  const bool is_free = is_any_root(options.sources);
  if (plan.source.empty() && !options.sources.empty() && !is_free) {
    refuse("--source", " has no single source");
  }
  if (!plan.source.empty() && !options.sources.empty() &&
      sources_of(platform, options.sources) !=
          std::vector<NodeId>{planner::source_named(platform, plan.source)}) {
    refuse("--source", fmt::format("'s source is {}", in_quotes(plan.source)));
  }
  if (!options.shares.file.empty()) refuse("--counts", " names the shares");
  if (!options.receivers.to.empty()) refuse("--to", " names the receivers");
  const ModelOptions& given = options.model;
  if (given.given_model && given.given_model != platforms::parse_model(plan.model)) {
    refuse("--model", fmt::format("'s model is '{}'", plan.model));
  }
  if (given.given_segment && given.given_segment != plan.segment) {
    refuse("--segment", fmt::format("'s segments are of {}", format_size(plan.segment)));
  }
  if (given.latency_occupies && given.latency_occupies != plan.latency_occupies) {
    refuse("--latency", plan.latency_occupies ? " has 'occupies'" : " has 'delays'");
  }
}

ExitStatus explain_plan(const ExplainCommand& options) {
  require_one_stdin("explain", options.plan, options.platform);
  LoadedPlan loaded{display_name(options.plan)};
  loaded.plan = planner::parse_plan(read_text(options.plan), loaded.file, planner::Roots::kAny);
  const planner::Plan& plan = loaded.plan;
  if (planner::has_no_data(plan.operation)) {
    throw InputError(loaded.file, "/operation",
                     "a barrier has a time, not a throughput to explain; use 'bound'");
  }
  const Platform platform =
      planner::platform_of(plan, options.reading.read(options.platform, options.console));
  loaded.report = planner::verify(plan, platform, {.prove = false});
  if (print_faults(loaded.report, loaded.file)) return ExitStatus::kCheckFailed;
  require_agreement(options, platform, plan);
  const std::optional<platforms::NodeId> root = planner::root_of(plan, platform);
  return planner::on_problem(plan.operation, platform, root, platforms::parse_model(plan.model),
                             {.segment = plan.segment, .latency_occupies = plan.latency_occupies},
                             planner::receipts_of(plan, platform), [&](const auto& problem) {
                               return print_explanation(options, problem, &loaded);
                             });
}

ExitStatus ExplainCommand::run() const {
  if (!plan.empty()) return explain_plan(*this);
  const Platform read = reading.read(platform, console);
  const bool is_free =
      explained == planner::Operation::kAllreduce && (sources.empty() || is_any_root(sources));
  std::vector<NodeId> roots;
  if (!is_free && !sources.empty()) roots = sources_of(read, sources);
  if (roots.size() > 1 && planner::has_parts(explained)) {
    throw InputError(
        {}, "--source",
        fmt::format("several are not ranked for {}; give one", planner::with_article(explained)));
  }
  if (roots.size() > 1 && !receivers.to.empty()) {
    throw InputError({}, "--to", "cannot be combined with several sources; give one");
  }
  if (roots.size() > 1) {
    return rank(*this, {explained, read, std::move(roots), model.model(), model.occupation()});
  }
  std::optional<NodeId> root;
  if (!roots.empty()) root = roots.front();
  return receivers.on_problem(
      explained, read, root, model.model(), model.occupation(), shares.read(read, explained),
      [&](const auto& problem) { return print_explanation(*this, problem); });
}

void ExplainCommand::check_sources() {
  explained = operation.value_or(explained);
  if (!plan.empty()) return;
  if (planner::needs_root(explained) && sources.empty()) {
    throw InputError("explain: --source is required");
  }
  refuse_source_without_root(explained, !sources.empty());
}

void ExplainCommand::add_to(Arguments& app) {
  add_file(app, "platform", platform);
  add_operation(app, operation);
  app.add(
      "--source,--root", sources,
      "The node that has the data, or that gets it. Several (option repeated, or names separated "
      "by commas) or 'each' are ranked, for a broadcast, a reduce or an allreduce. An allreduce "
      "may have 'any' roots, as many as are best, which is the default. With --plan: the plan's",
      {.type = "NAME"});
  app.add("--plan", plan,
          "Show where this plan loses against the optimum; operation, source, model, segment and "
          "latency "
          "are the plan's; '-' is standard input",
          {.type = "PLAN"});
  app.check([this] { check_sources(); });
  shares.add_to(app, explained);
  receivers.add_to(app, explained);
  model.add_to(app);
  add_limits(app, limits);
  app.add("--top", top, "How many resources, links and sets to examine, each");
  app.add("--json", json, "JSON instead of text");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "price: share of the bound; 1 % more of the resource raises the bound by about price x 1 %.\n"
      "load: share of the time that it is busy. copies: bytes that it carries per byte of the\n"
      "message. Each upgrade is solved again with the raised figures, not extrapolated from "
      "prices;\n"
      "--time-limit covers all upgrades together. Exit status 4: limit reached; 3: a host cannot "
      "be\n"
      "reached; 5: the plan is invalid.");
}

}  // namespace

void add_explain(Arguments root) {
  root.add_command<ExplainCommand>(
      "explain", "Bottlenecks, what upgrades would gain, the best source, where a plan loses");
}

}  // namespace espalier::cli
