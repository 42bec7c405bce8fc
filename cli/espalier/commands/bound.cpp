// espalier bound: the best throughput of any set of trees, its proof, and the bottlenecks.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
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
  std::size_t top = 10;
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

std::string as_table(const planner::Collective& collective, const Run& run,
                     const std::vector<planner::NamedPrice>& highest) {
  const auto& bound = run.outcome.bound;
  Table facts(
      {{"optimum", Table::Align::kLeft}, {format_rate(run.throughput), Table::Align::kLeft}});
  facts.add_row({std::string(bound_title(run.outcome.ends)), bound ? format_rate(*bound) : "-"});
  facts.add_row({"gap", fmt::format("{:.1e}", gap_of(run.throughput, bound))});
  facts.add_row({"trees", std::to_string(tree_count(run))});
  facts.add_row({"operation", std::string(planner::name_of(collective.operation()))});
  facts.add_row({"platform", collective.platform().name()});
  facts.add_row({"source", collective.platform().node(collective.source()).name});
  facts.add_row({"model", std::string(platforms::name_of(collective.model()))});
  facts.add_row({"seconds", fixed(run.seconds, 3)});
  if (highest.empty()) return facts.text();
  Table prices({{"price"}, {"bottleneck", Table::Align::kLeft}});
  for (const planner::NamedPrice& bottleneck : highest) {
    // tables omit prices below 0.01 %; JSON and CSV contain all
    if (bottleneck.price < planner::kLeastPrice) break;
    prices.add_row({percent(bottleneck.price), bottleneck.resource});
  }
  return facts.text() + '\n' + prices.text();
}

Json as_json(const planner::Collective& collective, const Run& run,
             const std::vector<planner::NamedPrice>& highest) {
  Json rows = Json::array();
  for (const planner::NamedPrice& bottleneck : highest) {
    rows.push_back({{"resource", bottleneck.resource}, {"price", bottleneck.price}});
  }
  const auto& bound = run.outcome.bound;
  return {{"operation", planner::name_of(collective.operation())},
          {"platform", collective.platform().name()},
          {"source", collective.platform().node(collective.source()).name},
          {"model", platforms::name_of(collective.model())},
          {"optimum_Bps", run.throughput.value},
          {"bound_Bps", bound ? Json(bound->value) : Json()},
          {"bound_final", bound && run.outcome.ends.is_bound_final()},
          {"gap", gap_of(run.throughput, bound)},
          {"trees", tree_count(run)},
          {"bottlenecks", std::move(rows)},
          {"seconds", run.seconds}};
}

std::string as_csv(const planner::Collective& collective, const Run& run,
                   const std::vector<planner::NamedPrice>& highest) {
  std::string text = csv_line({"platform", "source", "model", "optimum_Bps", "bound_Bps", "gap",
                               "resource", "price", "operation"});
  const auto& bound = run.outcome.bound;
  for (const planner::NamedPrice& bottleneck : highest) {
    text += csv_line(
        {collective.platform().name(), collective.platform().node(collective.source()).name,
         std::string(platforms::name_of(collective.model())), exact(run.throughput.value),
         bound ? exact(bound->value) : "", exact(gap_of(run.throughput, bound)),
         bottleneck.resource, exact(bottleneck.price),
         std::string(planner::name_of(collective.operation()))});
  }
  return text;
}

ExitStatus BoundCommand::run() const {
  const platforms::Platform platform = problem.reading.read(problem.platform, console);
  const planner::Collective collective(problem.operation, platform,
                                       planner::source_named(platform, problem.source),
                                       problem.model.model(), problem.model.occupation());
  const Run proof = run_proof(collective, problem.limits, console);
  note_warnings(platform, console);
  const std::vector<planner::NamedPrice> highest =
      planner::highest_priced_resources(platform, collective.occupation(), proof.outcome, top);
  if (json) {
    write_text("-", json_text(as_json(collective, proof, highest)));
  } else {
    write_text("-",
               csv ? as_csv(collective, proof, highest) : as_table(collective, proof, highest));
  }
  return judge(proof, "bound", console);
}

void BoundCommand::add_to(Arguments& app) {
  problem.add_to(app);
  app.add("--top", top, "How many bottlenecks to list", {.type = "N"});
  app.add("--json", json, "JSON instead of tables");
  app.add("--csv", csv, "CSV, one row per bottleneck");
  app.exclude("--csv", "--json");
  add_console_options(app, console);
  app.add_footer(
      "A bottleneck's price is its share of the bound: making it 1 % faster raises the bound by\n"
      "about price x 1 %. Exit status 4: the time limit was reached before the proof was "
      "complete.");
}

}  // namespace

void add_bound(Arguments root) {
  root.add_command<BoundCommand>("bound",
                                 "The best possible throughput, its proof, and the bottlenecks");
}

}  // namespace espalier::cli
