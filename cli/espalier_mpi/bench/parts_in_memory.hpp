// What the candidates of operations with parts have in common: where parts are in a rank's memory,
// and what they hold.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/espalier_mpi/run/pattern.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

using Fault = std::optional<std::string>;

// A message of so many units, by the shares of a plan, rounded.
struct SharedParts {
  SharedParts(std::uint64_t units, std::span<const double> shares)
      : counts(runtime::divided(units, shares)), first(runtime::one_after_another(counts)) {}
  template <class Byte>
  [[nodiscard]] std::span<Byte> part_of(std::span<Byte> memory, std::size_t rank) const {
    return memory.subspan(first[rank], counts[rank]);
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> first;
};

inline std::vector<int> as_int(std::span<const std::size_t> values) {
  return {values.begin(), values.end()};
}

// Throws InputError.
inline void require_int(planner::Operation operation, std::uint64_t bytes) {
  if (bytes <= INT_MAX) return;
  throw InputError(
      fmt::format("{} cannot count more than 2 GiB in bytes; give a shorter message or leave out "
                  "the comparison",
                  runtime::library_function(operation)));
}

// This rank among all.
struct Rank {
  explicit Rank(MPI_Comm comm)
      : here(static_cast<std::size_t>(runtime::rank_in(comm))),
        count(static_cast<std::size_t>(runtime::size_of(comm))) {}
  [[nodiscard]] int index() const { return static_cast<int>(here); }
  std::size_t here;
  std::size_t count;
};

// Parts differ although they are of the same round.
inline std::uint64_t pattern_of(std::uint64_t round, std::size_t parts, std::size_t part) {
  return round * parts + part;
}

inline Fault fault_in(std::span<const std::byte> part, std::uint64_t pattern,
                      const std::string& name) {
  const Fault fault = find_fault(part, pattern);
  if (!fault) return std::nullopt;
  return fmt::format("{}: {}", name, *fault);
}

}  // namespace espalier::cli
