// The preemptive open shop: jobs, each on one left and one right node, are scheduled in the least
// time so that no node works on two jobs at once (docs/methods.md, "The open shop"). Time O((jobs +
// nodes) * (pairs + nodes)), much less in practice; memory O(jobs + nodes + pieces).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/deadline.hpp"

namespace espalier::lp {

struct OpenShopJob {
  std::uint32_t left;
  std::uint32_t right;
  double seconds;  // finite, >= 0
};

// `job` runs from `start` for `seconds`.
struct OpenShopPiece {
  std::uint32_t job;
  double start;
  double seconds;  // > 0
};

struct OpenShopSchedule {
  // The largest sum of seconds at a node, each job rounded up to a tick.
  double length = 0;
  // Ascending by start, then by job. A job that is not interrupted is one piece. The pieces of a
  // job sum to its seconds rounded up to a tick (relative to the length: by 2^-50 at most). start +
  // seconds is exact, and so are sums of seconds: pieces of one node may touch, never overlap.
  // There are at most jobs + left_count + right_count + 1 distinct start and end times.
  std::vector<OpenShopPiece> pieces;
};

// Left nodes are 0 ... left_count - 1, right ones 0 ... right_count - 1. Throws
// std::invalid_argument for a node out of range or seconds that are negative or not finite,
// LimitReached when the deadline passes. Deterministic.
OpenShopSchedule schedule_open_shop(std::span<const OpenShopJob> jobs, std::uint32_t left_count,
                                    std::uint32_t right_count,
                                    const Deadline& deadline = Deadline());

}  // namespace espalier::lp
