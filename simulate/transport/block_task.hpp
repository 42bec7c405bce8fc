// One message on the blocks of a plan: the input of a run of engines
// (simulate/transport/engine_run.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_grid.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"
#include "simulate/transport/task.hpp"
#include "support/pinned.hpp"

namespace espalier::simulate {

// The message of each block: its part of a message of so many bytes as the plan counts them, in
// segments of at most `segment`. Where all parts are shorter, one segment is as long as the longest
// of them: how long it takes would be lost next to the time of a segment that is far longer.
std::vector<planner::SegmentGrid> grids_of(const planner::Plan& plan, Bytes message, Bytes segment);

// The sends of such a message: the segments of each tree times its edges. blocks: those of the
// plan.
double sends_of(std::span<const planner::PlanTrees> blocks,
                std::span<const planner::SegmentGrid> grids, const Assignments& assignments);

class BlockTask : public Pinned {  // task() refers to it
 public:
  struct Network {
    const platforms::Platform& platform;
    platforms::Model model;
    bool latency_occupies;
  };
  // Keeps references to `plan` and `flows`, which are the plan's, as the assignments are. message:
  // at least 1 byte in some block. compute: bytes per second; unset: combining takes no time.
  BlockTask(const planner::Plan& plan, const Flows& flows, Assignments assignments,
            const Network& network, Bytes message, Bytes segment,
            std::optional<BytesPerSecond> compute);

  [[nodiscard]] const std::vector<planner::SegmentGrid>& grids() const { return grids_; }
  [[nodiscard]] const Assignments& assignments() const { return assignments_; }
  [[nodiscard]] const Task& task() const { return task_; }

 private:
  [[nodiscard]] Task assigned(const planner::Plan& plan, const Flows& flows);

  std::vector<planner::SegmentGrid> grids_;
  Assignments assignments_;
  Task task_;  // refers to the next two
  Holdings full_;
  Holdings last_;
};

}  // namespace espalier::simulate
