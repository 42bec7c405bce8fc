// Rounds of disjoint pairs in which everybody meets everybody once: the circle method (Kirkman,
// "On a problem in combinations", 1847; Lucas, "Recreations mathematiques", 1883).
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

// n - 1 rounds of n / 2 pairs for an even number of ranks, n rounds of (n - 1) / 2 for an odd one,
// in each of which one rank rests. Every unordered pair is in one round; the lower rank is `from`
// where their sum is even, so that neighbours who meet neighbours go the same way and show what
// they share. No rounds for fewer than two ranks.
std::vector<std::vector<Flow>> tournament(std::size_t ranks);

// Rounds of the same pairs, the other way round, in other company: who keeps its place in the one
// tournament, and so meets others than its neighbours meet, walks with them in the other.
std::vector<std::vector<Flow>> second_leg(const std::vector<std::vector<Flow>>& rounds,
                                          std::size_t ranks);

// The same pairs, the other way round.
std::vector<Flow> reversed(std::vector<Flow> flows);

}  // namespace espalier::runtime::probe
