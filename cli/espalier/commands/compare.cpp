// espalier compare: every algorithm's throughput against the optimum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/comparison.hpp"
#include "cli/espalier/run.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

struct CompareOptions {
  Console console;
  PlatformOptions reading;
  OperationOption operation;
  ModelOptions model;
  LimitOptions limits;
  std::vector<std::string> platforms;
  std::vector<std::string> sources;
  std::string algorithms = "all";
  AlgorithmParameters parameters;
  bool json = false;
  bool csv = false;
};

// What all instances of a call share.
struct Plot {
  planner::Operation operation;
  std::vector<planner::Algorithm> algorithms;  // in the registry's order
  platforms::Model model;
  platforms::OccupationOptions occupation;
  planner::AlgorithmOptions limits;
  const Console& console;
  std::optional<Seconds>
      proof_limit{};     // of what is exponential, where nobody asked for it by name
  bool several = false;  // then an instance that cannot be solved is an entry, not the end
  ExitStatus status = ExitStatus::kDone;
};

// Of each proof in a comparison of all algorithms, unless --time-limit says otherwise.
constexpr Seconds kProofLimit{0.5};

void note_status(Plot& plot, ExitStatus status) {
  if (plot.status == ExitStatus::kDone) plot.status = status;
}

// Runs one algorithm. That it came to nothing is a result here: it belongs into the row, visibly.
ComparisonRow row_of(const planner::Algorithm& algorithm, const planner::Collective& collective,
                     Plot& plot, Comparison& comparison) {
  ComparisonRow row{.algorithm = algorithm.name};
  try {
    const bool cut_short = plot.proof_limit && algorithm.entry->exponential;
    planner::AlgorithmOptions limits = plot.limits;
    if (cut_short) limits.time_limit = plot.proof_limit;
    const Run run = run_timed(algorithm, collective, limits, plot.console);
    const ExitStatus status = judge(run, algorithm.name, plot.console);
    if (!cut_short) note_status(plot, status);
    const planner::Plan plan =
        planner::make_plan(collective, algorithm.name, run.outcome, plot.occupation.segment);
    row.trees = planner::tree_count(plan);
    row.throughput_Bps = run.throughput.value;
    row.depth = figures_of(plan).depth;
    if (const auto makespan = makespan_of(run, collective, plot.limits.message)) {
      row.makespan_s = makespan->value;
    }
    row.seconds = run.seconds;
    if (run.outcome.bound && !(comparison.bound_Bps <= run.outcome.bound->value)) {
      comparison.bound_Bps = run.outcome.bound->value;
    }
  } catch (const LimitReached& fault) {
    note_status(plot, fault.status());
    row.error = fault.what();
  }
  return row;
}

// The bound comes from `optimal` where that is among the algorithms, else it is proven for its own
// sake.
void prove(const planner::Collective& collective, Plot& plot, Comparison& comparison) {
  if (!std::isnan(comparison.bound_Bps)) return;
  try {
    const Run run = run_proof(collective, plot.limits, plot.console);
    note_status(plot, judge(run, "bound", plot.console));
    comparison.optimum_Bps = run.throughput.value;
    if (run.outcome.bound) comparison.bound_Bps = run.outcome.bound->value;
  } catch (const LimitReached& fault) {
    note_status(plot, fault.status());
    plot.console.warn(fault.what());
  }
}

Comparison compare_one(const platforms::Platform& platform, platforms::NodeId source, Plot& plot) {
  Comparison comparison{.operation = plot.operation,
                        .platform = platform.name(),
                        .source = platform.node(source).name,
                        .model = std::string(platforms::name_of(plot.model))};
  try {
    const planner::Collective collective(plot.operation, platform, source, plot.model,
                                         plot.occupation);
    for (const planner::Algorithm& algorithm : plot.algorithms) {
      comparison.rows.push_back(row_of(algorithm, collective, plot, comparison));
    }
    prove(collective, plot, comparison);
  } catch (const InfeasibleError& fault) {
    if (!plot.several) throw;
    note_status(plot, fault.status());
    comparison.rows.clear();
    comparison.error = fault.what();
    return comparison;
  }
  for (ComparisonRow& row : comparison.rows) {
    row.relative = row.throughput_Bps / comparison.bound_Bps;
    // Rounding may pass the bound by a hair; and a single host has nothing to send, at any rate.
    if (row.relative > 1 || std::isinf(row.throughput_Bps)) row.relative = 1;
    if (!(comparison.optimum_Bps >= row.throughput_Bps))
      comparison.optimum_Bps = row.throughput_Bps;
  }
  return comparison;
}

ExitStatus run_compare(const CompareOptions& options) {
  const planner::Operation operation = options.operation.read();
  Plot plot{.operation = operation,
            .algorithms = planner::parse_algorithms(options.algorithms, operation),
            .model = options.model.model(),
            .occupation = options.model.occupation(),
            .limits = options.limits.read(),
            .console = options.console};
  options.parameters.write_to(plot.limits);
  if (options.algorithms == "all" && !plot.limits.time_limit) plot.proof_limit = kProofLimit;
  std::sort(plot.algorithms.begin(), plot.algorithms.end());
  // Every platform is read and every source found before the work starts.
  std::vector<platforms::Platform> read;
  std::vector<std::vector<platforms::NodeId>> sources;
  std::size_t instances = 0;
  for (const std::string& file : options.platforms) {
    read.push_back(options.reading.read(file, options.console));
    sources.push_back(sources_of(read.back(), options.sources));
    instances += sources.back().size();
  }
  plot.several = instances > 1;
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < read.size(); ++i) {
    for (const platforms::NodeId source : sources[i]) {
      comparisons.push_back(compare_one(read[i], source, plot));
    }
  }
  if (options.json) {
    write_text("-", json_text(comparison_json(comparisons)));
  } else {
    write_text("-", options.csv ? comparison_csv(comparisons) : comparison_tables(comparisons));
  }
  return plot.status;
}

}  // namespace

Command add_compare(Arguments root) {
  auto options = std::make_shared<CompareOptions>();
  Arguments app = root.add_command("compare", "Every algorithm's throughput against the optimum");
  app.add("platforms", options->platforms, "Platform files; '-' is standard input",
          {.type = "PLATFORM", .required = true});
  options->operation.add_to(app);
  app.add("--source", options->sources,
          "The node that has the data, or at which it is combined; repeatable, or separated by "
          "commas; 'each' tries all "
          "hosts in "
          "turn; the first host when left out",
          {.type = "NAME"});
  app.add("--algorithm", options->algorithms,
          "'all', or names separated by commas, " + algorithm_choices(), {.type = "A,B"});
  options->parameters.add_to(app);
  options->model.add_to(app);
  options->limits.add_to(app);
  app.add_flag("--json", options->json, "JSON instead of tables");
  app.add_flag("--csv", options->csv, "One CSV row an instance and algorithm");
  app.exclude("--csv", "--json");
  options->reading.add_to(app);
  add_console_options(app, options->console);
  app.add_footer(
      "'relative' is to the proven bound, so at least this share of the optimum is reached.\n"
      "Several platforms or sources are compared one by one; a summary with mean and deviation\n"
      "follows. Exit status 3 or 4 when an instance had no solution, or limit reached.\n"
      "'all' gives exact-tree half a second for its proof, unless --time-limit says otherwise.");
  return {app, [options] { return run_compare(*options); }};
}

}  // namespace espalier::cli
