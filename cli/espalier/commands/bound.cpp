// espalier bound: the best throughput of any set of trees, its proof, and the bottlenecks.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/barrier.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/run.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

struct BoundCommand {
  Console console{};
  ProblemOptions problem{};
  std::optional<Budget> budget{};
  std::size_t top = 10;
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;

 private:
  [[nodiscard]] ExitStatus run_barrier(const platforms::Platform& platform) const;
  [[nodiscard]] ExitStatus run_within(const platforms::Platform& platform) const;
  // solved: any problem of planner/problem/any_problem.hpp.
  template <class Problem>
  [[nodiscard]] ExitStatus print(const Problem& solved, const Run& proof) const;
};

Rows rows_of(const std::vector<planner::NamedPrice>& prices, double least) {
  Rows rows({left("bottleneck", "resource"), {"price", "price"}});
  rows.order_text({"price", "resource"});
  for (const planner::NamedPrice& one : prices) {
    if (one.price >= least) rows.add({one.resource, share(one.price)});
  }
  return rows;
}

Report report_of(Report report, const Run& run, const std::vector<planner::NamedPrice>& highest,
                 const std::vector<planner::BindingCut>& cuts,
                 const std::optional<planner::PlanCost>& cost) {
  report.add("optimum", "optimum_Bps", run.throughput);
  report_bound(report, run.outcome.bound, run.outcome.ends);
  report.add("gap", "gap", tiny(gap_of(run.throughput, run.outcome.bound)));
  if (!cuts.empty()) {
    report.add("cut", "", shown_only(planner::sentence_of(cuts.front())));
  }
  report.add("trees", "trees", planner::tree_count(run.outcome));
  report_cost(report, cost);
  for (const char* const key : {"operation", "platform", "source", "model"}) {
    const Json value = report.json().at(key);
    if (value.is_string()) report.add(key, key, value.get<std::string>());
  }
  report.write("cuts", cuts_json(cuts));
  report.write("bottlenecks", rows_of(highest, 0).json());
  report.add("seconds", "seconds", took(run.seconds));
  // the table omits prices below 0.01 %; JSON and CSV contain all
  if (!highest.empty()) report.add("", rows_of(highest, planner::kLeastPrice));
  return report;
}

// One line per bottleneck.
std::string csv_of(const Report& report, const std::vector<planner::NamedPrice>& highest) {
  const auto field = [&](const char* key) {
    return std::pair(std::string(key), Cell("", report.json().at(key)));
  };
  return rows_of(highest, 0)
      .csv({field("platform"), field("source"), field("model"), field("optimum_Bps"),
            field("bound_Bps"), field("gap")},
           {field("operation"), field("bound_final")});
}

template <class Problem>
ExitStatus BoundCommand::print(const Problem& solved, const Run& proof) const {
  note_warnings(solved.platform(), console);
  std::optional<planner::PlanCost> cost = planner::cost_of(proof.outcome, solved.platform());
  if (cost && budget) cost->budget_per_GB = budget->per_GB;
  const std::vector<planner::NamedPrice> highest =
      planner::highest_priced_resources(solved.platform(), solved.occupation(), proof.outcome, top);
  // With money among the prices, no cut of links alone is the bound.
  const std::size_t most_cuts = solved.options().money_per_s ? 0 : top;
  Report report = report_of(report_on(solved), proof, highest,
                            planner::binding_cuts(solved, proof.outcome, most_cuts), cost);
  write_text("-", csv ? csv_of(report, highest) : report.render(json));
  return judge(proof, "bound", console);
}

ExitStatus BoundCommand::run_within(const platforms::Platform& platform) const {
  budget->require_currency(platform);
  std::optional<double> money_per_s;
  const auto solve = [&](const planner::AlgorithmOptions& limits) {
    planner::PlanWithinBudget found = planner::within_budget(
        money_problem(problem, platform), budget->per_GB, {{limits}, /*plan=*/false});
    money_per_s = found.money_per_s;
    return std::move(found.outcome);
  };
  const Run proof = run_timed(solve, "bound", problem.limits, console);
  return problem.on(
      platform, [&](const auto& solved) { return print(solved, proof); }, money_per_s);
}

ExitStatus BoundCommand::run_barrier(const platforms::Platform& platform) const {
  refuse_given({{"--csv", csv}, {"--budget", budget.has_value()}},
               "is of throughput, which a barrier does not have");
  note_warnings(platform, console);
  write_text(
      "-", barrier_bound_report({platform, problem.root_on(platform), problem.model}).render(json));
  return ExitStatus::kDone;
}

ExitStatus BoundCommand::run() const {
  const platforms::Platform platform = problem.read(console);
  if (problem.operation == planner::Operation::kBarrier) return run_barrier(platform);
  if (budget) return run_within(platform);
  return problem.on(platform, [&](const auto& solved) {
    return print(solved, run_proof(solved, problem.limits, console));
  });
}

void BoundCommand::add_to(Arguments& app) {
  problem.add_to(app);
  add_budget(app, budget);
  app.add("--top", top, "How many bottlenecks (in JSON, also cuts) to list");
  app.add("--json", json, "JSON instead of tables");
  app.add("--csv", csv, "CSV, one row per bottleneck");
  app.exclude("--csv", "--json");
  add_console_options(app, console);
  app.add_footer(
      "A bottleneck's price is its share of the bound: making it 1 % faster raises the bound by\n"
      "about price x 1 %. With --budget, money is one of them: what 1 % more budget gains.\n"
      "Exit status 4: the time limit was reached before the proof was complete.");
}

}  // namespace

void add_bound(Arguments root) {
  root.add_command<BoundCommand>("bound",
                                 "The best possible throughput, its proof, and the bottlenecks");
}

}  // namespace espalier::cli
