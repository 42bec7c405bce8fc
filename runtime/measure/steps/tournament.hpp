// Rounds of disjoint pairs in which all ranks are paired with one another once: the circle method
// (Kirkman, "On a problem in combinations", 1847; Lucas, "Recreations mathematiques", 1883).
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

// n - 1 rounds of n / 2 pairs for an even number of ranks, n rounds of (n - 1) / 2 pairs for an odd
// one, in each of which one rank pauses. Every unordered pair is in one round. The lower rank is
// `from` if the sum of the two is even, so that adjacent ranks paired with adjacent ranks send in
// the same direction and reveal shared links. No rounds for fewer than two ranks.
std::vector<std::vector<Flow>> tournament(std::size_t ranks);

// Rounds of the same pairs in the reverse direction, combined differently: the rank with the fixed
// place in the first tournament, which is paired with others than its neighbours are, rotates with
// them in this one.
std::vector<std::vector<Flow>> second_leg(const std::vector<std::vector<Flow>>& rounds,
                                          std::size_t ranks);

// The rounds of both: every ordered pair is in one.
std::vector<std::vector<Flow>> ordered_pairs(std::size_t ranks);

// Each rank sends to the next one, and the last to the first.
std::vector<Flow> circle_of(const std::vector<std::size_t>& ranks);

// The same pairs in the reverse direction.
std::vector<Flow> reversed(std::vector<Flow> flows);

}  // namespace espalier::runtime::probe
