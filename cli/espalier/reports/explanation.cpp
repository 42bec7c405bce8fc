#include "cli/espalier/reports/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/common/report.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/run.hpp"

namespace espalier::cli {

namespace {

using planner::Bottleneck;
using planner::Explanation;
using planner::Gain;
using planner::Upgrade;
using planner::WhatIf;

constexpr double kLeastShownGain = 5e-5;  // 0.01 %

// "+3.41 %", "none", or "+1.20 to +8.00 %" where the proven gaps leave a range.
std::string gain_text(const Gain& gain) {
  constexpr double kOpen = 1e-3;
  if (gain.most < kLeastShownGain) return "none";
  if (gain.most - gain.least < kOpen) {
    return gain.likely < kLeastShownGain ? "none" : fmt::format("+{}", percent(gain.likely));
  }
  return fmt::format("+{:.2f} to +{}", 100 * std::max(0.0, gain.least), percent(gain.most));
}

std::string factor_text(double factor) {
  if (factor == 2) return "twice as fast";
  if (factor < 2) return fmt::format("{:.6g} % faster", 100 * (factor - 1));
  return fmt::format("{:.6g} times as fast", factor);
}

std::vector<const Upgrade*> in_order(const Explanation& explanation) {
  std::vector<const Upgrade*> all;
  for (const auto* list : {&explanation.resources, &explanation.links, &explanation.sets}) {
    for (const Upgrade& upgrade : *list) all.push_back(&upgrade);
  }
  if (explanation.all) all.push_back(&*explanation.all);
  return all;
}

std::string bottleneck_text(const Explanation& explanation, planner::Operation operation) {
  if (explanation.resources.empty()) return {};
  const Bottleneck& highest = explanation.resources.front().what;
  if (highest.price >= 1 - planner::kLeastPrice) {
    return fmt::format(
        "The only bottleneck is the {}: it is busy {} of the time and carries {:.2f} bytes per "
        "byte "
        "of the message{}.\n",
        highest.name, percent(highest.load), highest.copies,
        planner::goes_both_ways(operation) ? fmt::format(", {:.2f} of them up", highest.copies_up)
                                           : "");
  }
  std::vector<std::string> named;
  for (const Upgrade& upgrade : explanation.resources) {
    named.push_back(fmt::format("{} ({})", upgrade.what.name, percent(upgrade.what.price)));
  }
  std::size_t priced = 0;
  for (const planner::PricedResource& one : explanation.optimum.prices) {
    if (one.price >= planner::kLeastPrice) ++priced;
  }
  const std::string more =
      priced > named.size() ? fmt::format(", and {} more", priced - named.size()) : "";
  return fmt::format("Bottlenecks, by share of the bound: {}{}.\n", fmt::join(named, ", "), more);
}

std::size_t size_of(const platforms::Figures& figures) {
  return figures.links.size() + figures.send_caps.size() + figures.receive_caps.size() +
         figures.shared.size() + figures.link_sends.size() + figures.link_receives.size();
}

// The upgrade with the largest proven gain at the largest factor. Among equal gains the one that
// raises the fewest figures, then the first. Null if no upgrade is proven to gain.
const Upgrade* best_of(const std::vector<const Upgrade*>& upgrades,
                       const Explanation& explanation) {
  const Upgrade* best = nullptr;
  double most = 0;
  for (const Upgrade* upgrade : upgrades) {
    const double gain = planner::gain_of(upgrade->outcomes.back(), explanation).least;
    if (gain < kLeastShownGain || gain < most - kLeastShownGain) continue;
    if (best != nullptr && gain <= most + kLeastShownGain &&
        size_of(upgrade->what.figures) >= size_of(best->what.figures)) {
      continue;
    }
    best = upgrade;
    most = gain;
  }
  return best;
}

std::string upgrade_text(const Upgrade& upgrade, const Explanation& explanation) {
  const WhatIf& last = upgrade.outcomes.back();
  return fmt::format("{}, {}: {} ({})", upgrade.what.name, factor_text(last.factor),
                     gain_text(planner::gain_of(last, explanation)), format_rate(last.optimum));
}

// What "faster" means under this model.
std::string meaning_of_faster(platforms::Model model) {
  const bool one_port = platforms::is_one_port(model);
  return fmt::format(
      "\"Faster\": the bandwidths{} in the column \"raised\" are multiplied and the changed "
      "platform "
      "is solved again.{}\n",
      one_port ? "" : " or caps",
      one_port
          ? " A port is as fast as its links, and a faster link relieves the ports at both ends."
          : "");
}

Json outcomes_json(const Upgrade& upgrade, const Explanation& explanation) {
  Rows rows({written("factor"), written("optimum_Bps"), written("bound_Bps"), written("gap"),
             written("gain")});
  for (const WhatIf& what_if : upgrade.outcomes) {
    rows.add({decimal(what_if.factor), what_if.optimum, what_if.bound,
              tiny(gap_of(what_if.optimum, what_if.bound)),
              share(planner::gain_of(what_if, explanation).likely)});
  }
  return rows.json();
}

// The factors of the upgrade with the most of them.
std::vector<double> factors_of(const std::vector<const Upgrade*>& upgrades) {
  std::vector<double> factors;
  for (const Upgrade* upgrade : upgrades) {
    if (upgrade->outcomes.size() <= factors.size()) continue;
    factors.clear();
    for (const WhatIf& what_if : upgrade->outcomes) factors.push_back(what_if.factor);
  }
  return factors;
}

// A row per upgrade. In text the outcome of each factor has a column of its own.
Rows upgrade_rows(const Explanation& explanation, planner::Operation operation) {
  const std::vector<const Upgrade*> upgrades = in_order(explanation);
  const std::vector<double> factors = factors_of(upgrades);
  const bool is_allreduce = planner::goes_both_ways(operation);
  std::vector<Column> columns{
      written("kind"), written("name"), {"price", "price"}, {"load", "load"}, {"copies", "copies"}};
  if (is_allreduce) columns.push_back({"up", "copies_up"});
  columns.push_back(written("resources"));
  for (const double factor : factors) columns.push_back({factor_text(factor), ""});
  columns.push_back(left("raised", "raised"));
  columns.push_back(left("bottleneck", ""));
  columns.push_back(written("faster"));
  Rows rows(std::move(columns));
  for (const Upgrade* upgrade : upgrades) {
    const Bottleneck& what = upgrade->what;
    std::vector<Cell> cells{planner::name_of(what.kind), what.name, share(what.price),
                            share(what.load), decimal(what.copies, 2)};
    if (is_allreduce) cells.push_back(decimal(what.copies_up, 2));
    cells.emplace_back(what.size);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      cells.emplace_back(i < upgrade->outcomes.size()
                             ? gain_text(planner::gain_of(upgrade->outcomes[i], explanation))
                             : "-");
    }
    cells.emplace_back(platforms::describe(what.figures));
    cells.emplace_back(what.name);
    cells.push_back(written_only(outcomes_json(*upgrade, explanation)));
    rows.add(std::move(cells));
  }
  return rows;
}

}  // namespace

