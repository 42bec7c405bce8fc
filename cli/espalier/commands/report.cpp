// espalier report: one page with the network, its bottlenecks, plans, algorithms and a trace.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/comparing.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/input_kind.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/comparison.hpp"
#include "cli/espalier/reports/page_facts.hpp"
#include "cli/espalier/reports/platform_report.hpp"
#include "cli/espalier/reports/trace_facts.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

using platforms::Platform;

struct ReportCommand {
  Console console{};
  PlatformOptions reading{};
  std::vector<std::string> files{};
  std::string platform{};
  std::string output{};
  std::optional<planner::Operation> operation{};
  planner::Operation reported = planner::Operation::kBroadcast;  // `operation`, or its default
  std::string source{};
  SharesOption shares{};
  ReceiversOption receivers{};
  ModelOptions model{};
  planner::AlgorithmOptions limits{};
  std::string algorithms = "all";
  std::size_t top = planner::ExplainOptions{}.top;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

struct Inputs {
  std::optional<platforms::ReadResult> network{};
  std::string network_file{};
  std::vector<LoadedPlan> plans{};
  std::optional<Json> trace{};
  std::string trace_file{};
};

void take_platform(const ReportCommand& options, platforms::ReadResult read,
                   const std::string& file, Inputs& inputs) {
  if (inputs.network) {
    throw InputError(display_name(file), {},
                     fmt::format("a page has one platform, and {} is one already",
                                 in_quotes(inputs.network_file)));
  }
  note_warnings(read.platform, options.console);
  inputs.network = std::move(read);
  inputs.network_file = file;
}

void take_file(const ReportCommand& options, const std::string& file, Inputs& inputs) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return take_platform(options, options.reading.read_all(file, options.console), file, inputs);
  }
  const std::string text = read_text(file);
  const std::string shown = display_name(file);
  Recognised input = recognised(text, shown);
  switch (input.kind) {
    case InputKind::kPlan:
      inputs.plans.push_back({shown, planner::parse_plan(text, shown, planner::Roots::kAny), {}});
      if (planner::has_no_data(inputs.plans.back().plan.operation)) {
        throw InputError(shown, {}, "is a plan for a barrier, which moves no data to be shown");
      }
      return;
    case InputKind::kTrace:
      if (inputs.trace) {
        throw InputError(shown, {},
                         fmt::format("a page plays one trace, and {} is one already",
                                     in_quotes(inputs.trace_file)));
      }
      inputs.trace = std::move(input.document);
      inputs.trace_file = shown;
      return;
    case InputKind::kPlatform:
      take_platform(options, options.reading.parse(text, shown, options.console), file, inputs);
  }
}

Inputs read_inputs(const ReportCommand& options) {
  Inputs inputs;
  std::vector<std::string> files = options.files;
  if (!options.platform.empty()) files.push_back(options.platform);
  if (std::ranges::count(files, "-") > 1) {
    throw InputError("report: only one of the files can be standard input");
  }
  for (const std::string& file : files) take_file(options, file, inputs);
  if (!inputs.plans.empty() && !inputs.network) {
    throw InputError(inputs.plans.front().file, {},
                     "this is a plan; add --platform FILE, the platform that it is for");
  }
  if (!options.platform.empty() && inputs.network_file != options.platform) {
    throw InputError(display_name(options.platform), {}, "--platform: this is not a platform");
  }
  return inputs;
}

// The plans name their problem.
void refuse_other_problem(const ReportCommand& options) {
  const ModelOptions& model = options.model;
  refuse_given({{"--operation", options.operation.has_value()},
                {"--source", !options.source.empty()},
                {"--to", !options.receivers.to.empty()},
                {"--counts", !options.shares.file.empty()},
                {"--model", model.given_model.has_value()},
                {"--segment", model.given_segment.has_value()},
                {"--latency", model.latency_occupies.has_value()}},
               "is the plan's; leave this option out");
}

// Whether all plans are valid; prints the faults otherwise. The network becomes the part of it that
// the plans are on.
bool check_plans(Inputs& inputs) {
  bool valid = true;
  if (inputs.plans.empty()) return valid;
  const Platform whole = inputs.network->platform;
  for (LoadedPlan& one : inputs.plans) {
    Platform part = planner::platform_of(one.plan, whole);
    one.report = planner::verify(one.plan, part, {.prove = false});
    if (print_faults(one.report, one.file)) valid = false;
    if (&one == &inputs.plans.front()) {
      inputs.network->platform = std::move(part);
    } else if (!std::ranges::equal(part.nodes(), inputs.network->platform.nodes(), {},
                                   &platforms::Node::name, &platforms::Node::name)) {
      throw InputError(one.file, {},
                       "is for other hosts than the first plan; make a page of its own");
    }
  }
  return valid;
}

