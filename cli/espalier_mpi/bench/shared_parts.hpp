// How the test messages of operations with parts are divided among the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/api/collective.hpp"
#include "runtime/api/parts.hpp"

namespace espalier::cli {

// A message of so many units, by the shares of a plan, rounded.
struct SharedParts {
  SharedParts(std::uint64_t units, std::span<const double> shares)
      : counts(runtime::divided(units, shares)), first(runtime::one_after_another(counts)) {}
  template <class Byte>
  [[nodiscard]] std::span<Byte> part_of(std::span<Byte> memory, int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return memory.subspan(first[at], counts[at]);
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> first;
};

// The parts of so many ranks: as in the first plan, or equal ones if there is none.
inline std::vector<double> shares_of(const std::vector<runtime::Collective>& bound, int ranks) {
  if (!bound.empty()) return bound.front().shares();
  return std::vector<double>(static_cast<std::size_t>(ranks), 1.0 / ranks);
}

}  // namespace espalier::cli
