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
#include "cli/espalier/comparing.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/comparison.hpp"
#include "planner/registry.hpp"
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
  std::optional<Frontier> frontier{};
  std::string chart{};  // file; empty: none
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;

 private:
  [[nodiscard]] ExitStatus run_barrier() const;
};

void CompareCommand::check() const {
  if (!chart.empty() && !frontier) throw InputError({}, "--chart", "needs --frontier");
}

ExitStatus CompareCommand::run_barrier() const {
  refuse_given({{"--csv", csv},
                {"--frontier", frontier.has_value()},
                {"--message", message.has_value()},
                {"--source", sources.size() > 1}},
               "cannot be combined with a barrier");
  if (platforms.size() > 1) {
    throw InputError({}, "platforms", "barriers are compared on one platform at a time");
  }
  const platforms::Platform platform = reading.read(platforms.front(), console);
  const BarrierProblem problem{platform, roots_of(platform, operation, sources).front(), model};
  const simulate::Choice choice =
      choose_for(problem, planner::parse_algorithms(algorithms, operation), limits, console);
  write_text("-", barrier_comparison(problem, choice).render(json));
  return choice.complete ? ExitStatus::kDone : ExitStatus::kLimitReached;
}

ExitStatus CompareCommand::run() const {
  if (operation == planner::Operation::kBarrier) return run_barrier();
  if (!chart.empty()) require_writable(chart);
  refuse_source_without_root(operation, !sources.empty());
  ComparisonContext context{.operation = operation,
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
  if (context.all && !limits.deadline.limit()) context.proof_limit = kExponentialLimit;
  std::sort(context.algorithms.begin(), context.algorithms.end());
  // Everything is read, and every source found, before the work starts.
  std::vector<platforms::Platform> read;
  std::vector<std::vector<double>> shares_on;
  std::vector<std::vector<std::optional<platforms::NodeId>>> nodes;
  std::size_t instances = 0;
  for (const std::string& file : platforms) {
    read.push_back(reading.read(file, console));
    nodes.push_back(roots_of(read.back(), operation, sources));
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
          [](const std::string& name) { return choice_named("frontier", kFrontiers, name).value; },
          "Also what the optimum is exchanged for, one of: cost, depth. cost: the optimum within "
          "budgets from the price of the cheapest plan to that of the fastest; needs prices on the "
          "platform. "
          "depth: the optimum with trees of fewer and fewer edges from the source to any host",
          {.type = "NAME", .shown = "", .bare = "cost"});
  app.add("--chart", chart,
          "With --frontier: throughput against cost or depth as SVG, with the algorithms as points",
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
