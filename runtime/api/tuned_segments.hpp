// Segment sizes that were found best by running them (espalier-mpi tune), and their file.
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
  std::uint64_t message_bytes = 0;  // 1 and more
  // 1 to 1 GiB; 0, which no file has: as few as there are trees, of 1 GiB at most.
  std::uint64_t segment_bytes = 0;
  double median_s = 0;  // that the message took in such segments
  friend bool operator==(const TunedSegment&, const TunedSegment&) = default;
};

// How far a message may be, by ratio, from the sizes that were tuned.
inline constexpr double kTunedWithin = 2;
inline constexpr const char* kNoTunedWithin = "sizes are within a factor of 1 or more";

// The segment for a message: that of the tuned size next to it by ratio, the smaller of two; unset
// when none is within a factor of `within`, and for an empty message. tuned: ascending by message.
std::optional<std::uint64_t> segment_tuned_for(std::span<const TunedSegment> tuned,
                                               std::uint64_t message_bytes,
                                               double within = kTunedWithin);

// As few segments as `trees` trees, at least one of them, can share a message: what
// TunedSegment::segment_bytes 0 means.
std::uint64_t undivided_segment(std::uint64_t message_bytes, std::size_t trees);

// What was tuned, and where.
struct TunedSegments {
  std::string plan;  // identity_of(the plan)
  std::size_t ranks = 0;
  std::size_t hosts = 0;               // that the ranks were on
  std::vector<TunedSegment> segments;  // ascending by message
};

// Sixteen hexadecimal digits that another plan has others of.
std::string identity_of(const planner::Plan& plan);

// The file: docs/formats.md, "Tuned segments".
std::string tuned_json(const TunedSegments& tuned);
// Throws InputError with file, place and reason.
TunedSegments parse_tuned(std::string_view text, const std::string& file);

// The segments, where they are for this plan and as many ranks on as many hosts. Throws InputError
// that names the file for others.
std::vector<TunedSegment> segments_of(const TunedSegments& tuned, const planner::Plan& plan,
                                      std::size_t ranks, std::size_t hosts,
                                      const std::string& file);
// The same, of the plan with this identity.
std::vector<TunedSegment> segments_of(const TunedSegments& tuned, const std::string& identity,
                                      std::size_t ranks, std::size_t hosts,
                                      const std::string& file);

// Puts each of `segments` in the place of the one for the same message, or between the others.
void merge(std::vector<TunedSegment>& into, std::span<const TunedSegment> segments);

// These are collective, and throw InputError on all ranks alike; MpiError.
// Reads the file on rank 0 alone.
TunedSegments share_tuned(MPI_Comm comm, const std::string& file);
// The file's segments, as segments_of() gives them for the plan and this communicator.
std::vector<TunedSegment> tuned_segments_from(MPI_Comm comm, const std::string& file,
                                              const planner::Plan& plan);

}  // namespace espalier::runtime