// The source of the options; unset: there are several roots.
std::optional<platforms::NodeId> source_on(const ReportCommand& options, const Platform& platform) {
  if (options.source.empty() && !planner::needs_root(options.reported)) return std::nullopt;
  std::vector<std::string> sources;
  if (!options.source.empty()) sources.push_back(options.source);
  const std::vector<platforms::NodeId> roots = sources_of(platform, sources);
  if (roots.size() > 1) throw InputError({}, "--source", "a page has one source");
  return roots.front();
}

// The first plan's, or that of the options.
PageProblem problem_of(const ReportCommand& options, const Inputs& inputs) {
  const Platform& platform = inputs.network->platform;
  PageProblem problem{.operation = options.reported,
                      .model = options.model.model(),
                      .occupation = options.model.occupation(),
                      .limits = options.limits,
                      .top = options.top};
  if (inputs.plans.empty()) {
    problem.root = source_on(options, platform);
    problem.receipts = {options.shares.read(platform, options.reported),
                        options.receivers.on(platform)};
    return problem;
  }
  const planner::Plan& plan = inputs.plans.front().plan;
  problem.operation = plan.operation;
  problem.model = platforms::parse_model(plan.model);
  problem.occupation = {.segment = plan.segment, .latency_occupies = plan.latency_occupies};
  problem.root = planner::root_of(plan, platform);
  problem.receipts = planner::receipts_of(plan, platform);
  return problem;
}

// The page's own limits, of each step, where no other is given: what they cut short is shown so,
// and is no failure.
constexpr Seconds kExplanationLimit{20};
constexpr Seconds kAlgorithmLimit{2};

Deadline limit_or(const Deadline& given, Seconds otherwise) {
  return given.limit() ? given : Deadline(otherwise);
}

// The algorithms; then the frontier, if the platform has prices.
Comparison compared(const ReportCommand& options, const PageProblem& problem,
                    const Platform& platform, bool frontier) {
  Console silent = options.console;
  silent.quiet = !options.limits.deadline.limit() || options.console.quiet;
  ComparisonContext context{
      .operation = problem.operation,
      .algorithms = planner::parse_algorithms(options.algorithms, problem.operation),
      .all = options.algorithms == "all",
      .model = problem.model,
      .occupation = problem.occupation,
      .limits = problem.limits,
      .console = silent,
      .receivers = options.receivers,
      .message = std::nullopt,
      .proof_limit = kExponentialLimit,
      .frontier = frontier ? std::optional(Frontier::kCost) : std::nullopt};
  context.limits.deadline =
      limit_or(options.limits.deadline, frontier ? kExplanationLimit : kAlgorithmLimit);
  std::ranges::sort(context.algorithms);
  if (frontier) context.algorithms.clear();
  return compare_one(platform, problem.root, problem.receipts.shares, context);
}

// Without what differs from run to run.
Json timeless(Json comparison) {
  for (Json& row : comparison["rows"]) row.erase("seconds");
  return comparison;
}

void add_comparison(const ReportCommand& options, const PageProblem& problem,
                    const Platform& platform, Json& facts) {
  Comparison comparison = compared(options, problem, platform, /*frontier=*/false);
  facts["comparison"] = timeless(comparison_json(comparison));
  if (!platform.has_prices()) return;
  Comparison frontier = compared(options, problem, platform, /*frontier=*/true);
  comparison.frontier = std::move(frontier.frontier);
  comparison.currency = std::move(frontier.currency);
  facts["comparison"] = timeless(comparison_json(comparison));
  facts["frontier_svg"] = frontier_chart(comparison);
}

// Adds a part of the page, or the reason why there is none.
template <class Part>
ExitStatus add_part(const ReportCommand& options, Json& facts, const Part& part) {
  try {
    part();
    return ExitStatus::kDone;
  } catch (const InfeasibleError& fault) {
    facts["remarks"].push_back(fault.what());
    options.console.warn(fault.what());
    return fault.status();
  } catch (const LimitReached& fault) {
    facts["remarks"].push_back(fault.what());
    options.console.warn(fault.what());
    return fault.status();
  }
}

