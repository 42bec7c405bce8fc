// The preemptive open shop: jobs, each on one left and one right node, are scheduled in the least
// time so that no node works on two jobs at once. Equivalently, a bipartite multigraph with
// weighted edges is split into weighted matchings: a weighted edge colouring.
//
// The least time is the largest weighted degree D, the work of the busiest node, and it is always
// reached: Gonzalez, Sahni, "Open shop scheduling to minimize finish time", J. ACM 23 (1976),
// doi:10.1145/321978.321985; Schrijver, "Combinatorial Optimization", vol. A, ch. 20. As long as
// work remains, some matching covers every critical node (one whose remaining work equals the
// remaining time). It runs until one of its jobs is done or a node outside it becomes critical.
// Each of these happens once for each job or node, so there are at most jobs + nodes matchings.
//
// Notation of the code: a pair is a left and a right node with a job between them; jobs of one pair
// are parallel edges and run one after another. Times are whole ticks, a power of two, about 2^-50
// of D: sums are exact, no step vanishes, and the results are exact in doubles as well. The
// matching is repaired from step to step: a critical node that lost its partner looks for the
// shortest alternating path (breadth first), so that few running jobs are interrupted. Time O((jobs
// + nodes) * (pairs + nodes)), much less in practice; memory O(jobs + nodes + pieces).
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
