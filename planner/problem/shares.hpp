// Which part of a message is whose.
#pragma once

#include <cstddef>
#include <vector>

namespace espalier::planner {

// Scales shares, given in any unit, to that sum. Empty: all are equal. Throws InputError for
// another number of them than `count`, one that is negative or not finite, and none above 0.
std::vector<double> normalised_shares(std::vector<double> shares, std::size_t count, double sum);

}  // namespace espalier::planner
