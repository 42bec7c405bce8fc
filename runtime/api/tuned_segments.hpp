// The best segment sizes found by measurement (espalier-mpi tune), and their file format.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::runtime {

struct TunedSegment {
  std::uint64_t message_bytes = 0;  // at least 1
  // 1 to 1 GiB. 0, which does not occur in files: one segment per tree, of at most 1 GiB.
  std::uint64_t segment_bytes = 0;
  double median_s = 0;  // time of the message in such segments
  friend bool operator==(const TunedSegment&, const TunedSegment&) = default;
};

// The largest ratio between a message's size and the tuned size that is used for it.
inline constexpr double kTunedWithin = 2;

// The segment size for a message: that of the nearest tuned size by ratio, the smaller of two
// equally near ones. Unset when none is within a factor of `within`, and for an empty message.
// tuned: ascending by message.
std::optional<std::uint64_t> segment_tuned_for(std::span<const TunedSegment> tuned,
                                               std::uint64_t message_bytes,
                                               double within = kTunedWithin);

// The segment size that gives each of `trees` trees (at least one) a single segment, 1 GiB at most:
// the meaning of a TunedSegment::segment_bytes of 0.
std::uint64_t undivided_segment(std::uint64_t message_bytes, std::size_t trees);

// Tuned segment sizes, and the plan, ranks and hosts they were measured with.
struct TunedSegments {
  std::string plan;  // identity_of(the plan)
  std::size_t ranks = 0;
  std::size_t hosts = 0;               // number of hosts that the ranks were on
  std::vector<TunedSegment> segments;  // ascending by message
};

// Sixteen hexadecimal digits that identify the plan.
std::string identity_of(const planner::Plan& plan);
// Collective: that of rank 0's plan, which has the names of relays (share_plan).
std::string identity_of(MPI_Comm comm, const planner::Plan& plan);

// The file format: docs/formats.md, "Tuned segments".
std::string tuned_json(const TunedSegments& tuned);
// Throws InputError (file, JSON pointer, reason).
TunedSegments parse_tuned(std::string_view text, const std::string& file);

// The segments, if they were tuned for the plan with this identity, this number of ranks and of
// hosts. Otherwise throws InputError that names the file.
std::vector<TunedSegment> segments_of(const TunedSegments& tuned, const std::string& identity,
                                      std::size_t ranks, std::size_t hosts,
                                      const std::string& file);

// Inserts `segments` in order; each replaces an entry for the same message size.
void merge(std::vector<TunedSegment>& into, std::span<const TunedSegment> segments);

// The following are collective, and throw InputError on all ranks; MpiError.
//
// Reads the file on rank 0 only.
TunedSegments share_tuned(MPI_Comm comm, const std::string& file);
// The file's segments, checked by segments_of() for the plan and this communicator.
std::vector<TunedSegment> tuned_segments_from(MPI_Comm comm, const std::string& file,
                                              const planner::Plan& plan);

}  // namespace espalier::runtime
