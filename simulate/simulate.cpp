#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/rounds.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify_schedule.hpp"
#include "planner/plan/segment_grid.hpp"
#include "simulate/transport/block_task.hpp"
#include "simulate/transport/engine_run.hpp"
#include "simulate/transport/follow_schedule.hpp"
#include "simulate/transport/task.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using planner::Plan;
using platforms::Platform;

platforms::Model model_of(const Plan& plan) {
  try {
    return platforms::parse_model(plan.model);
  } catch (const InputError& error) {
    throw InputError({}, "/model", error.what());
  }
}

// Throws unless plan and options are valid and the plan fits the platform.
const Plan& checked(const Plan& plan, const Platform& platform, const Options& options) {
  require_valid(options, plan.operation);
  const auto faults = planner::misfits(plan, platform);
  if (!faults.empty()) throw InputError(faults.front());
  planner::check_structure(plan);
  if (!options.rounds) return plan;
  if (!plan.has_one_root() || planner::routes(plan.operation)) {
    throw InputError({}, "/operation",
                     "rounds are for operations with one root that copy or combine the message");
  }
  engine::require_rounds(plan);
  return plan;
}

// In rounds every tree has its turn until the end of the message, whatever its latency.
Plan without_latencies(Plan plan) {
  for (auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
    for (planner::PlanTree& tree : *trees) tree.latencies.clear();
  }
  return plan;
}

void require_schedule_holds(const Plan& plan, const Platform& platform, platforms::Model model,
                            const platforms::OccupationOptions& occupying) {
  constexpr double kTolerance = 1e-6;
  if (occupying.segment != plan.segment) {
    throw InputError({}, "/schedule",
                     fmt::format("is for segments of {}, not of {}", format_size(plan.segment),
                                 format_size(occupying.segment)));
  }
  constexpr double kMostInAPeriod = 1e9;
  double segments = 0;  // of both kinds of trees
  for (const std::uint64_t count : plan.schedule->segments) segments += static_cast<double>(count);
  if (segments < 1 || segments > kMostInAPeriod) {
    throw InputError({}, "/schedule/slices",
                     fmt::format("a period of {:.0f} segments; 1 to {:.0f} can be followed",
                                 segments, kMostInAPeriod));
  }
  const auto faults = planner::faults_of_schedule(platform, model, plan, kTolerance);
  if (!faults.empty()) throw InputError(faults.front());
}

// Sets the segments of the trees of each kind.
void assign_by(const planner::PlanSchedule& schedule, bool last_is_short, Task& task) {
  const std::span<const std::uint64_t> batch = schedule.segments;
  const std::size_t up = task.flows.up_trees();
  for (const auto& kind : {batch.first(up), batch.subspan(up)}) {
    if (kind.empty()) continue;
    const BatchedAssignment of_kind = assign_in_batches(kind, task.count);
    const std::size_t first = task.segments.size();
    task.segments.insert(task.segments.end(), of_kind.segments.begin(), of_kind.segments.end());
    task.ends_short.resize(task.segments.size(), 0);
    task.ends_short[first + of_kind.last_tree] = last_is_short ? 1 : 0;
  }
}

}  // namespace

void require_valid(const Options& options, planner::Operation operation) {
  if (options.segment && options.segment->value == 0) {
    throw std::invalid_argument("a segment has at least one byte");
  }
  for (const std::uint64_t one : {options.window.value_or(1), options.receives}) {
    if (one == 0 || one > kMostWindow) {
      throw std::invalid_argument(fmt::format("a window is 1 to {} segments", kMostWindow));
    }
  }
  if (options.compute && !(options.compute->value > 0 && planner::combines(operation))) {
    throw std::invalid_argument("a compute rate is above 0, and only where data is combined");
  }
}

Simulator::Simulator(const Plan& plan, const Platform& platform, const Options& options)
    : plan_(&checked(plan, platform, options)),
      platform_(&platform),
      options_(options),
      model_(model_of(plan)),
      occupying_{options.segment.value_or(plan.segment), plan.latency_occupies},
      occupation_(platforms::occupation(platform, model_, occupying_)),
      assignments_(plan),
      flows_(plan, platform, plan.latency_occupies),
      full_(flows_, occupation_, model_, occupying_.segment) {
  options_.window = options.window.value_or(window_for(plan.operation));
  options_.follow_schedule =
      options.follow_schedule && !options.rounds && plan.schedule.has_value();
  if (!follows_schedule()) return;
  if (options.compute) {
    throw InputError({}, "/schedule", "leaves no time for combining; simulate without it");
  }
  require_schedule_holds(plan, platform, model_, occupying_);
}

