#include "cli/espalier/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "cli/common/interrupt.hpp"
#include "cli/common/table.hpp"

namespace espalier::cli {

Report report_on(planner::Operation operation, const platforms::Platform& platform,
                 std::optional<platforms::NodeId> root, platforms::Model model) {
  Report report;
  report.write("operation", planner::name_of(operation));
  report.write("platform", platform.name());
  report.write("source", root ? Json(platform.node(*root).name) : Json());
  report.write("model", platforms::name_of(model));
  return report;
}

Report report_on(const planner::Plan& plan) {
  Report report;
  report.write("operation", planner::name_of(plan.operation));
  report.write("platform", plan.platform);
  report.write("source", plan.source.empty() ? Json() : Json(plan.source));
  report.write("model", plan.model);
  report.write("algorithm", plan.algorithm);
  return report;
}

void report_bound(Report& report, const std::optional<BytesPerSecond>& bound,
                  const planner::Ends& ends, const std::string& missing) {
  report.add(std::string(bound_title(ends)), "bound_Bps",
             bound ? Cell(*bound) : Cell(missing, Json()));
  report.write("bound_final", bound && ends.is_bound_final());
}

std::string cuts_text(const std::vector<planner::BindingCut>& cuts) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, cuts.size()); ++i) {
    text += fmt::format("{}: {}.\n", i == 0 ? "The bound is a cut" : "So is another",
                        planner::sentence_of(cuts[i]));
  }
  return text;
}

Json cuts_json(const std::vector<planner::BindingCut>& cuts) {
  Rows rows({written("cut"), written("capacity_Bps"), written("hosts"), written("links")});
  for (const planner::BindingCut& cut : cuts) {
    rows.add({cut.name, cut.rate, cut.hosts, cut.links.size()});
  }
  return rows.json();
}

std::string_view relation_to_source(planner::Operation operation) {
  switch (operation) {
    case planner::Operation::kReduce:
      return "reduced to";
    case planner::Operation::kAllreduce:
      return "allreduced via";
    case planner::Operation::kGather:
      return "gathered to";
    case planner::Operation::kScatter:
      return "scattered from";
    case planner::Operation::kAllgather:
    case planner::Operation::kReduceScatter:
    case planner::Operation::kAlltoall:
    case planner::Operation::kBarrier:
    case planner::Operation::kBroadcast:
      break;
  }
  return "from";
}

std::string count_of_trees(std::size_t reduce_trees, std::size_t broadcast_trees) {
  const auto count = [](std::size_t trees) { return counted(trees, "tree"); };
  if (reduce_trees == 0) return count(broadcast_trees);
  if (broadcast_trees == 0) return count(reduce_trees);
  return fmt::format("{} up and {} down", count(reduce_trees), broadcast_trees);
}

Run run_timed(const Work& work, std::string_view label, planner::AlgorithmOptions options,
              const Console& console) {
  ProgressLine line(console, label);
  line.follow(options);
  const Stopwatch watch;
  Run run;
  run.outcome = work(options);
  run.seconds = watch.elapsed().value;
  run.throughput = planner::throughput_of(run.outcome);
  console.detail(fmt::format("{}: {:.3f} s, {} rounds, {} trees", label, run.seconds,
                             run.outcome.iterations, planner::tree_count(run.outcome)));
  return run;
}

planner::Explanation explain_timed(const Explaining& work, std::size_t top,
                                   const planner::AlgorithmOptions& limits,
                                   const Console& console) {
  ProgressLine line(console, "explain");
  planner::ExplainOptions options;
  options.top = top;
  options.limits = limits;
  line.follow(options.limits);
  options.on_step = [&](Seconds elapsed, std::size_t done, std::size_t total) {
    line.show(elapsed, fmt::format("{} of {} changes", done, total));
  };
  return work(options);
}

double gap_of(BytesPerSecond throughput, const std::optional<BytesPerSecond>& bound) {
  if (!bound) return std::numeric_limits<double>::quiet_NaN();
  return bound->value > 0 ? std::max(0.0, 1 - throughput.value / bound->value) : 0;
}

namespace {

// What the first stage that ended so did not reach.
std::string_view unfinished(const planner::Ends& ends, planner::Termination end) {
  if (ends.packing == end || ends.proof == end) return "the gap was closed";
  if (ends.few == end) return "the search for few trees was complete";
  if (ends.shallow == end) return "the search for shallow trees was complete";
  return "the search for a tree was complete";
}

}  // namespace

std::string_view bound_title(const planner::Ends& ends) {
  return ends.is_bound_final() ? "proven bound" : "bound (not final)";
}

Json ends_json(const planner::Ends& ends) {
  constexpr std::array<std::string_view, 4> kNames{"done", "tree limit", "stalled", "time limit"};
  const auto name = [&](planner::Termination end) { return kNames[static_cast<std::size_t>(end)]; };
  return {{"packing", name(ends.packing)},
          {"proof", name(ends.proof)},
          {"few", name(ends.few)},
          {"shallow", name(ends.shallow)},
          {"search", name(ends.search)}};
}

ExitStatus judge(const Run& run, std::string_view label, const Console& console) {
  const planner::Ends& ends = run.outcome.ends;
  const planner::Termination end = ends.worst();
  if (end != planner::Termination::kTimeLimit && end != planner::Termination::kStalled) {
    return ExitStatus::kDone;
  }
  const std::string_view cause = end == planner::Termination::kStalled
                                     ? "the solver made no more progress"
                                     : end_of_time(interrupted());
  const bool of_one_tree =
      run.outcome.single_tree_bound && ends.proof != planner::Termination::kDone;
  const std::optional<BytesPerSecond>& bound =
      of_one_tree ? run.outcome.single_tree_bound : run.outcome.bound;
  const std::string proven = bound ? fmt::format("of at most {}, gap {:.2e}", format_rate(*bound),
                                                 gap_of(run.throughput, bound))
                                   : "and no bound proven";
  console.warn(fmt::format("{}: {} before {}: {} {}", label, cause, unfinished(ends, end),
                           format_rate(run.throughput), proven));
  return ExitStatus::kLimitReached;
}

bool print_faults(const planner::VerifyReport& report, const std::string& file) {
  for (const std::string& fault : report.faults) print_error(fmt::format("{}: {}", file, fault));
  return !report.faults.empty();
}

}  // namespace espalier::cli
