#include "cli/espalier/reports/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/common/table.hpp"
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
        operation == planner::Operation::kAllreduce
            ? fmt::format(", {:.2f} of them up", highest.copies_up)
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
         figures.shared.size();
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

std::string upgrade_table(const Explanation& explanation, planner::Operation operation) {
  const std::vector<const Upgrade*> upgrades = in_order(explanation);
  if (upgrades.empty()) return {};
  std::vector<double> factors;
  for (const Upgrade* upgrade : upgrades) {
    if (upgrade->outcomes.size() <= factors.size()) continue;
    factors.clear();
    for (const WhatIf& what_if : upgrade->outcomes) factors.push_back(what_if.factor);
  }
  const bool is_allreduce = operation == planner::Operation::kAllreduce;
  std::vector<Table::Column> columns{{"price"}, {"load"}, {"copies"}};
  if (is_allreduce) columns.push_back({"up"});
  for (const double factor : factors) columns.push_back({factor_text(factor)});
  columns.push_back({"raised", Table::Align::kLeft});
  columns.push_back({"bottleneck", Table::Align::kLeft});
  Table table(std::move(columns));
  for (const Upgrade* upgrade : upgrades) {
    const Bottleneck& what = upgrade->what;
    std::vector<std::string> cells{percent(what.price), percent(what.load), fixed(what.copies, 2)};
    if (is_allreduce) cells.push_back(fixed(what.copies_up, 2));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      cells.push_back(i < upgrade->outcomes.size()
                          ? gain_text(planner::gain_of(upgrade->outcomes[i], explanation))
                          : "-");
    }
    cells.push_back(platforms::describe(what.figures));
    cells.push_back(what.name);
    table.add_row(std::move(cells));
  }
  return table.text();
}

Json upgrade_json(const Upgrade& upgrade, const Explanation& explanation,
                  planner::Operation operation) {
  constexpr std::string_view kKinds[]{"resource", "link", "set"};
  Json outcomes = Json::array();
  for (const WhatIf& what_if : upgrade.outcomes) {
    const Gain gain = planner::gain_of(what_if, explanation);
    outcomes.push_back({{"factor", what_if.factor},
                        {"optimum_Bps", what_if.optimum.value},
                        {"bound_Bps", what_if.bound.value},
                        {"gap", gap_of(what_if.optimum, what_if.bound)},
                        {"gain", gain.likely}});
  }
  const Bottleneck& what = upgrade.what;
  Json json{{"kind", kKinds[static_cast<std::size_t>(what.kind)]},
            {"name", what.name},
            {"price", what.price},
            {"load", what.load},
            {"copies", what.copies}};
  if (operation == planner::Operation::kAllreduce) json["copies_up"] = what.copies_up;
  json["resources"] = what.size;
  json["raised"] = platforms::describe(what.figures);
  json["faster"] = std::move(outcomes);
  return json;
}

}  // namespace

std::string explanation_text(const planner::Collective& collective,
                             const Explanation& explanation) {
  const auto& bound = explanation.optimum.bound;
  std::string text = fmt::format(
      "{} {} {}, {}: optimum {}, {} {}, gap {:.1e}, {}\n", printable(collective.platform().name()),
      relation_to_source(collective.operation()),
      printable(collective.platform().node(collective.source()).name),
      platforms::name_of(collective.model()), format_rate(explanation.reached),
      bound_title(explanation.optimum.ends), bound ? format_rate(*bound) : "-",
      gap_of(explanation.reached, bound),
      count_of_trees(explanation.optimum.reduce_trees.size(), explanation.optimum.trees.size()));
  text += bottleneck_text(explanation, collective.operation());
  const std::string table = upgrade_table(explanation, collective.operation());
  if (table.empty()) return text;
  return text + '\n' + table + '\n' + best_upgrades_text(explanation) +
         meaning_of_faster(collective.model());
}

Json explanation_json(const planner::Collective& collective, const Explanation& explanation) {
  Json bottlenecks = Json::array();
  for (const Upgrade* upgrade : in_order(explanation)) {
    bottlenecks.push_back(upgrade_json(*upgrade, explanation, collective.operation()));
  }
  const auto& bound = explanation.optimum.bound;
  return {{"operation", planner::name_of(collective.operation())},
          {"platform", collective.platform().name()},
          {"source", collective.platform().node(collective.source()).name},
          {"model", platforms::name_of(collective.model())},
          {"optimum_Bps", explanation.reached.value},
          {"bound_Bps", bound ? Json(bound->value) : Json()},
          {"bound_final", bound && explanation.optimum.ends.is_bound_final()},
          {"gap", gap_of(explanation.reached, bound)},
          {"trees", explanation.optimum.reduce_trees.size() + explanation.optimum.trees.size()},
          {"bottlenecks", std::move(bottlenecks)}};
}

}  // namespace espalier::cli
