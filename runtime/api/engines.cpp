#include "runtime/api/engines.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/plan_blocks.hpp"
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

// In rounds every tree has its turn until the end of the message.
std::vector<planner::SegmentAssignment> assignments_of(const BoundPlan& bound) {
  if (bound.slots) return bound.slots->assignments();
  if (!bound.options.rounds) return planner::assignments_of(bound.plan);
  std::vector<planner::SegmentAssignment> assignments;
  for (const planner::PlanTrees& block : planner::blocks_of(bound.plan)) {
    assignments.push_back(planner::assignment_for(*block.trees));
  }
  return assignments;
}

engine::Place place_of(const BoundPlan& bound) {
  return {bound.rank_of_node, bound.rank, bound.hosts_of};
}

// Adds what only MPI has to a block. rings: null: none.
engine::Block with_mpi(const BoundPlan& bound, const planner::PlanTrees& of, engine::Block block,
                       const HostRings* rings) {
  // Segments that are combined go by MPI within a host, too, which is faster (docs/decisions/0014).
  if (rings != nullptr && !of.up) use_rings(block.trees, bound.rank, rings->plans);
  // After another block no receive is at risk: nothing is sent before the calls are known to match.
  if (!block.after) set_risks(bound, block.trees);
  block.synchronous = block.synchronous || bound.slots.has_value();
  if (of.up && bound.goes_both_ways() && bound.costs.eager) {
    block.least_in_flight = planner::kAllreduceInFlight;
  }
  if (bound.options.rounds) block.rounds = engine::rounds_of(of, place_of(bound));
  return block;
}

std::vector<engine::Block> routing_blocks_of(const BoundPlan& bound) {
  std::vector<engine::Block> blocks = engine::routing_blocks_of(bound.plan, place_of(bound));
  for (engine::Block& block : blocks) set_risks(bound, block.trees);
  return blocks;
}

std::vector<engine::Block> blocks_of(const BoundPlan& bound, const HostRings* rings) {
  if (planner::routes(bound.plan.operation)) return routing_blocks_of(bound);
  std::vector<engine::Block> blocks;
  std::vector<planner::SegmentAssignment> assignments = assignments_of(bound);
  const double most_in_flight = planner::most_bytes_in_flight(bound.plan);
  for (const planner::PlanTrees& of : planner::blocks_of(bound.plan)) {
    engine::Block block = engine::block_of(of, most_in_flight,
                                           std::move(assignments[blocks.size()]), place_of(bound));
    blocks.push_back(with_mpi(bound, of, std::move(block), rings));
  }
  return blocks;
}

MpiTransportOptions transport_options(const BoundPlan& bound, std::shared_ptr<HostRings> rings) {
  MpiTransportOptions options;
  options.root = bound.root;
  options.timeout = bound.options.timeout;
  const bool is_broadcast = bound.plan.operation == planner::Operation::kBroadcast;
  options.check_name =
      is_broadcast ? "comparing the message's size among the ranks" : std::string(kComparingCalls);
  // The source leaves the processors to ranks that have data to copy.
  options.may_doze = is_broadcast && bound.rank == bound.root &&
                     bound.ranks_here() > static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  options.rings = std::move(rings);
  options.transfers = bound.options.transfers;
  return options;
}

}  // namespace

std::vector<RingPlan> rings_of(const BoundPlan& bound) {
  return rings_for_copies(bound.plan.broadcast_trees, bound.rank_of_node, bound.hosts_of);
}

std::unique_ptr<MpiEngine> engine_of(const BoundPlan& bound, std::shared_ptr<HostRings> rings) {
  engine::Options options;
  options.sends_in_flight = bound.options.sends_in_flight;
  options.receives_in_flight = bound.options.receives_in_flight;
  options.costs = bound.costs;
  options.ports = bound.options.ports;
  options.on_progress = bound.options.on_progress;
  std::vector<engine::Block> blocks = blocks_of(bound, rings.get());
  if (bound.slots) {
    options.timetable =
        bound.slots->of_rank(bound.rank_of_node, bound.rank, engine::trees_of(blocks));
  }
  return std::make_unique<MpiEngine>(bound.comm.get(), std::move(blocks), std::move(options),
                                     transport_options(bound, std::move(rings)));
}

}  // namespace espalier::runtime
