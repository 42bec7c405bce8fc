// How many sends of a tree a host has outstanding to a child on a high-latency edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The most segments that latencies add to a window: with thousands of outstanding requests, MPI
// would search all of them whenever one completes.
inline constexpr std::uint64_t kMostInFlight = 256;

// Hosts that one host can send to, and receive from, at the same time: where TCP's connections into
// one host are more, and all begin at once, queues in the network overflow
// (docs/decisions/0026-few-neighbours.md).
inline constexpr std::size_t kFewNeighbours = 8;

// The bandwidth-delay product of one of a tree's edges: bytes in flight when the tree runs at its
// rate. Precondition: edge < edges.size().
double bytes_in_flight(const PlanTree& tree, std::size_t edge);

// The largest of them over these trees, or over all trees of the plan.
double most_bytes_in_flight(std::span<const PlanTree> trees);
double most_bytes_in_flight(const Plan& plan);

// Additional outstanding sends where at least a quarter of a segment is in flight. Transfers that
// share a port share it in inverse proportion to their round-trip times, under TCP as in SimGrid,
// so a single high-latency transfer beside a low-latency one gets next to nothing. With this many,
// the edge keeps its tree's rate (docs/decisions/0012-long-links.md).
inline constexpr std::uint64_t kHighLatencySends = 16;

// Whether segments are paced along the edges of some trees, where `most_in_flight` is the most
// bytes in flight along any of these edges: from a sixteenth of a segment on, because bursts leave
// the link idle until they are acknowledged, and delay what shares it.
bool keeps_pace(double most_in_flight, Bytes segment);

// The least time between two paced segments: most of a segment's time at its tree's rate. Less than
// all of it, so that delays can be made up for; enough to separate segments that were sent together
// within some windows.
Seconds pace(BytesPerSecond rate, Bytes segment);

// When in its first pace tree `number` of those that send at the same pace begins, as a part of the
// pace, so that however many there are, their segments are spread evenly over it: multiples of the
// golden ratio are (Knuth, "The art of computer programming", volume 3, section 6.4, theorem S).
double stagger(std::size_t number);

// The number of segments, rounded up, that `in_flight` bytes along an edge make: for a round trip
// when the sender asks the receiver first (`asks`), for one direction when a send ends once it has
// been received. 0 below a sixteenth of a segment. segment: at least 1 byte.
std::uint64_t segments_in_flight(double in_flight, Bytes segment, bool asks);

// Outstanding sends that let a tree reach its rate along such an edge: `base`, plus the segments in
// flight, plus kHighLatencySends where at least a quarter of a segment is in flight.
std::uint64_t send_window(std::uint64_t base, double in_flight, Bytes segment, bool asks);

// An allreduce's reduce trees have at least this many bytes outstanding along each edge between
// hosts: the receivers' answers queue behind the broadcast's data in the opposite direction
// (docs/runtime.md, "Reductions").
inline constexpr Bytes kAllreduceInFlight{std::uint64_t{96} << 10};

// The larger of `base` and the segments that hold `bytes`, of which at most kMostInFlight count.
// segment: at least 1 byte.
std::uint64_t window_holding(Bytes bytes, Bytes segment, std::uint64_t base);

}  // namespace espalier::planner
