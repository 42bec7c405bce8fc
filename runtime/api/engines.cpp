#include "runtime/api/engines.hpp"

#include <unistd.h>

#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"
#include "runtime/memory/direct_copies.hpp"

namespace espalier::runtime {
namespace {

// A message's last segment may be longer on another rank, and all of them if their size depends on
// the message's. Open MPI (4.1: its "get" protocols) writes all of a longer segment before it
// reports the truncation; eager messages it copies only up to the receive's length.
engine::Risk risk_of(const BoundPlan& bound, const engine::Edge& edge, bool combines) {
  if (edge.uses_ring()) return engine::Risk::kNone;  // lengths are compared before copying
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

planner::SegmentAssignment assignment_of(const BoundPlan& bound, bool combines) {
  if (bound.slots) return bound.slots->assignment();
  // In rounds every tree has its turn until the end of the message.
  if (bound.options.rounds) return planner::assignment_for(bound.trees(combines));
  return combines ? planner::assignment_up(bound.plan) : planner::assignment_down(bound.plan);
}

engine::Block block_of(const BoundPlan& bound, engine::Kind kind) {
  const bool combines = kind == engine::Kind::kCombine;
  const std::vector<planner::PlanTree>& trees = bound.trees(combines);
  engine::Block block{
      .is_root = bound.rank == bound.root,
      .trees = engine::roles_of(trees, bound.rank_of_node, bound.rank, bound.hosts_of, kind),
      .assignment = assignment_of(bound, combines)};
  block.most_in_flight = planner::most_bytes_in_flight(trees);
  if (bound.options.rounds) {
    block.rounds = engine::rounds_of(trees, planner::source_index(bound.plan), bound.rank_of_node,
                                     bound.rank, kind);
  }
  return block;
}

engine::Block combining_block(const BoundPlan& bound, std::span<const RingPlan> rings) {
  engine::Block block = block_of(bound, engine::Kind::kCombine);
  use_rings(block.trees, bound.rank, rings);
  set_risks(bound, block.trees);
  block.synchronous = true;
  if (bound.is_allreduce() && bound.costs.eager) {
    block.least_in_flight = planner::kAllreduceInFlight;
  }
  return block;
}

// In an allreduce no receive is at risk: nothing is sent before the calls are known to match.
engine::Block spreading_block(const BoundPlan& bound, std::span<const RingPlan> rings,
                              std::size_t first_ring) {
  engine::Block block = block_of(bound, engine::Kind::kSpread);
  use_rings(block.trees, bound.rank, rings, first_ring);
  if (bound.is_allreduce()) {
    block.after = 0;
  } else {
    set_risks(bound, block.trees);
  }
  block.synchronous = bound.slots.has_value();
  return block;
}

MpiTransportOptions transport_options(const BoundPlan& bound, std::shared_ptr<HostRings> rings) {
  MpiTransportOptions options;
  options.root = bound.root;
  options.timeout = bound.options.timeout;
  options.check_name = bound.reduces() ? std::string(kComparingCalls)
                                       : "comparing the message's size among the ranks";
  // The source leaves the processors to ranks that have data to copy.
  options.may_doze = !bound.reduces() && bound.rank == bound.root &&
                     bound.ranks_here() > static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  options.rings = std::move(rings);
  options.transfers = bound.options.transfers;
  return options;
}

}  // namespace

RingsOfPlan rings_of(const BoundPlan& bound) {
  const auto& [nodes, hosts] = std::tie(bound.rank_of_node, bound.hosts_of);
  return {rings_for_sums(bound.plan.reduce_trees, nodes, hosts),
          rings_for_copies(bound.plan.broadcast_trees, nodes, hosts)};
}

std::unique_ptr<MpiEngine> engine_of(const BoundPlan& bound, std::shared_ptr<HostRings> rings,
                                     const RingsOfPlan& planned) {
  engine::Options options;
  options.sends_in_flight = bound.options.sends_in_flight;
  options.receives_in_flight = bound.options.receives_in_flight;
  options.costs = bound.costs;
  options.ports = bound.options.ports;
  options.on_progress = bound.options.on_progress;
  std::vector<engine::Block> blocks;
  const RingsOfPlan of = rings ? planned : RingsOfPlan{};
  if (bound.reduces()) blocks.push_back(combining_block(bound, of.sums));
  if (planner::broadcasts(bound.plan.operation)) {
    blocks.push_back(spreading_block(bound, of.copies, of.sums.size()));
  }
  if (bound.slots) {
    options.timetable = bound.slots->of_rank(bound.rank_of_node, bound.rank, blocks.back().trees);
  }
  return std::make_unique<MpiEngine>(bound.comm.get(), std::move(blocks), std::move(options),
                                     transport_options(bound, std::move(rings)));
}

}  // namespace espalier::runtime
