#include "cli/espalier/reports/source_ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "cli/common/report.hpp"
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

Report ranking_report(const Platform& platform, platforms::Model model,
                      planner::Operation operation, const std::vector<RankedSource>& ranking) {
  Report report;
  report.write("operation", planner::name_of(operation));
  report.write("platform", platform.name());
  report.write("model", platforms::name_of(model));
  report.say(verdict(platform, model, operation, ranking));
  Rows rows({left(planner::reduces(operation) ? "root" : "source", "source"),
             {"optimum", "optimum_Bps"},
             {"of best", "of_best"},
             written("bound_Bps"),
             {"gap", "gap"},
             written("error")});
  rows.order_text({"optimum_Bps", "of_best", "gap", "source"});
  for (const RankedSource& ranked : ranking) {
    const std::string& name = platform.node(ranked.source).name;
    if (!ranked.error.empty()) {
      const Cell missing = shown_only("-");
      rows.add(
          {Cell(printable(ranked.error), name), missing, missing, missing, missing, ranked.error});
      continue;
    }
    rows.add({name, ranked.optimum,
              shown_only(fixed(ranked.optimum.value / ranking.front().optimum.value, 4)),
              ranked.bound, tiny(gap_of(ranked.optimum, ranked.bound)), shown_only("")});
  }
  report.add("sources", rows);
  return report;
}

}  // namespace espalier::cli