// Bottlenecks, algorithms and commands. A network on which the problem has no solution has none.
ExitStatus add_problem(const ReportCommand& options, const Inputs& inputs, Json& facts) {
  const Platform& platform = inputs.network->platform;
  PageProblem problem = problem_of(options, inputs);
  problem.limits.deadline = limit_or(options.limits.deadline, kExplanationLimit);
  facts["commands"] = command_facts(inputs.network_file, problem, platform, inputs.plans);
  const ExitStatus explained = add_part(options, facts, [&] {
    facts["problem"] = problem_facts(problem, platform, inputs.plans, options.console);
  });
  if (explained != ExitStatus::kDone) return explained;
  // Of a broadcast to some of the hosts the plan does not say which options made it.
  if (options.algorithms != "none" &&
      (inputs.plans.empty() || problem.receipts.receivers.empty())) {
    const ExitStatus done =
        add_part(options, facts, [&] { add_comparison(options, problem, platform, facts); });
    if (done != ExitStatus::kDone) return done;
  }
  const bool is_cut = facts["problem"]["report"]["bound_final"] != true;
  return is_cut && options.limits.deadline.limit() ? ExitStatus::kLimitReached : ExitStatus::kDone;
}

// The names of the ranks' nodes: a run's ranks are the plan's nodes, in their order.
std::vector<std::string> rank_names(const Inputs& inputs, bool has_network) {
  if (!inputs.plans.empty()) return inputs.plans.front().plan.nodes;
  if (!has_network) return ranks_of_trace(*inputs.trace);
  return platforms::names_of_hosts(inputs.network->platform);
}

ExitStatus ReportCommand::run() const {
  require_writable(output);
  Inputs inputs = read_inputs(*this);
  if (!inputs.plans.empty()) refuse_other_problem(*this);
  if (!check_plans(inputs)) return ExitStatus::kCheckFailed;
  const bool has_network = inputs.network.has_value();
  if (inputs.plans.empty() && !receivers.to.empty() && has_network) {
    const Platform& whole = inputs.network->platform;
    auto part =
        receivers.part_of(whole, source_on(*this, whole), model.model(), model.occupation());
    if (part) inputs.network->platform = std::move(*part);
  }
  if (!has_network) {
    inputs.network = {platform_of_trace(*inputs.trace, inputs.trace_file), {}, {}};
  }
  const Platform& network = inputs.network->platform;
  Json facts{{"title", network.name()}, {"version", ESPALIER_VERSION}};
  ExitStatus status = ExitStatus::kDone;
  render::PageContents contents;
  facts["remarks"] = Json::array();
  facts["plans"] = Json::array();
  for (const LoadedPlan& one : inputs.plans) {
    facts["plans"].push_back(plan_facts(one, network, contents));
  }
  facts["network"] = render::network_facts(network, contents.links);
  if (has_network) {
    facts["summary"] = platform_report(*inputs.network).json();
    status = add_problem(*this, inputs, facts);
  }
  if (inputs.trace) {
    facts["trace"] =
        trace_facts(*inputs.trace, inputs.trace_file, network, rank_names(inputs, has_network));
  }
  const std::string page = render::page(facts);
  write_text(output, page);
  print_beside(fmt::format("{}: {}\n", output, format_size(Bytes{page.size()})), output, console);
  return status;
}

void ReportCommand::add_to(Arguments& app) {
  app.add(
      "files", files,
      "One platform, any number of plans for it, and the trace of a simulation or a run; '-' is "
      "standard input",
      {.type = "PLATFORM|PLAN|TRACE", .required = true});
  app.add("-o,--output", output, "The page; '-' is standard output",
          {.type = "FILE.html", .required = true});
  app.add("--platform", platform, "The platform, if it is not among the files",
          {.type = "PLATFORM"});
  add_operation(app, operation);
  app.add("--source,--root", source,
          "Without a plan: the node that has the data, or that gets it; default: the first host",
          {.type = "NAME"});
  app.add("--algorithm", algorithms,
          "Compare 'all', 'none', or names separated by commas, " + algorithm_choices(),
          {.type = "A,B"});
  app.check([this] {
    reported = operation.value_or(reported);
    refuse_source_without_root(reported, !source.empty());
  });
  shares.add_to(app, reported);
  receivers.add_to(app, reported);
  model.add_to(app);
  add_limits(app, limits);
  app.add("--top", top, "How many bottlenecks to examine");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "Operation, source and model are those of the first plan, if there is one. Without\n"
      "--time-limit the bottlenecks get 20 seconds and each algorithm 2; the page says what that "
      "cut\n"
      "short. Exit status 5: a plan is invalid; 3: a host cannot be reached (the page shows the\n"
      "network all the same); 4: a limit was reached, and the page says what it lacks.");
}

}  // namespace

void add_report(Arguments root) {
  root.add_command<ReportCommand>(
      "report", "A page of network, bottlenecks, plans, algorithms and a trace, for a browser");
}

}  // namespace espalier::cli
