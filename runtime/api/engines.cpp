#include "runtime/api/engines.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"
#include "runtime/memory/direct_copies.hpp"

namespace espalier::runtime {
namespace {

engine::Options engine_options(const BoundPlan& bound, std::span<const planner::PlanTree> trees) {
  engine::Options options;
  options.sends_in_flight = bound.options.sends_in_flight;
  options.receives_in_flight = bound.options.receives_in_flight;
  options.costs = bound.costs;
  options.most_in_flight = planner::most_bytes_in_flight(trees);
  options.ports = bound.options.ports;
  return options;
}

MpiTransportOptions transport_options(const BoundPlan& bound) {
  MpiTransportOptions options;
  options.root = bound.root;
  options.timeout = bound.options.timeout;
  options.check_name = bound.reduces() ? std::string(kComparingCalls)
                                       : "comparing the message's size among the ranks";
  return options;
}

// A message's last segment may be longer on another rank, and all of them if their size depends on
// the message's. Open MPI (4.1: its "get" protocols) writes all of a longer segment before it
// reports the truncation; eager messages it copies only up to the receive's length.
engine::Risk risk_of(const BoundPlan& bound, const engine::Edge& edge, bool combines) {
  if (edge.uses_ring) return engine::Risk::kNone;  // lengths are compared before copying
  // Within a host MPI may copy directly from process to process.
  const bool is_eager = bound.are_always_eager() && !edge.is_local;
  if (combines) return is_eager ? engine::Risk::kNone : engine::Risk::kAll;
  return bound.segments_vary() && !is_eager ? engine::Risk::kAll : engine::Risk::kShortSegments;
}

void set_risks(const BoundPlan& bound, std::vector<engine::TreeRole>& roles) {
  for (engine::TreeRole& role : roles) {
    for (engine::Edge& edge : role.in) edge.risk = risk_of(bound, edge, role.combines);
  }
}

// In rounds every tree has its turn until the end of the message.
planner::SegmentAssignment assignment_of(const BoundPlan& bound) {
  if (bound.slots) return bound.slots->assignment();
  return bound.options.rounds ? planner::assignment_for(bound.plan.broadcast_trees)
                              : planner::assignment_down(bound.plan);
}

}  // namespace

std::unique_ptr<MpiEngine> broadcast_engine(const BoundPlan& bound,
                                            std::shared_ptr<HostRings> rings,
                                            std::span<const std::vector<int>> readers_of) {
  const std::vector<planner::PlanTree>& trees = bound.plan.broadcast_trees;
  const std::vector<int>& ranks = bound.rank_of_node;
  std::vector<engine::TreeRole> roles = engine::roles_of(trees, ranks, bound.rank, bound.hosts_of);
  if (rings) use_rings(roles, trees, ranks, bound.hosts_of, bound.rank, readers_of);
  set_risks(bound, roles);
  engine::Options options = engine_options(bound, trees);
  options.on_progress = bound.options.on_progress;
  if (bound.options.rounds) options.rounds = engine::rounds_of(bound.plan, ranks, bound.rank);
  if (bound.slots) options.timetable = bound.slots->of_rank(ranks, bound.rank, roles);
  options.synchronous = bound.slots.has_value();
  MpiTransportOptions transport = transport_options(bound);
  // The source leaves the processors to ranks that have data to copy.
  transport.may_doze =
      bound.rank == bound.root &&
      bound.ranks_here() > static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  transport.rings = std::move(rings);
  transport.transfers = bound.options.transfers;
  return std::make_unique<MpiEngine>(bound.comm.get(), roles, assignment_of(bound),
                                     std::move(options), std::move(transport));
}

std::vector<engine::TreeRole> reduce_roles(const BoundPlan& bound) {
  std::vector<engine::TreeRole> roles =
      engine::roles_of(bound.plan.reduce_trees, bound.rank_of_node, bound.rank, bound.hosts_of,
                       engine::Direction::kUp);
  set_risks(bound, roles);
  return roles;
}

std::unique_ptr<MpiEngine> reduce_engine(const BoundPlan& bound,
                                         const std::vector<engine::TreeRole>& roles) {
  engine::Options options = engine_options(bound, bound.plan.reduce_trees);
  options.synchronous = true;
  MpiTransportOptions transport = transport_options(bound);
  if (bound.is_allreduce()) {
    if (bound.costs.eager) options.least_in_flight = planner::kAllreduceInFlight;
    // After the broadcast's.
    transport.first_tag = static_cast<int>(bound.plan.broadcast_trees.size()) + 1;
  } else {
    options.on_progress = bound.options.on_progress;
  }
  return std::make_unique<MpiEngine>(bound.comm.get(), roles, planner::assignment_up(bound.plan),
                                     std::move(options), std::move(transport));
}

std::unique_ptr<MpiEngine> second_half_engine(const BoundPlan& bound) {
  engine::Options options = engine_options(bound, bound.plan.broadcast_trees);
  options.on_progress = bound.options.on_progress;
  return std::make_unique<MpiEngine>(
      bound.comm.get(),
      engine::roles_of(bound.plan.broadcast_trees, bound.rank_of_node, bound.rank),
      planner::assignment_down(bound.plan), std::move(options), transport_options(bound));
}

}  // namespace espalier::runtime
