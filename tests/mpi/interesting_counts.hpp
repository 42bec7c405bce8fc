// Sizes of the ranks' parts of a message.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/mpi/plans.hpp"

namespace espalier::testing {

using Counts = std::vector<std::size_t>;

// Counts around the segment's limits, equal and unequal, with empty parts.
inline std::vector<Counts> interesting_counts(std::size_t per_segment) {
  const std::size_t ranks = size_of(MPI_COMM_WORLD);
  std::vector<Counts> all;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, per_segment - 1, per_segment,
                                  per_segment + 1, 5 * per_segment + 3}) {
    all.emplace_back(ranks, count);
  }
  Counts unlike(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) unlike[rank] = rank * rank * 37 % 400;
  all.push_back(unlike);
  Counts one_has_all(ranks, 0);
  one_has_all.back() = 1000;
  all.push_back(one_has_all);
  return all;
}

}  // namespace espalier::testing
