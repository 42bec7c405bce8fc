// Which options of `plan` cannot be combined.
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "cli/espalier/commands/plan_command.hpp"
#include "planner/registry.hpp"

namespace espalier::cli {

namespace {

// Refuses options that cannot be combined with --message.
void check_choice(const PlanCommand& options) {
  if (options.compute && !planner::combines(options.problem.operation)) {
    throw InputError({}, "--compute",
                     fmt::format("is for operations that combine data; {} combines nothing",
                                 planner::with_article(options.problem.operation)));
  }
  if (options.schedule) {
    throw InputError({}, "--schedule",
                     "cannot be combined with --message; give --segment SIZE instead");
  }
  for (const auto& [option, count] : {std::pair("--max-trees", options.tree_counts.size()),
                                      std::pair("--max-depth", options.depths.size()),
                                      std::pair("--max-latency", options.latencies.size())}) {
    if (count > 1) throw InputError({}, option, "only one value can be combined with --message");
  }
}

}  // namespace

// Refuses what only plans whose trees lead from, or to, one root and span all hosts can have so
// far.
void PlanCommand::check_blocks(bool has_helpers) const {
  const bool has_paths = planner::routes(problem.operation);
  const bool is_free = !planner::has_parts(problem.operation);
  refuse_given({{"--message", has_helpers && message},
                {"--schedule", (has_helpers || is_free) && schedule},
                {"--max-trees", has_paths && tree_counts.front() > 0},
                {"--max-depth", (has_helpers || has_paths) && depths.front() > 0},
                {"--max-latency", (has_helpers || has_paths) && latencies.front().has_value()}},
               has_helpers ? "cannot be combined with helpers yet; give --helpers none"
               : is_free   ? "cannot be combined with any roots yet; give --root NAME"
                           : fmt::format("cannot be combined with {} yet",
                                         planner::name_of(problem.operation)));
}

void PlanCommand::check_money() const {
  const char* const option = budget ? "--budget" : "--deadline";
  if (budget && deadline) {
    throw InputError({}, option, "cannot be combined with --deadline; give one of them");
  }
  if (deadline && !message) throw InputError({}, option, "needs --message SIZE");
  if (chosen().entry->name != planner::kOptimal) {
    throw InputError({}, option,
                     fmt::format("'{}' does not know prices; use 'optimal'", chosen().name));
  }
  for (const auto& [other, given] :
       {std::pair("--max-trees", tree_counts.front() > 0),
        std::pair("--max-depth", depths.front() > 0),
        std::pair("--max-latency", latencies.front().has_value()),
        std::pair("--schedule", schedule), std::pair("--message", budget && message)}) {
    if (given) {
      throw InputError({}, option, fmt::format("cannot be combined with {} yet", other));
    }
  }
}

void PlanCommand::check_barrier() const {
  refuse_given({{"--message", message.has_value()},
                {"--compute", compute.has_value()},
                {"--segment", problem.model.given_segment.has_value()},
                {"--max-trees", tree_counts.front() > 0},
                {"--max-depth", depths.front() > 0},
                {"--max-latency", latencies.front().has_value()},
                {"--schedule", schedule},
                {"--budget", budget.has_value()},
                {"--deadline", deadline.has_value()}},
               "cannot be combined with a barrier");
  if (algorithm) (void)planner::find_algorithm(*algorithm, problem.operation);
}

void PlanCommand::check() const {
  if (problem.operation == planner::Operation::kBarrier) return check_barrier();
  if (budget || deadline) return check_money();
  if (!has_one_root()) check_blocks(false);
  const planner::Algorithm named = chosen();
  const bool limits_depth = depths.front() > 0;
  const bool limits_latency = latencies.front().has_value();
  for (const auto& [option, given, what] :
       {std::tuple("--max-depth", limits_depth, "depth"),
        std::tuple("--max-latency", limits_latency, "latency")}) {
    if (!given || named.entry->name == planner::kOptimal) continue;
    throw InputError({}, option,
                     fmt::format("'{}' cannot limit the {}; use 'optimal'", named.name, what));
  }
  if (limits_depth && limits_latency) {
    throw InputError({}, "--max-latency", "cannot be combined with --max-depth; give one of them");
  }
  if (!(scheduling.loss >= 1e-4 && scheduling.loss < 1)) {
    throw InputError({}, "--schedule-loss", "must be at least 0.0001 and below 1");
  }
  if (message) {
    check_choice(*this);
  } else if (overhead || compute) {
    throw InputError({}, overhead ? "--overhead" : "--compute", "needs --message SIZE");
  }
  if (schedule && !planner::can_have_schedule(problem.operation)) {
    throw InputError({}, "--schedule",
                     fmt::format("only a broadcast, a reduce or an allreduce can have a schedule, "
                                 "not {}",
                                 planner::with_article(problem.operation)));
  }
}

}  // namespace espalier::cli
