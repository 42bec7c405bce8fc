// A plan bound to a communicator: checked, equal on all ranks, with a rank for each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/timetable.hpp"
#include "planner/plan/plan.hpp"
#include "planner/plan/segment_choice.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class BoundPlan {
 public:
  // Collective over `with_comm`. check: further checks of the plan; throws InputError. An error
  // that one rank finds is thrown on all: InputError for a plan with a structural fault or more
  // trees than there are tags, for invalid options, for ranks that do not match the plan's nodes,
  // and where plans or options differ; MpiError; TimedOut.
  BoundPlan(OwnedComm with_comm, planner::Plan with_plan, CollectiveOptions with_options,
            const std::function<void()>& check);

  OwnedComm comm;
  planner::Plan plan;  // without its schedule and relays; segments of at most kLargestSegment
  CollectiveOptions options;
  std::optional<engine::Slots> slots;  // with options.schedule
  std::vector<int> rank_of_node;       // for each of plan.nodes, in order
  std::vector<int> hosts_of;           // each rank's host
  int rank = 0;                        // this one
  int root = 0;                        // the rank of the plan's source; 0 where there is none
  std::string node;                    // name of this rank's node
  planner::SegmentCosts costs;         // of the network between the ranks
  std::optional<planner::Pipeline> pipeline;  // of the plan's trees; whoever changes these sets it

  // An invalid timeout is refused later, when the refusal can reach all ranks.
  [[nodiscard]] static Timeout usable(std::optional<Seconds> timeout) {
    return Timeout(timeout && timeout->value > 0 ? timeout : std::nullopt);
  }

  [[nodiscard]] bool reduces() const { return planner::reduces(plan.operation); }
  [[nodiscard]] bool goes_both_ways() const { return planner::goes_both_ways(plan.operation); }
  [[nodiscard]] bool has_result() const { return goes_both_ways() || rank == root; }
  // Whether the message has a part for each rank.
  [[nodiscard]] bool has_parts() const { return planner::has_parts(plan.operation); }
  [[nodiscard]] std::size_t ranks_here() const;

  [[nodiscard]] std::uint64_t segment_of(std::uint64_t message) const;
  // Whether the segment size depends on the message's.
  [[nodiscard]] bool segments_vary() const { return fits_segments() || !options.tuned.empty(); }
  // Whether the segments of every message are within the eager size.
  [[nodiscard]] bool are_always_eager() const;
  [[nodiscard]] Seconds predicted_time(std::uint64_t message, std::uint64_t segment) const;
  // For waits in which all other ranks may still be busy with the message.
  [[nodiscard]] Timeout timeout_with_all(std::uint64_t message, std::uint64_t segment) const;

 private:
  void bind(const std::function<void()>& check);
  [[nodiscard]] bool fits_segments() const;
};

}  // namespace espalier::runtime
