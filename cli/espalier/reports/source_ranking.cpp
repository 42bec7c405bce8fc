#include "cli/espalier/reports/source_ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "cli/common/table.hpp"
#include "cli/espalier/run.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using planner::RankedSource;
using platforms::Platform;

std::string name_of(const RankedSource& ranked, const Platform& platform) {
  return printable(platform.node(ranked.source).name);
}

// How much better the best is than `other`: "12.30 % better", "no better".
std::string better(const RankedSource& best, const RankedSource& other) {
  constexpr double kLeastShown = 5e-5;
  const double gain = best.optimum.value / other.optimum.value - 1;
  return gain < kLeastShown ? "no better" : percent(gain) + " better";
}

// Number of sources whose bound is at least what the best source reaches: they may be equally good.
std::size_t possibly_equal(const std::vector<RankedSource>& ranking) {
  return static_cast<std::size_t>(
      std::count_if(ranking.begin() + 1, ranking.end(), [&](const RankedSource& ranked) {
        return ranked.error.empty() && ranked.bound >= ranking.front().optimum;
      }));
}

std::string verdict(const Platform& platform, platforms::Model model, planner::Operation operation,
                    const std::vector<RankedSource>& ranking) {
  const auto solved = static_cast<std::size_t>(
      std::count_if(ranking.begin(), ranking.end(),
                    [](const RankedSource& ranked) { return ranked.error.empty(); }));
  const bool reduces = planner::reduces(operation);
  std::string text =
      fmt::format("{}, {}{}, {} {}", printable(platform.name()), platforms::name_of(model),
                  reduces ? fmt::format(", {}", planner::name_of(operation)) : "", ranking.size(),
                  reduces ? "roots" : "sources");
  if (solved == 0) {
    return text + (!reduces ? ": none reaches every host\n"
                   : planner::broadcasts(operation)
                       ? ": none reaches every host and is reached by every host\n"
                       : ": none is reached by every host\n");
  }
  const RankedSource& best = ranking.front();
  text += fmt::format(": the best is {}, optimum {}", name_of(best, platform),
                      format_rate(best.optimum));
  const auto unexamined = std::count_if(ranking.begin(), ranking.end(), [](const auto& ranked) {
    return !ranked.error.empty() && ranked.termination == planner::Termination::kTimeLimit;
  });
  if (unexamined > 0) {
    text += fmt::format(" ({} were not examined within the time limit)", unexamined);
  }
  if (const std::size_t others = possibly_equal(ranking); others > 0) {
    text += fmt::format(" ({} more may be equally good, within the proven gaps)", others);
  }
  if (solved == 1) return text + '\n';
  const RankedSource& median = ranking[solved / 2];
  const RankedSource& worst = ranking[solved - 1];
  return text +
         fmt::format("\nIt is {} than the median, {} ({}), and {} than the worst, {} ({}).\n",
                     better(best, median), name_of(median, platform), format_rate(median.optimum),
                     better(best, worst), name_of(worst, platform), format_rate(worst.optimum));
}

}  // namespace

std::string ranking_text(const Platform& platform, platforms::Model model,
                         planner::Operation operation, const std::vector<RankedSource>& ranking) {
  Table table({{"optimum"},
               {"of best"},
               {"gap"},
               {planner::reduces(operation) ? "root" : "source", Table::Align::kLeft}});
  for (const RankedSource& ranked : ranking) {
    if (!ranked.error.empty()) {
      table.add_row({"-", "-", "-", printable(ranked.error)});
      continue;
    }
    table.add_row({format_rate(ranked.optimum),
                   fixed(ranked.optimum.value / ranking.front().optimum.value, 4),
                   fmt::format("{:.1e}", gap_of(ranked.optimum, ranked.bound)),
                   name_of(ranked, platform)});
  }
  return verdict(platform, model, operation, ranking) + '\n' + table.text();
}

Json ranking_json(const Platform& platform, platforms::Model model, planner::Operation operation,
                  const std::vector<RankedSource>& ranking) {
  Json rows = Json::array();
  for (const RankedSource& ranked : ranking) {
    Json row{{"source", platform.node(ranked.source).name}};
    if (ranked.error.empty()) {
      row["optimum_Bps"] = ranked.optimum.value;
      row["bound_Bps"] = ranked.bound.value;
      row["gap"] = gap_of(ranked.optimum, ranked.bound);
    } else {
      row["error"] = ranked.error;
    }
    rows.push_back(std::move(row));
  }
  return {{"operation", planner::name_of(operation)},
          {"platform", platform.name()},
          {"model", platforms::name_of(model)},
          {"sources", std::move(rows)}};
}

}  // namespace espalier::cli