std::string limits_text(const Explanation& explanation, planner::Operation operation) {
  return cuts_text(explanation.cuts) + bottleneck_text(explanation, operation);
}

std::string best_upgrades_text(const Explanation& explanation) {
  std::vector<const Upgrade*> singles;
  std::vector<const Upgrade*> sets;
  for (const Upgrade* upgrade : in_order(explanation)) {
    if (upgrade->outcomes.empty()) continue;
    (upgrade->what.kind == Bottleneck::Kind::kSet ? sets : singles).push_back(upgrade);
  }
  if (singles.empty()) return {};
  const Upgrade* single = best_of(singles, explanation);
  const Upgrade* set = best_of(sets, explanation);
  std::string text;
  if (single != nullptr) {
    text = fmt::format("Best single upgrade: {}.\n", upgrade_text(*single, explanation));
  } else if (explanation.termination == planner::Termination::kDone) {
    text = "No single upgrade helps: the other bottlenecks keep the optimum where it is.\n";
  } else {
    text = "No single upgrade is proven to help: the search stopped early.\n";
  }
  if (set != nullptr) {
    text += fmt::format("Best combined upgrade: {}.\n", upgrade_text(*set, explanation));
  }
  return text;
}

Report explanation_report(Report report, const planner::ModelledPlatform& problem,
                          planner::Operation operation, std::optional<platforms::NodeId> root,
                          const planner::Explanation& explanation) {
  const planner::Outcome& optimum = explanation.optimum;
  std::size_t in_blocks = 0;
  for (const planner::BlockOfTrees& block : optimum.blocks) in_blocks += block.trees.size();
  report.add("problem", "",
             fmt::format("{} {}, {}", printable(problem.platform.name()),
                         root ? fmt::format("{} {}", relation_to_source(operation),
                                            printable(problem.platform.node(*root).name))
                              : fmt::format("{} of all hosts", planner::name_of(operation)),
                         platforms::name_of(problem.model)));
  report.add("optimum", "optimum_Bps", explanation.reached);
  report_bound(report, optimum.bound, optimum.ends, "-");
  report.add("gap", "gap", tiny(gap_of(explanation.reached, optimum.bound)));
  report.add(in_blocks > 0 && planner::routes(operation) ? "paths" : "trees", "trees",
             Cell(in_blocks > 0 ? fmt::format("{}", in_blocks)
                                : count_of_trees(optimum.reduce_trees.size(), optimum.trees.size()),
                  optimum.reduce_trees.size() + optimum.trees.size() + in_blocks));
  report.write("cuts", cuts_json(explanation.cuts));
  report_cost(report, planner::cost_of(optimum, problem.platform));
  const Rows rows = upgrade_rows(explanation, operation);
  report.say(limits_text(explanation, operation) +
             (rows.empty() ? "" : best_upgrades_text(explanation)));
  if (rows.empty()) {
    report.write("bottlenecks", rows.json());
    return report;
  }
  report.add("bottlenecks", rows);
  report.say(meaning_of_faster(problem.model));
  return report;
}

}  // namespace espalier::cli
