#include "runtime/api/bound_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/rounds.hpp"
#include "planner/plan/plan_bytes.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/hosts.hpp"

namespace espalier::runtime {
namespace {

using planner::Plan;

void refuse_if(bool holds, const char* reason) {
  if (holds) throw InputError(reason);
}

void check_orders(const Plan& plan, const CollectiveOptions& options) {
  refuse_if(
      options.schedule && (!planner::can_have_schedule(plan.operation) || !plan.has_one_root()),
      "a schedule is for a broadcast, a reduce or an allreduce with one root");
  refuse_if(options.rounds && planner::routes(plan.operation),
            "rounds are for operations that copy or combine the whole message");
  refuse_if(options.rounds && !plan.has_one_root(), "rounds are for operations with one root");
  if (options.rounds) engine::require_rounds(plan);
  if (options.schedule) engine::require_timetable(plan);
  refuse_if(options.ports != 0 && options.rounds,
            "ports and rounds exclude each other: in a round a rank sends one segment");
  refuse_if(options.schedule && (options.ports != 0 || options.rounds),
            "a schedule cannot be combined with ports or rounds: it fixes the order of all sends");
}

void check_figures(const Plan& plan, const CollectiveOptions& options, std::size_t largest_tag) {
  const bool is_fixed = options.segment_bytes != 0 || options.rounds || options.schedule;
  refuse_if(!options.tuned.empty() && is_fixed,
            "tuned segments cannot be combined with a fixed segment size, rounds or a schedule");
  refuse_if(!(options.tuned_within >= 1), "tuned_within must be at least 1");
  if (options.timeout && !(options.timeout->value > 0 && std::isfinite(options.timeout->value))) {
    throw InputError(fmt::format("a timeout of {} s; it must be finite and greater than 0",
                                 options.timeout->value));
  }
  if (const std::size_t trees = planner::tree_count(plan); trees > largest_tag) {
    throw InputError(
        fmt::format("the plan has {} trees; this MPI has tags for {}", trees, largest_tag));
  }
  refuse_if(options.sends_in_flight == 0 || options.receives_in_flight == 0,
            "a window must hold at least one segment");
  if (options.segment_bytes > kLargestSegment) {
    throw InputError(fmt::format("segments of {} bytes; MPI sends at most {} bytes at once",
                                 options.segment_bytes, kLargestSegment));
  }
}

// Represents the plan and the options, which must be equal on all ranks, but for the names of
// relays, which make no difference to them.
std::uint64_t fingerprint(const Plan& plan, const CollectiveOptions& options) {
  std::string text = planner::to_bytes(plan);
  text += fmt::format("{} {} {} {} {} {} {} {} {} {} {}", options.sends_in_flight,
                      options.receives_in_flight, options.ports, static_cast<int>(options.mapping),
                      options.direct_copies, options.segment_bytes, options.tuned_within,
                      options.check_sizes, options.rounds, options.schedule,
                      options.timeout.value_or(Seconds{}).value);
  for (const auto& [message_bytes, segment_bytes, median_s] : options.tuned) {
    text += fmt::format(" {} {} {}", message_bytes, segment_bytes, median_s);
  }
  return hash_of(std::as_bytes(std::span(text)));
}

void drop_relays(std::vector<planner::PlanTree>& trees) {
  for (planner::PlanTree& tree : trees) tree.via.clear();
}

}  // namespace

BoundPlan::BoundPlan(OwnedComm with_comm, Plan with_plan, CollectiveOptions with_options,
                     const std::function<void()>& check)
    : comm(std::move(with_comm)),
      plan(std::move(with_plan)),
      options(std::move(with_options)),
      rank(comm.rank()) {
  bind(check);
  hosts_of = hosts_of_ranks(comm.get());
  if (ranks_here() < comm.size()) costs.eager = kEagerOverTcp;
  if (options.schedule) slots.emplace(plan);
  // The schedule's slots have segments of the plan's size; a run's segments may be smaller.
  plan.schedule.reset();
  for (auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) drop_relays(*trees);
  for (planner::PlanBlock& block : plan.blocks) drop_relays(block.trees);
  plan.segment.value = std::min(plan.segment.value, kLargestSegment);
  pipeline.emplace(plan);
}

void BoundPlan::bind(const std::function<void()>& check) {
  const Timeout timeout = usable(options.timeout);
  const std::vector<std::string> hosts = options.mapping == RankMapping::kByHostName
                                             ? host_names(comm.get())
                                             : std::vector<std::string>{};
  std::uint64_t mine = 0;
  collective_try(
      comm.get(),
      [&] {
        planner::check_structure(plan);
        check();
        check_orders(plan, options);
        check_figures(plan, options, comm.largest_tag());
        rank_of_node = hosts.empty() ? ranks_by_order(comm.size(), plan.nodes.size())
                                     : ranks_by_host(hosts, plan.nodes);
        mine = fingerprint(plan, options);
      },
      false, timeout);
  if (!all_equal(comm.get(), {&mine, 1}, timeout)) {
    throw InputError("the ranks have different plans or options");
  }
  const auto here = std::ranges::find(rank_of_node, rank);
  node = plan.nodes[static_cast<std::size_t>(here - rank_of_node.begin())];
  if (!plan.source.empty()) root = rank_of_node[planner::source_index(plan)];
}

std::size_t BoundPlan::ranks_here() const {
  return ranks_on_host_of(rank, hosts_of);
}

// On a single host there are no links to keep busy, and each segment costs processor time.
bool BoundPlan::fits_segments() const {
  return options.segment_bytes == 0 && !options.rounds && !options.schedule && costs.eager;
}

std::uint64_t BoundPlan::segment_of(std::uint64_t message) const {
  if (const auto segment = segment_tuned_for(options.tuned, message, options.tuned_within)) {
    const planner::PlanTrees first = planner::blocks_of(plan).front();
    return *segment != 0 ? *segment : undivided_segment(message, first.trees->size());
  }
  if (fits_segments()) return pipeline->fitted_segment({message}, costs);
  return options.segment_bytes != 0 ? options.segment_bytes : plan.segment.value;
}

bool BoundPlan::are_always_eager() const {
  const auto is_eager = [this](std::uint64_t bytes) {
    return bytes != 0 && costs.eager && !costs.asks({bytes});
  };
  if (options.segment_bytes != 0) return is_eager(options.segment_bytes);
  return pipeline->are_always_eager(costs) &&
         std::ranges::all_of(options.tuned, is_eager, &TunedSegment::segment_bytes);
}

Seconds BoundPlan::predicted_time(std::uint64_t message, std::uint64_t segment) const {
  Seconds time = pipeline->time({message}, {segment}, costs.overhead);
  if (slots) time.value += slots->fill({segment}).value;
  return time;
}

Timeout BoundPlan::timeout_with_all(std::uint64_t message, std::uint64_t segment) const {
  if (!options.timeout) return Timeout();
  return Timeout(Seconds{options.timeout->value + 2 * predicted_time(message, segment).value});
}

}  // namespace espalier::runtime