double Simulator::sends_of(Bytes message) const {
  Assignments assignments = assignments_;
  const std::vector<planner::SegmentGrid> grids = grids_of(*plan_, message, segment());
  assignments.end_at(grids);
  return simulate::sends_of(planner::blocks_of(*plan_), grids, assignments);
}

std::uint64_t Simulator::segments_of(Bytes message) const {
  const std::vector<planner::PlanTrees> blocks = planner::blocks_of(*plan_);
  const std::vector<planner::SegmentGrid> grids = grids_of(*plan_, message, segment());
  std::uint64_t segments = 0;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    if (!blocks[block].after) segments += grids[block].count();
  }
  return segments;
}

Simulation Simulator::run(Bytes message, const OnSend& on_send) const {
  Simulation result;
  result.segments = segments_of(message);
  result.done.resize(flows_.hosts());
  result.busy.resize(resources().size() + (flows_.up_trees() > 0 ? flows_.hosts() : 0));
  if (result.segments == 0) return result;
  const std::vector<double> done_s = follows_schedule() ? run_by_schedule(message, on_send, result)
                                                        : run_engines(message, on_send, result);
  for (std::size_t host = 0; host < done_s.size(); ++host) result.done[host] = {done_s[host]};
  result.makespan = {*std::ranges::max_element(done_s)};
  result.achieved = {static_cast<double>(message.value) / result.makespan.value};
  return result;
}

std::vector<double> Simulator::run_engines(Bytes message, const OnSend& on_send,
                                           Simulation& result) const {
  const Plan in_rounds = options_.rounds ? without_latencies(*plan_) : Plan{};
  const Plan& plan = options_.rounds ? in_rounds : *plan_;
  const BlockTask of_message(plan, flows_, options_.rounds ? Assignments(plan) : assignments_,
                             {*platform_, model_, plan_->latency_occupies}, message, segment(),
                             options_.compute);
  EngineTimes times = simulate::run_engines(
      {plan, flows_, of_message.assignments(), of_message.grids()}, of_message.task(),
      {window(), options_.receives, options_.until_received, options_.sharing, options_.rounds},
      resources().size(), on_send);
  result.tick = {times.tick_s};
  result.most_events = times.most_events;
  add_busy(of_message.task(), result);
  return std::move(times.done_s);
}

std::vector<double> Simulator::run_by_schedule(Bytes message, const OnSend& on_send,
                                               Simulation& result) const {
  const Bytes rest{message.value % segment().value};
  const Holdings last(flows_, *platform_, model_,
                      {rest, plan_->latency_occupies && rest.value > 0});
  Task task{flows_, full_, last, planner::source_index(*plan_)};
  const planner::PlanSchedule& schedule = *plan_->schedule;
  task.count = result.segments;
  assign_by(schedule, rest.value > 0, task);
  add_busy(task, result);
  return follow_schedule(task, schedule, static_cast<double>(segment().value), on_send);
}

void Simulator::add_busy(const Task& task, Simulation& result) const {
  for (std::size_t i = 0; i < flows_.all().size(); ++i) {
    const Flow& flow = flows_.all()[i];
    const std::uint64_t segments = task.segments[flow.tree];
    const std::uint64_t short_ones = task.ends_short[flow.tree] != 0 ? 1 : 0;
    result.sends += segments;
    const auto add = [&](std::span<const Holding> holdings, double combining_s,
                         std::uint64_t times) {
      const auto factor = static_cast<double>(times);
      for (const Holding& held : holdings) {
        result.busy[held.resource].value += held.seconds * factor;
      }
      if (flow.up) result.busy[resources().size() + flow.parent].value += combining_s * factor;
    };
    add(task.full.of(i), task.combining.full_s, segments - short_ones);
    if (short_ones > 0) add(task.last.of(i), task.last_combining(flow.tree), short_ones);
  }
}

std::vector<std::string> resource_names(const Simulator& simulator, const planner::Plan& plan,
                                        const platforms::Platform& platform) {
  std::vector<std::string> names;
  for (const platforms::Resource& resource : simulator.resources()) {
    names.push_back(platforms::describe(resource, platform));
  }
  if (!planner::combines(plan.operation)) return names;
  for (const std::string& node : plan.nodes) {
    names.push_back(fmt::format("processor of {}", printable(node)));
  }
  return names;
}

}  // namespace espalier::simulate
