// How many sends of a tree a host has outstanding to a child, where what is sent is long on its
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// What comes on top of a window because of latencies is no more than this: who has thousands of
// requests in progress looks through them all whenever one is done.
inline constexpr std::uint64_t kMostInFlight = 256;

// Bytes of a tree that are in flight along one of its edges at one time, between leaving one
// host and reaching the next, when the tree runs at its rate. Precondition: edge < edges.size().
double bytes_in_flight(const PlanTree& tree, std::size_t edge);

// The largest of them over these trees; over all of the plan's.
double most_bytes_in_flight(std::span<const PlanTree> trees);
double most_bytes_in_flight(const Plan& plan);

// Where at least a quarter of a segment is in flight, so many more sends are outstanding. Transfers
// that share a port share it by their round-trip times, under TCP as in SimGrid, so that one far
// transfer beside a near one gets next to nothing; as many as this keep their tree's rate
// (docs/decisions/0012-long-links.md).
inline constexpr std::uint64_t kFarSends = 16;

// Whether segments keep a pace along the edges of some trees, where along one of them at most so
// many bytes are in flight: from a sixteenth of a segment on. Sends that begin together share the
// link, arrive together and are answered for together, with nothing on the link meanwhile; and
// whatever goes in bursts keeps waiting what it shares ports and links with, for sends share them
// evenly or by their round-trip times, not by their trees' rates.
bool keeps_pace(double most_in_flight, Bytes segment);

// How long after the last one a segment is sent then, at the soonest: most of the time that a
// segment has at its tree's rate. Less than all of it, so that what was late can be made up for;
// enough to part segments that were sent together within some windows.
Seconds pace(BytesPerSecond rate, Bytes segment);

// Segments, the last a part of one, that are in flight along an edge with `in_flight` bytes:
// there and back when a sender asks the receiver first (`asks`), one way when a send is over once
// it has been received. 0 where it is less than a sixteenth of one. segment: at least 1 byte.
std::uint64_t segments_in_flight(double in_flight, Bytes segment, bool asks);

// Sends outstanding so that a tree reaches its rate along such an edge: `base` where none is on its
// way, else also those that are; and kFarSends.
std::uint64_t send_window(std::uint64_t base, double in_flight, Bytes segment, bool asks);

// Of an allreduce's reduce trees at least so many bytes are in progress along each edge between
// hosts: the receivers' answers queue behind what the broadcast sends the other way
// (docs/runtime.md, "Reductions").
inline constexpr Bytes kAllreduceInFlight{std::uint64_t{96} << 10};

// `base`, or as many segments as hold `bytes` where these are more; for these kMostInFlight at
// most. segment: at least 1 byte.
std::uint64_t window_holding(Bytes bytes, Bytes segment, std::uint64_t base);

}  // namespace espalier::planner
