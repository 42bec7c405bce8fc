// Slice sizes that were found best by running them (espalier-mpi tune), and their file.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"

namespace espalier::runtime {

struct TunedSlice {
  std::uint64_t message_bytes = 0;  // 1 and more
  std::uint64_t slice_bytes = 0;    // 1 to 1 GiB
  double median_s = 0;              // that the message took in such slices
  friend bool operator==(const TunedSlice&, const TunedSlice&) = default;
};

// The slice for a message: that of the tuned size next to it by ratio, the smaller of two; unset
// when none is within a factor of two. tuned: ascending by message.
std::optional<std::uint64_t> slice_tuned_for(std::span<const TunedSlice> tuned,
                                             std::uint64_t message_bytes);

// What was tuned, and where.
struct TunedSlices {
  std::string plan;  // identity_of(the plan)
  std::size_t ranks = 0;
  std::size_t hosts = 0;           // that the ranks were on
  std::vector<TunedSlice> slices;  // ascending by message
};

// Sixteen hexadecimal digits that another plan has others of.
std::string identity_of(const planner::Plan& plan);

// The file: docs/formats.md, "Tuned slices".
std::string tuned_json(const TunedSlices& tuned);
// Throws InputError with file, place and reason.
TunedSlices parse_tuned(std::string_view text, const std::string& file);

// The slices, where they are for this plan and as many ranks on as many hosts. Throws InputError
// that names the file for others.
std::vector<TunedSlice> slices_of(const TunedSlices& tuned, const planner::Plan& plan,
                                  std::size_t ranks, std::size_t hosts, const std::string& file);

// Puts each of `slices` in the place of the one for the same message, or between the others.
void merge(std::vector<TunedSlice>& into, std::span<const TunedSlice> slices);

// These are collective, and throw InputError on all ranks alike; MpiError.
// Reads the file on rank 0 alone.
TunedSlices share_tuned(MPI_Comm comm, const std::string& file);
// The file's slices, as slices_of() gives them for the plan and this communicator.
std::vector<TunedSlice> tuned_slices_from(MPI_Comm comm, const std::string& file,
                                          const planner::Plan& plan);
// On how many hosts the ranks are.
std::size_t count_hosts(MPI_Comm comm);

}  // namespace espalier::runtime
