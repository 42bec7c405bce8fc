#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "planner/plan_on_platform.hpp"
#include "planner/slice_grid.hpp"
#include "planner/verify_schedule.hpp"
#include "simulate/event_loop.hpp"
#include "simulate/follow_schedule.hpp"
#include "simulate/task.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using planner::Plan;
using platforms::Platform;

Bytes slice_of(const Plan& plan, const Options& options) {
  const Bytes slice = options.slice.value_or(plan.slice);
  if (slice.value == 0) throw std::invalid_argument("a slice has at least one byte");
  return slice;
}

platforms::Model model_of(const Plan& plan) {
  try {
    return platforms::parse_model(plan.model);
  } catch (const InputError& error) {
    throw InputError({}, "/model", error.what());
  }
}

// What the rest relies on.
const Plan& checked(const Plan& plan, const Platform& platform, const Options& options) {
  if (options.window == 0 || options.window > kMostWindow) {
    throw std::invalid_argument("a window has room for 1 to kMostWindow sends");
  }
  const auto faults = planner::misfits(plan, platform);
  if (!faults.empty()) throw InputError({}, faults.front().place, faults.front().reason);
  if (const auto fault = planner::structural_fault(plan)) {
    throw InputError({}, fault->place, fault->reason);
  }
  return plan;
}

void require_schedule_holds(const Plan& plan, const planner::Instance& instance) {
  constexpr double kTolerance = 1e-6;
  if (instance.options().slice != plan.slice) {
    throw InputError({}, "/schedule",
                     fmt::format("is for slices of {}, not of {}", format_size(plan.slice),
                                 format_size(instance.options().slice)));
  }
  constexpr double kMostSlices = 1e9;
  double slices = 0;
  for (const std::uint64_t count : plan.schedule->slices) slices += static_cast<double>(count);
  if (slices < 1 || slices > kMostSlices) {
    throw InputError(
        {}, "/schedule/slices",
        fmt::format("a period of {:.0f} slices; 1 to {:.0f} can be followed", slices, kMostSlices));
  }
  const auto faults = planner::faults_of_schedule(instance, plan, kTolerance);
  if (!faults.empty()) throw InputError(faults.front());
}

}  // namespace

Simulator::Simulator(const Plan& plan, const Platform& platform, const Options& options)
    : plan_(&checked(plan, platform, options)),
      window_(options.window),
      follows_schedule_(options.follow_schedule && plan.schedule.has_value()),
      instance_(platform, planner::source_named(platform, plan.source), model_of(plan),
                {slice_of(plan, options), plan.latency_occupies}),
      flows_(plan, platform, plan.latency_occupies),
      full_(flows_, platform, instance_.model(), instance_.options()) {
  if (follows_schedule_) require_schedule_holds(plan, instance_);
}

Simulation Simulator::run(Bytes message, const OnSend& on_send) const {
  const planner::SliceGrid grid{message.value, slice().value};
  Simulation result;
  result.slices = grid.count();
  result.done.resize(flows_.hosts());
  result.busy.resize(resources().size());
  if (result.slices == 0) return result;

  const Bytes rest{message.value % slice().value};
  const Holdings last(flows_, instance_.platform(), instance_.model(),
                      {rest, plan_->latency_occupies && rest.value > 0});
  Task task{flows_, full_, last, planner::source_index(*plan_), {}, {}};
  std::vector<double> done_s;
  if (follows_schedule_) {
    const planner::PlanSchedule& schedule = *plan_->schedule;
    BatchedDeal deal = deal_in_batches(schedule, result.slices);
    task.slices = std::move(deal.slices);
    if (rest.value > 0) task.short_tree = deal.last_tree;
    done_s = follow_schedule(task, schedule, static_cast<double>(slice().value), on_send);
  } else {
    const planner::SliceDealer dealer = planner::dealer_for(*plan_);
    task.deal(dealer, result.slices, rest.value > 0);
    GreedyRun run = run_greedily(task, dealer, window_, resources().size(), on_send);
    done_s = std::move(run.done_s);
    result.tick = {run.tick_s};
    result.most_events = run.most_events;
  }
  for (std::size_t host = 0; host < done_s.size(); ++host) result.done[host] = {done_s[host]};
  result.makespan = {*std::ranges::max_element(done_s)};
  result.achieved = {static_cast<double>(message.value) / result.makespan.value};

  for (std::size_t i = 0; i < flows_.all().size(); ++i) {
    const std::uint32_t tree = flows_.all()[i].tree;
    const std::uint64_t slices = task.slices[tree];
    const bool has_short = tree == task.short_tree;
    result.sends += slices;
    const auto add = [&](std::span<const Holding> holdings, std::uint64_t times) {
      for (const Holding& held : holdings) {
        result.busy[held.resource].value += held.seconds * static_cast<double>(times);
      }
    };
    add(full_.of(i), slices - (has_short ? 1 : 0));
    if (has_short) add(last.of(i), 1);
  }
  return result;
}

}  // namespace espalier::simulate
